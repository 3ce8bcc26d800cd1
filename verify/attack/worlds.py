"""Random worlds: a structure from a seed, numbers for many lanes of it.

A structure is a tree of one to six links on a fixed or free base, contacts of one kind with laws from the catalogue,
perhaps stops in the joints, perhaps a controller. Everything that is a number comes from the lane, places included, so
that the same compiled program runs a world, its mirror image, one far away, and one that is turned about the origin.
"""

import functools
from dataclasses import dataclass

import jax.numpy as jnp
import numpy as np

import carom
from carom.contact import catalogue

G = 9.81
NORMAL = [e for e in catalogue.NORMAL_LAWS if e.card.name != "gonthier"]
SMOOTH = [e for e in catalogue.FRICTION_LAWS if e.card.name not in ("coulomb", "karnopp", "stribeck")]
DRY = [e for e in catalogue.FRICTION_LAWS if e.card.name in ("coulomb", "karnopp", "stribeck")]


@dataclass(frozen=True)
class Structure:
    """What is compiled: everything but numbers."""

    seed: int
    parents: tuple
    free: bool
    law: str  # of all contacts: 'newton', 'poisson', 'stronge', 'plastic', or a compliant one
    rubs: str  # friction law, or ''
    touching: tuple  # links whose tips meet the floor
    walled: bool  # does the last of them also meet a wall?
    stops: bool
    held: bool  # by a controller
    shaken: bool = False  # does the floor move?
    clipped: bool = False  # has the controller limits that it reaches?

    @property
    def rigid(self):
        return self.law in ("newton", "poisson", "stronge", "plastic")

    @property
    def words(self):
        base = "free" if self.free else "fixed"
        flags = {"wall": self.walled, "stops": self.stops, "control": self.held, "limits": self.clipped}
        more = [w for w, on in {**flags, "shaken": self.shaken}.items() if on]
        return f"{len(self.parents)} {base}, {self.law} {self.rubs} x{len(self.touching)} {' '.join(more)}"


def structure(seed):
    """Drawn so that neither kind of contact, base or friction is rare; bounded, so that it compiles in seconds."""
    rng = np.random.default_rng([10, seed])
    links = int(rng.integers(1, 7))
    parents = tuple(-1 if k == 0 else int(rng.integers(0, k)) for k in range(links))
    rigid = bool(rng.uniform() < 0.6)
    most = 3 if rigid else 2
    count = int(rng.integers(1, min(most, links) + 1))
    touching = tuple(sorted(int(k) for k in rng.choice(links, count, replace=False)))
    if rigid and links > 4:  # compiling takes minutes with more
        touching, count = touching[:1], 1
    walled = bool(rng.uniform() < 0.3) and count < 3
    law = str(rng.choice(["newton", "poisson", "plastic", "stronge"])) if rigid else _name(rng, NORMAL)
    if law == "stronge" and (count > 1 or walled):
        law = str(rng.choice(["newton", "poisson"]))
    rough = rng.uniform() < 0.5 and not (rigid and links > 4)  # which would take a minute to compile
    rubs = "" if not rough else _name(rng, DRY[:1] if rigid else [*SMOOTH, *DRY])
    if rubs and count + walled > 2:  # three rough contacts take half a minute to compile
        touching, walled = touching[:2], False
    if not rigid:  # by turns, so that every law occurs
        law = NORMAL[seed % len(NORMAL)].card.name
        rubs = rubs and [*SMOOTH, *DRY][(seed // 2) % len([*SMOOTH, *DRY])].card.name
    held, free = bool(rng.uniform() < 0.3), bool(rng.uniform() < 0.5)
    stops = bool(rng.uniform() < 0.4) and rigid and links > 1 and count == 1 and not (walled or rough or held)
    stops = stops and law != "stronge"
    shaken = seed % 6 == 5 and links < 4
    return Structure(seed, parents, free, law, rubs, touching, walled, stops, held, shaken)


def _name(rng, entries):
    return str(entries[int(rng.integers(len(entries)))].card.name)


@functools.cache  # one function per structure, so that one compilation serves all its lanes
def maker(s):
    def make(p):
        links = [
            carom.Link(
                carom.Rod(length=p["length"][k], mass=p["mass"][k]),
                name=f"l{k}",
                parent=carom.BASE if parent < 0 else f"l{parent}",
                joint=carom.Joint(damping=0.0 if s.free and parent < 0 else p["damping"][k]),
            )
            for k, parent in enumerate(s.parents)
        ]
        x, y = turned(p["turn"], p["x"], p["y"] + p["pivot"])
        m = carom.Mechanism(links, base=carom.Free() if s.free else carom.Fixed(x, y))
        gravity = jnp.stack(turned(p["turn"], 0.0, -G))
        return carom.World(m, contacts=_contacts(s, m, p), control=_control(s, m, p), gravity=gravity)

    make.__name__ = make.__qualname__ = f"world_{s.seed}"
    return make


def turned(angle, x, y):
    """A vector, or a place, turned about the origin."""
    if not isinstance(angle, np.ndarray):
        cos, sin = jnp.cos(angle), jnp.sin(angle)
    else:
        cos, sin = np.cos(angle), np.sin(angle)
    return cos * x - sin * y, sin * x + cos * y


def _contacts(s, m, p):
    turn = functools.partial(turned, p["turn"])
    floor = carom.Plane(point=turn(p["x"], p["y"]), normal=turn(0.0, 1.0))
    if s.shaken:
        floor = carom.Moving(floor, amplitude=turn(0.03 * p["side"], 0.02), frequency=p["shakes"])
    wall = carom.Plane(point=turn(p["x"] + p["side"] * p["wall"], p["y"]), normal=turn(-p["side"], 0.0))
    met = [(f"l{k}.tip", floor, f"floor {k}") for k in s.touching]
    if s.walled:
        met.append((f"l{s.touching[-1]}.tip", wall, "wall"))
    friction = catalogue.find(s.rubs, "friction").example() if s.rubs else None
    if not s.rigid:
        law = catalogue.find(s.law, "normal").example()
        return [carom.Contact(m.site(site), where, law, friction, name=name) for site, where, name in met]
    kinds = {"newton": carom.Newton, "poisson": carom.Poisson, "stronge": carom.Stronge}
    law = carom.Plastic() if s.law == "plastic" else kinds[s.law](p["e"])
    all_of = [carom.Contact(m.site(site), where, law, friction, name=name) for site, where, name in met]
    if s.stops:  # both ways alike, so that the mirror image is the same structure
        for field, sign in (("lower", -1.0), ("upper", 1.0)):
            limit = carom.JointLimit(m, "l1", **{field: sign * p["stop"]})
            all_of.append(carom.Contact(limit, normal=law, name=f"stop {field}"))
    return [*all_of]


def _control(s, m, p):
    """A damped hold of the posture at the start; the gains suit the inertia."""
    if not s.held:
        return ()
    gain = 5.0 * G * jnp.sum(p["mass"]) * jnp.sum(p["length"]) * jnp.ones(len(s.parents))
    gain = gain if not s.free else gain * jnp.asarray([0.0] + [1.0] * (len(s.parents) - 1))
    limit = 0.2 * gain if s.clipped else None
    return carom.PostureControl(m, p["target"][None, :], kp=gain, kd=0.1 * gain, relative=True, limit=limit)


def tips(s, p, q):
    """(x, y) of every link's tip, by arithmetic of our own."""
    links = len(s.parents)
    angles = q[:, 2:] if s.free else q
    x0 = q[:, 0] if s.free else p["x"]
    y0 = q[:, 1] if s.free else p["y"] + p["pivot"]
    x, y = np.zeros((links, len(q))), np.zeros((links, len(q)))
    for k, parent in enumerate(s.parents):
        ax, ay = (x0, y0) if parent < 0 else (x[parent], y[parent])
        x[k], y[k] = ax + p["length"][:, k] * np.cos(angles[:, k]), ay + p["length"][:, k] * np.sin(angles[:, k])
    return x, y


def lanes(s, count):
    """Numbers and starts of `count` lanes, clear of floor and wall."""
    rng, links = np.random.default_rng([11, s.seed]), len(s.parents)
    many = 400 * count
    p = {
        "length": rng.uniform(0.2, 0.6, (many, links)),
        "mass": 10.0 ** rng.uniform(-0.7, 0.7, (many, links)),
        "damping": rng.uniform(0.01, 0.1, (many, links)),
        "pivot": rng.uniform(0.3, 1.0, many),
        "x": np.zeros(many),
        "y": np.zeros(many),
        "side": np.ones(many),
        "wall": rng.uniform(0.3, 1.0, many),
        "stop": rng.uniform(1.0, 2.5, many),
        "e": rng.uniform(0.0, 0.9, many),
        "shakes": np.full(many, 3.0),
        "turn": np.zeros(many),
    }
    angles, rates = rng.uniform(-np.pi, np.pi, (many, links)), rng.uniform(-2.0, 2.0, (many, links))
    base = np.stack([np.zeros(many), rng.uniform(0.3, 1.2, many)], axis=1)
    velocity = rng.uniform(-1.0, 1.0, (many, 2))
    relative = angles - np.where(np.array(s.parents) >= 0, angles[:, np.maximum(s.parents, 0)], 0.0)
    p["target"] = relative
    x, y = tips(s, p, np.concatenate([base, angles], axis=1) if s.free else angles)
    clear = (np.min(y, axis=0) > 0.02) & (np.max(x, axis=0) < p["wall"] - 0.02)
    if links > 1:
        clear &= np.abs(relative[:, 1]) < p["stop"] - 0.02
    chosen = np.flatnonzero(clear)[:count]
    pick = lambda a: a[np.resize(chosen, count)]  # noqa: E731
    state = {"angles": pick(angles), "rates": pick(rates)}
    if s.free:
        state |= {"base": pick(base), "base_velocity": pick(velocity)}
    return {k: pick(x) for k, x in p.items()}, state
