"""Machine code and XLA read one description: every law gives the same events, ends and ledger on both."""

import jax
import numpy as np
import pytest
from tests.properties.catalogued import every_law
from tests.properties.test_laws import throws, world_of

import carom
from carom import native
from carom.result.result import Result

FINE, PLAIN = carom.Settings(rtol=1e-12, atol=1e-14), carom.Settings()


def on(back_end: str, monkeypatch: pytest.MonkeyPatch, world: carom.World, settings: carom.Settings) -> list[Result]:
    """Both throws of a law, by one back end."""
    monkeypatch.setenv(native.SWITCH, back_end)
    (height, angle), starts = throws(world)
    found = []
    for x, y, spin in starts:
        start = world.state(angles=[angle], rates=[spin], base=(0.2, height), base_velocity=(x, y))
        found.append(carom.simulate(world, start, until=0.03, settings=settings))
    assert all((run.made.back_end == native.HERE) == (back_end == "native") for run in found)
    return found


def told(run: Result) -> dict[str, np.ndarray]:
    """What a run says in numbers. Steps may differ by one, so works are those at the end."""
    impacts = [(i.t_start, i.t_end, i.normal_impulse, i.tangential_impulse, i.max_normal_force) for i in run.impacts]
    return {
        "times of events": np.array([e.t for e in run.events]),
        "q": run.q[-1],
        "v": run.v[-1],
        "impacts": np.nan_to_num(np.array(impacts, dtype=float).T, posinf=-1.0),  # a blow has no largest force
        "energies": np.array([run.energy.kinetic[-1], run.energy.potential[-1]]),
        **{f"work of {name}": np.atleast_1d(work[-1]) for name, work in run.energy.works.items()},
    }


def agree(ours: Result, theirs: Result, accuracy: float) -> None:
    assert ours.outcome == theirs.outcome
    assert [(e.exit, e.phase_after) for e in ours.events] == [(e.exit, e.phase_after) for e in theirs.events]
    assert len(ours.events) >= 1
    for (name, mine), other in zip(told(ours).items(), told(theirs).values(), strict=True):
        size = (
            ours.energy.in_play
            if name.startswith("work")
            else np.max(np.abs(mine), axis=-1, keepdims=True, initial=0.0)
        )
        assert np.all(np.abs(mine - other) <= accuracy * size), (name, mine, other)


@every_law
def test_every_law_gives_the_same_on_both(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """To 1e-9 at a relative tolerance of 1e-12, and to ten times the tolerance at the default."""
    world = world_of(name)
    for settings, accuracy in ((FINE, 1e-9), (PLAIN, 10 * PLAIN.rtol)):
        ours, theirs = (on(back_end, monkeypatch, world, settings) for back_end in ("native", "xla"))
        for mine, other in zip(ours, theirs, strict=True):
            agree(mine, other, accuracy)
    jax.clear_caches()  # XLA's programs of one law are of no use to the next
