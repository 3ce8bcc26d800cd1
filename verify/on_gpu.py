"""Lanes on a GPU beside single runs on a CPU: arms, chains, rigid contacts with friction, moving surfaces, loops,
controllers, elastic links, capture.

    .venv/bin/python -m verify.on_gpu --save ends.npz        # on a CPU: single runs
    python -m verify.on_gpu --compare ends.npz               # where JAX has a GPU: lanes, beside those

Every lane has weight and speeds of its own. Motions end before what rounding does has grown; tolerances are as tight as
the solver of each scenario allows.
"""

import argparse
import dataclasses
import time
from pathlib import Path

import carom  # before JAX compiles anything: it sets a compiler flag

# isort: split
import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from carom.scenario._build import beginning, settings_of, world_of

# Name of a shipped scenario, and until when [s]; what it has that others do not.
CASES = {
    "arm-repeated-impact": 2.0,  # Jackson-Green, a machine of modes
    "arm-controllers": 0.5,
    "ball-drop": 2.0,  # comes to rest
    "ball-on-slope": 1.0,  # rolls with friction
    "corner": 1.0,  # two rigid contacts with friction
    "elastic-chain-rigid": 0.6,  # four compliant contacts
    "elastic-chain-ss": 0.5,  # elastic links
    "flexible-strike": 0.6,
    "hammer": 1.0,
    "hopper": 1.0,  # phases of control, friction
    "juggler": 2.0,  # a surface that moves
    "gripper": 0.5,
    "slider-crank-clearance": 0.02,  # a loop
    "compass-walker": 1.0,
    "capture-head-on": 1.0,
}
LANES, SHARE = 64, 1e-3
TOLD = 21  # every so many lanes are simulated one by one


@dataclasses.dataclass(frozen=True)
class Lanes:
    """A scenario of which every lane has weight and speeds of its own."""

    name: str

    @property
    def scenario(self) -> carom.Scenario:
        return carom.Scenario.load(self.name)

    def __call__(self, p) -> carom.World:
        world = world_of(self.scenario)
        return eqx.tree_at(lambda w: w.gravity, world, world.gravity * (1.0 + p))

    def start(self, p) -> carom.State:
        first = beginning(self.scenario, self(0.0))
        return eqx.tree_at(lambda s: s.v, first, first.v * (1.0 + p))

    @property
    def settings(self) -> carom.Settings:
        return dataclasses.replace(settings_of(self.scenario), rtol=1e-11, atol=1e-13)


def shares() -> np.ndarray:
    return np.linspace(0.0, SHARE, LANES)


def alone(case: Lanes, until: float) -> dict[str, np.ndarray]:
    """Ends of single runs, and how many events the lanes of a CPU have."""
    rows = []
    for p in shares()[::TOLD]:
        run = carom.simulate(case(p), case.start(p), until=until, settings=case.settings)
        rows.append((run.final.y.q, run.final.y.v))
    q, v = zip(*rows, strict=True)
    return {"q": np.array(q), "v": np.array(v), "events": np.asarray(together(case, until).events)[::TOLD]}


def together(case: Lanes, until: float, **options) -> carom.study.Batch:
    """All lanes."""
    starts = [case.start(p) for p in shares()]
    rows = jax.tree.map(lambda *x: np.stack([np.asarray(each) for each in x]), *starts)
    return carom.batch(case, jnp.asarray(shares()), rows, until=until, settings=case.settings, throw=False, **options)


def differences(ends: carom.study.Batch, known: dict[str, np.ndarray]) -> list[float]:
    """Of coordinates and velocities, relative to the largest one."""
    off = []
    for name in ("q", "v"):
        mine = np.asarray(getattr(ends, name))[::TOLD]
        off.append(float(np.max(np.abs(mine - known[name])) / max(np.max(np.abs(known[name])), 1e-300)))
    return off


def compare(case: Lanes, until: float, known: dict[str, np.ndarray], options: dict) -> str:
    """Lanes beside single runs, in a line."""
    begin = time.perf_counter()
    ends = together(case, until, **options)
    took, off = time.perf_counter() - begin, differences(ends, known)
    same = np.array_equal(np.asarray(ends.events)[::TOLD], known["events"])
    words = "" if same else f", events {np.asarray(ends.events)[::TOLD].tolist()} for {known['events'].tolist()}"
    return f"{case.name:24} {ends.made.back_end:16} q {off[0]:.1e}  v {off[1]:.1e}  ({took:.1f} s){words}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--save", type=Path)
    parser.add_argument("--compare", type=Path)
    parser.add_argument("--only", nargs="*", default=list(CASES))
    parser.add_argument("--lockstep", action="store_true", help="not in one kernel")
    asked = parser.parse_args()
    if asked.save:
        found = {f"{n}:{k}": x for n in asked.only for k, x in alone(Lanes(n), CASES[n]).items()}
        np.savez(asked.save, **found)
        return
    kept = np.load(asked.compare)
    print(
        f"JAX {jax.__version__} on {jax.devices()[0].device_kind}; largest differences, relative to the largest number"
    )
    for name in asked.only:
        known = {k: kept[f"{name}:{k}"] for k in ("q", "v", "events")}
        try:
            print(compare(Lanes(name), CASES[name], known, {"one_kernel": False} if asked.lockstep else {}), flush=True)
        except Exception as trouble:
            print(f"{name:24} {type(trouble).__name__}: {trouble}", flush=True)


if __name__ == "__main__":
    main()
