"""Trees with dry friction in their joints on rough rigid feet: a structure from a seed, numbers for many lanes of it.

One to four links on a fixed or a free base, hinges and sliders, one to three feet; dropped, thrown, put down at rest or
pushed along the floor. Everything that is a number comes from the lane, so that the same compiled program runs a world,
its mirror image, one far away and one in other units.
"""

import functools
from dataclasses import dataclass

import numpy as np

import carom

G = 9.81
LAWS = ("plastic", "newton", "poisson")


@dataclass(frozen=True)
class Structure:
    """What is compiled: everything but numbers."""

    seed: int
    parents: tuple
    slides: tuple  # of each link: is it on a slider?
    rubs: tuple  # of each link: has its joint dry friction?
    free: bool
    law: str
    feet: tuple  # (link, end): 1 is its tip, 0 a site beside its joint

    @property
    def carriers(self):
        """Of each link: the link whose angle it has; -1 where it does not turn."""
        out = []
        for k, parent in enumerate(self.parents):
            out.append(k if not self.slides[k] else (-1 if parent < 0 else out[parent]))
        return out

    @property
    def hinged(self):
        return [k for k, s in enumerate(self.slides) if not s]

    @property
    def sliding(self):
        return [k for k, s in enumerate(self.slides) if s]

    @property
    def words(self):
        kinds = "".join("s" if s else "h" for s in self.slides)
        return f"{kinds} {'free' if self.free else 'fixed'} {self.law} x{len(self.feet)}"


def structure(seed):
    """Drawn so that neither kind of base, joint or law is rare; bounded, so that it compiles in a minute."""
    rng = np.random.default_rng([20, seed])
    free = bool(rng.uniform() < 0.6)
    links = int(rng.integers(1 + free, 5))
    parents = tuple(-1 if k == 0 else int(rng.integers(0, k)) for k in range(links))
    slides = tuple(bool(rng.uniform() < 0.3) and not (free and k == 0) for k in range(links))
    rubs = [bool(rng.uniform() < 0.8) and not (free and k == 0) for k in range(links)]
    if not any(rubs):
        rubs[-1] = True
    ends = [(k, e) for k in range(links) for e in (0, 1)]
    count = int(rng.integers(1, 4 if links < 4 else 3))
    feet = tuple(ends[i] for i in sorted(rng.choice(len(ends), min(count, len(ends)), replace=False)))
    return Structure(seed, parents, slides, tuple(rubs), free, str(rng.choice(LAWS)), feet)


@functools.cache  # one function per structure, so that one compilation serves all its lanes
def maker(s):
    def make(p):
        links = []
        for k, parent in enumerate(s.parents):
            dry = {"friction": p["friction"][k], "static_friction": p["stiction"][k]} if s.rubs[k] else {}
            spring = {} if s.free and k == 0 else {"stiffness": p["stiffness"][k], "rest": p["rest"][k]}
            if s.slides[k]:
                above = -1 if parent < 0 else s.carriers[parent]
                joint = carom.Slider(axis=_placed(s, p, above, 1.0, 0.5), **dry, **spring)
            else:
                joint = carom.Joint(**dry, **(spring if parent >= 0 else {}))
            long, mass, c = p["length"][k], p["mass"][k], s.carriers[k]
            body = carom.Body(
                mass=mass,
                inertia=mass * long**2 / 10.0,
                com=_placed(s, p, c, 0.45 * long, 0.03 * long),
                tip=_placed(s, p, c, long, 0.0),
            )
            foot = {f"foot{k}": _placed(s, p, c, -0.3 * long, -0.2 * long)}
            on = carom.BASE if parent < 0 else f"l{parent}"
            links.append(carom.Link(body, name=f"l{k}", parent=on, joint=joint, sites=foot))
        base = carom.Free() if s.free else carom.Fixed(p["x"], p["y"])
        m = carom.Mechanism(links, base=base)
        law = {"plastic": lambda e: carom.Plastic(), "newton": carom.Newton, "poisson": carom.Poisson}[s.law](p["e"])
        floor, rough = carom.Plane(height=p["floor"]), carom.Coulomb(p["mu"], static=p["static"])
        contacts = [
            carom.Contact(m.site(f"l{k}.tip" if end else f"foot{k}"), floor, law, rough, name=f"f{k}{end}")
            for k, end in s.feet
        ]
        return carom.World(m, contacts=contacts, gravity=p["gravity"], settle_speed=p["settle"])

    make.__name__ = make.__qualname__ = f"jointed_{s.seed}"
    return make


def _placed(s, p, carrier, x, y):
    """A place or direction in a frame; its mirror image where the side is -1."""
    return (x, p["side"] * y) if carrier >= 0 else (p["side"] * x, y)


def feet_of(s, p, angles, slides, base):
    """(x, y) of every foot, by arithmetic of our own; arrays (feet, lanes), before anything is mirrored."""
    x, y, turn = {}, {}, {}
    lanes = len(angles)
    zero = np.zeros(lanes)
    origin = (base[:, 0], base[:, 1])
    for k, parent in enumerate(s.parents):
        ax, ay = origin if parent < 0 else _on(x[parent], y[parent], turn[parent], p["length"][:, parent], 0.0)
        above = zero if parent < 0 else turn[parent]
        if s.slides[k]:
            move, unit = slides[:, s.sliding.index(k)], np.hypot(1.0, 0.5)
            ax, ay = _on(ax, ay, above, move / unit, 0.5 * move / unit)
            turn[k] = above
        else:
            turn[k] = angles[:, s.hinged.index(k)]
        x[k], y[k] = ax, ay
    places = []
    for k, end in s.feet:
        long = p["length"][:, k]
        places.append(_on(x[k], y[k], turn[k], long if end else -0.3 * long, 0.0 if end else -0.2 * long))
    return np.stack([a for a, _ in places]), np.stack([b for _, b in places])


def _on(x, y, turn, px, py):
    return x + np.cos(turn) * px - np.sin(turn) * py, y + np.sin(turn) * px + np.cos(turn) * py


def lanes(s, count):
    """Numbers and starts of `count` lanes: dropped, put down at rest, put down and pushed along the floor."""
    rng, n = np.random.default_rng([21, s.seed]), len(s.parents)
    length, mass = rng.uniform(0.2, 0.6, (count, n)), 10.0 ** rng.uniform(-0.7, 0.7, (count, n))
    load = G * np.sum(mass, axis=1)
    unit = np.where(np.array(s.slides), load[:, None], (load * np.mean(length, axis=1))[:, None])
    friction = unit * 10.0 ** rng.uniform(-2.0, 0.0, (count, n))
    mu = rng.uniform(0.1, 1.2, count)
    p = {
        "length": length,
        "mass": mass,
        "friction": friction,
        "stiction": friction * rng.choice([1.0, 1.0, 1.3], (count, n)),
        "stiffness": unit * np.where(np.array(s.slides), 10.0, 1.0) * rng.choice([0.0, 0.3, 1.0], (count, n)),
        "rest": rng.uniform(-0.05, 0.05, (count, n)),  # from the place at the start
        "mu": mu,
        "static": mu * rng.choice([1.0, 1.2], count),
        "e": rng.uniform(0.0, 0.8, count),
        "floor": np.zeros(count),
        "x": np.zeros(count),
        "y": np.zeros(count),
        "side": np.ones(count),
        "gravity": np.full(count, G),
        "settle": np.zeros(count),
    }
    angles = rng.uniform(-np.pi, np.pi, (count, len(s.hinged)))
    slides = rng.uniform(-0.05, 0.05, (count, len(s.sliding)))
    base = np.zeros((count, 2))
    kind = np.arange(count) % 4  # dropped, put down at rest, put down and pushed, thrown flat
    if s.free and len(s.feet) > 1:
        angles += _flat(s, p, angles, slides, base)[:, None] * (kind > 0)[:, None]
    for k, parent in enumerate(s.parents):
        if s.slides[k]:
            p["rest"][:, k] += slides[:, s.sliding.index(k)]
        else:
            above = -1 if parent < 0 else s.carriers[parent]
            p["rest"][:, k] += angles[:, s.hinged.index(k)] - (angles[:, s.hinged.index(above)] if above >= 0 else 0.0)
    low = np.min(feet_of(s, p, angles, slides, base)[1], axis=0)
    drop = np.where((kind == 0) | (kind == 3), rng.uniform(0.01, 0.3, count), 0.0)
    if s.free:
        base[:, 1] = drop - low
    else:
        p["floor"] = low - drop
    moves = np.where(kind == 1, 0.0, 1.0)
    along = rng.uniform(-1.0, 1.0, count)
    state = {"angles": angles, "rates": moves[:, None] * (kind != 2)[:, None] * rng.uniform(-2.0, 2.0, angles.shape)}
    if s.sliding:
        speeds = rng.uniform(-0.5, 0.5, slides.shape)
        state |= {"slides": slides, "slide_rates": moves[:, None] * (kind != 2)[:, None] * speeds}
    if s.free:
        down = np.where((kind == 0) | (kind == 3), rng.uniform(-1.0, 1.0, count), 0.0)
        state |= {"base": base, "base_velocity": np.stack([moves * along, moves * down], axis=1)}
    return p, state


def _flat(s, p, angles, slides, base):
    """By how much to turn the tree so that its two lowest feet stand level."""
    x, y = feet_of(s, p, angles, slides, base)
    best = np.zeros(len(angles))
    done = np.zeros(len(angles), bool)
    for i in range(len(s.feet)):
        for j in range(i + 1, len(s.feet)):
            for half in (0.0, np.pi):
                turn = half - np.arctan2(y[j] - y[i], x[j] - x[i])
                height = np.sin(turn) * x + np.cos(turn) * y
                lowest = np.min(height, axis=0) >= np.minimum(height[i], height[j]) - 1e-12
                best, done = np.where(lowest & ~done, turn, best), done | lowest
    return best


FAR, LENGTH, MASS, NUDGE = 1e3, 1e3, 1e3, 1e-9
HOP = 16.0 * 64.0 * np.finfo(float).eps * 2.0 * FAR  # [m]: lower ones are none a kilometre away (docs/events.md)
KINDS = ("plain", "mirrored", "shifted", "scaled", "nudged", "settled")


def copies(s, p, state):
    """Plain, mirrored, shifted, scaled (to grams and millimetres), nudged and settled lanes, one after the other.

    Those that are settled come to rest at home, by `settle_speed`, as early as hops end a kilometre away.
    """
    aside = {**p, "side": -p["side"], "rest": p["rest"].copy()}
    for k in s.hinged:  # an angle to a frame that does not turn is measured from the world's axis
        level = s.parents[k] >= 0 and s.carriers[s.parents[k]] < 0
        aside["rest"][:, k] = (np.pi if level else 0.0) - p["rest"][:, k]
    mirrored = {**state, "angles": np.pi - state["angles"], "rates": -state["rates"]}
    away, shifted = {**p, "x": p["x"] + FAR, "y": p["y"] + FAR, "floor": p["floor"] + FAR}, dict(state)
    force, rest = LENGTH * MASS, np.where(np.array(s.slides), LENGTH, 1.0)
    effort = force * np.where(np.array(s.slides), 1.0, LENGTH)
    small = {**p, **{k: p[k] * LENGTH for k in ("length", "floor", "x", "y", "gravity")}, "mass": p["mass"] * MASS}
    small |= {k: p[k] * effort for k in ("friction", "stiction")}
    small |= {"stiffness": p["stiffness"] * effort / rest, "rest": p["rest"] * rest}
    scaled = {k: x * (1.0 if k in ("angles", "rates") else LENGTH) for k, x in state.items()}
    nudged = {**state, "rates": state["rates"] + NUDGE}
    if s.sliding and not s.hinged:
        nudged = {**state, "slide_rates": state["slide_rates"] + NUDGE}
    if s.free:
        mirrored["base"], mirrored["base_velocity"] = (state[k] * [-1.0, 1.0] for k in ("base", "base_velocity"))
        shifted["base"] = state["base"] + FAR
    early = {**p, "settle": np.full(len(p["settle"]), 2.0 * np.sqrt(2.0 * G * HOP))}
    both = lambda parts: {k: np.concatenate([part[k] for part in parts]) for k in parts[0]}  # noqa: E731
    return both([p, aside, away, small, p, early]), both([state, mirrored, shifted, scaled, nudged, state])


def back(s, q, kind):
    """Coordinates of a copy as those of the original."""
    q, first = q.copy(), 2 * s.free
    if kind == "mirrored":
        for k in s.hinged:
            q[:, first + k] = np.pi - q[:, first + k]
        if s.free:
            q[:, 0] *= -1.0
    elif kind == "shifted" and s.free:
        q[:, :2] -= FAR
    elif kind == "scaled":
        for k in s.sliding:
            q[:, first + k] /= LENGTH
        if s.free:
            q[:, :2] /= LENGTH
    return q
