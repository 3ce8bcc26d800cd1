"""What was it that we caught? An object's velocity, spin, mass and inertia from the motion after its capture.

    .venv/bin/python examples/identify_target.py

A free-floating arm at rest welds itself to an object that it knows only by sight: where its centre is and where it was
gripped. Base pose and joint angles are recorded for ten seconds of free flight, with noise of 1 % of their range. The
blow and the flight after it are one function of the five unknowns; `carom.fit` inverts it. The last case is a blow
along the stretched arm, after which the data are the same for a light, fast and a heavy, slow object; the answer says
so. The space-capture thesis sets this aim and leaves it open.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

import carom
from carom import dynamics

HAND, GRIP = "arm.link2.tip", "target.grip"
SETTINGS = carom.Settings(rtol=1e-9, atol=1e-11, ledger=False)
TIMES = np.linspace(0.2, 10.0, 50)
UNKNOWN = ("velocity_x", "velocity_y", "spin", "mass", "inertia")
GUESS = {"velocity_x": 0.0, "velocity_y": 0.0, "spin": 0.0, "mass": 20.0, "inertia": 10.0}


@dataclasses.dataclass(frozen=True)
class Sight:
    """What is known at the capture: the arm's pose, the object's attitude, and its grip as seen from its centre."""

    base: Any
    angles: Any  # of base, link 1 and link 2, absolute
    attitude: Any
    grip: Any

    def tree(self) -> dict[str, Any]:
        return {f.name: jnp.asarray(getattr(self, f.name), dtype=float) for f in dataclasses.fields(self)}


def make_arm() -> carom.Mechanism:
    links = [
        ("base0", carom.Disk(radius=1.0, mass=100.0)),
        ("link1", carom.Rod(2.0, 10.0)),
        ("link2", carom.Rod(3.0, 10.0)),
    ]
    return carom.Mechanism([carom.Link(body, name=name) for name, body in links], base=carom.Free())


def captured(p: Any, sight: Any) -> carom.Capture:
    """The blow that an object with these properties gives to the resting arm."""
    body = carom.Body(mass=p["mass"], inertia=p["inertia"])
    target = carom.Mechanism([carom.Link(body, name="object", sites={"grip": sight["grip"]})], base=carom.Free())
    both = carom.side_by_side(arm=make_arm(), target=target)
    angles = jnp.append(sight["angles"], sight["attitude"])
    q = both.coordinates(angles, base=jnp.stack([sight["base"], jnp.zeros(2)]))
    apart = dynamics.site_position(both, q, HAND) - dynamics.site_position(both, q, GRIP)
    q = q.at[2:4].add(apart)  # the grip is in the hand
    v = jnp.zeros(both.dof).at[2].set(p["velocity_x"]).at[3].set(p["velocity_y"]).at[7].set(p["spin"])
    return carom.capture(both, HAND, GRIP, carom.State(q, v), kind="weld")


def predict(p: Any, sight: Any) -> Any:
    """Base position [m], base attitude and joint angles [rad] after the capture, a row per time."""
    after = carom.after_capture(captured(p, sight))
    world = carom.World(after.mechanism, gravity=0.0)
    q, _ = carom.states_at(world, after.state, TIMES, settings=SETTINGS)
    return jax.vmap(after.mechanism.to_relative)(q)


def noise_of(signals: np.ndarray, share: float = 0.01) -> np.ndarray:
    """Standard deviation per channel: a share of the range, of positions and of angles."""
    span = np.ptp(signals, axis=0)
    return share * np.repeat([np.max(span[:2]), max(float(np.max(span[2:])), 1e-2)], [2, 3])


def measured(truth: Any, sight: Any, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Noisy signals, and their noise."""
    # Plain and traced numbers would be compiled apart.
    clean = np.asarray(_signals({name: jnp.asarray(value, dtype=float) for name, value in truth.items()}, sight))
    noise = noise_of(clean)
    return clean + noise * rng.normal(size=clean.shape), noise


_signals = jax.jit(predict)


def random_case(rng: np.random.Generator) -> tuple[dict[str, float], dict[str, Any]]:
    """An object and an arm's pose, neither of them special."""
    mass = rng.uniform(10.0, 40.0)
    way, speed = rng.uniform(0.0, 2.0 * np.pi), rng.uniform(0.3, 1.0)
    truth = {
        "velocity_x": speed * np.cos(way),
        "velocity_y": speed * np.sin(way),
        "spin": rng.choice([-1.0, 1.0]) * rng.uniform(0.2, 0.8),
        "mass": mass,
        "inertia": mass * rng.uniform(0.5, 1.0) ** 2,
    }
    first = rng.uniform(-np.pi, np.pi)
    elbow = rng.choice([-1.0, 1.0]) * rng.uniform(0.6, 2.2)
    angles = (rng.uniform(-np.pi, np.pi), first, first + elbow)
    round_ = rng.uniform(0.0, 2.0 * np.pi)
    sight = Sight((0.0, 0.0), angles, rng.uniform(-np.pi, np.pi), (np.cos(round_), np.sin(round_)))
    return truth, sight.tree()


def central_case() -> tuple[dict[str, float], dict[str, Any]]:
    """The thesis's second simulation: along the stretched arm, without spin."""
    up = np.pi / 2
    truth = {"velocity_x": 0.0, "velocity_y": -1.0, "spin": 0.0, "mass": 15.0, "inertia": 7.5}
    sight = Sight((1.0, 2.0), (up, up, up), up + np.pi - 0.5, (np.cos(0.5), np.sin(0.5)))
    return truth, sight.tree()


def identify(truth: Any, sight: Any, rng: np.random.Generator, start: Any = None) -> Any:
    """Record the motion, add noise, and find the object again."""
    data, noise = measured(truth, sight, rng)
    guess = GUESS if start is None else start
    return carom.fit(predict, data, guess, noise=noise, times=TIMES, args=sight, positive=("mass", "inertia"))


def main() -> None:
    rng = np.random.default_rng(7)
    truth, sight = random_case(rng)
    print("A tumbling object\n")
    print("  truth: " + ", ".join(f"{name} {truth[name]:.6g}" for name in UNKNOWN))
    print(identify(truth, sight, rng))
    print("\nAn object without spin, along the stretched arm\n")
    truth, sight = central_case()
    print("  truth: " + ", ".join(f"{name} {truth[name]:.6g}" for name in UNKNOWN))
    print(identify(truth, sight, rng))


if __name__ == "__main__":
    main()
