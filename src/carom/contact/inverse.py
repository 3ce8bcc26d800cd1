"""Inverse dynamics in contact: torques and reactions of a motion along surfaces, with joints that have no motor.

Newton and Euler's equations of everything that joint k carries, about that joint, with E_k what its inertia, weight,
springs and dampers need:

    tau_k + sum_c l_kc f_c = E_k,      l_kc = moment about joint k of a unit of reaction c, zero if c is not carried

A contact that slides has one unknown, its normal force, and a direction n - sigma mu t (sigma the sense of sliding);
one that sticks has two, along n and t. Joints without motor, and the base of a free mechanism, have no tau: their
equations, few as they are, give the reactions, and all the others the torques. The motion itself is closed first: the
joints that must follow are found from gap = 0 and its two derivatives.

              tau_2        n                 singular where the line of the reaction n - sigma mu t passes through
          o---------o      |    tip          the joint that is to be without torque: `leverage`, the sine of the angle
         /           \\     |/               between that line and the lever, is 0 there
    tau_1             passive___________
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from .. import errors
from ..dynamics.motion import (
    STANDARD_GRAVITY,
    efforts,
    formalism_of,
    generalized_force,
    gravity_vector,
    vector_of,
)
from ..hybrid.scene import Scene, split
from ..mechanism import Mechanism
from .friction.dry import SLOW
from .impact.rigid import RigidContact
from .pairs.site_on_surface import SiteOnSurface
from .rows import Rows, rows_of
from .surfaces.curve import settled

SINGULAR = 1e-6  # sine of the angle between reaction and lever below which a joint has no say
OFF = (
    1e-8  # [m], [m/s], [m/s^2] by which a motion may leave its surface, relative to its own rates where they are large
)


class ContactEfforts(NamedTuple):
    """What a motion in contact needs, and how well it keeps its contacts; arrays over the contacts where not said."""

    torques: Any  # [N m], one per link: of the parent on the link; zero for passive joints
    normal: Any  # [N], positive when it pushes
    friction: Any  # [N], on the mechanism, along the tangent (n_y, -n_x)
    sliding: Any  # [m/s]
    leverage: Any  # one number: 1 at best, 0 where the equations are singular
    weakest: Any  # which of the equations without torque (`ContactInverse.idle`) the reactions serve worst
    gap: Any  # [m]; zero in a motion that keeps its contacts, like the next two
    gap_rate: Any  # [m/s]
    gap_acceleration: Any  # [m/s^2]
    creep: Any  # [m/s] sliding of contacts that are said to stick, else 0
    creep_acceleration: Any  # [m/s^2]


class ContactInverse(eqx.Module):
    """Inverse dynamics of a mechanism whose sites slide, or stick, on surfaces.

    - `contacts`: one or several `carom.RigidContact`s of sites with surfaces; restitution plays no part
    - `passive`: names of the links whose joints have no motor. Links that hang on a free base never have one
    - `sticking`: names of the contacts that stick; the others slide
    - `gravity`: g [m/s^2] downwards, or a vector

    There must be as many unknown reactions (one per sliding, two per sticking contact) as equations without a torque
    (one per passive joint; three per free base with one link on it).

        tip = carom.RigidContact(arm.tip, carom.Plane(height=0.0), 0.0, carom.Coulomb(0.4))
        problem = carom.contact.ContactInverse(arm, tip, passive=["link4"])
        q, v, a = problem.close(angles, rates, accelerations)
        torques, normal, *_ = problem.solve(q, v, a)
    """

    mechanism: Mechanism
    contacts: tuple[RigidContact, ...]
    gravity: Any
    passive: tuple[int, ...] = eqx.field(static=True)
    sticking: tuple[int, ...] = eqx.field(static=True)

    def __init__(
        self,
        mechanism: Any,
        contacts: Any,
        passive: Any = (),
        sticking: Any = (),
        gravity: Any = STANDARD_GRAVITY,
    ) -> None:
        self.mechanism = _rigid(mechanism)
        self.contacts = _contacts_of(contacts)
        self.gravity = gravity_vector(gravity)
        self.passive = tuple(sorted({mechanism.topology.link(name) for name in _names("passive", passive)}))
        self.sticking = _sticking(self.contacts, _names("sticking", sticking))
        _refuse_idle(self)
        _refuse_count(self)

    @property
    def idle(self) -> tuple[int, ...]:
        """Equations without a torque, as entries of (base forces ..., joint torques ...)."""
        top = self.mechanism.topology
        roots = [k for k in range(top.links) if top.parents[k] < 0 and top.free[top.trees[k]]]
        joints = sorted({*roots, *self.passive})
        return (*range(top.base_dof), *(top.angle_index(k) for k in joints))

    # -- torques and reactions ---------------------------------------------------------------------------------------

    def solve(
        self, q: Any, v: Any, a: Any, senses: Any = None, t: Any = 0.0, *, throw: bool = True, formalism: Any = None
    ) -> ContactEfforts:
        """Torques and reactions of the motion (q, v, a).

        - `senses`: +1 or -1 for every contact, the sign of its sliding along (n_y, -n_x), rightwards on a floor; taken
          from the motion if left out, which at rest is not possible
        - `t` [s]: matters to surfaces that move
        - `throw`: refuse motions that leave a surface, senses that contradict them, and singular postures; without it
          look at `leverage`, `gap`, ... yourself
        """
        state = tuple(vector_of(self.mechanism, name, x) for name, x in (("q", q), ("v", v), ("a", a)))
        given = _senses_of(self, senses)
        errors.number("motion", "t", t)
        chosen = formalism_of(formalism, self.mechanism.topology.links)
        out = _solve(chosen, self, state, jnp.asarray(t, dtype=float), given)
        return _checked(self, state, given, out) if throw else out

    def efforts(self, q: Any, v: Any, a: Any, senses: Any, t: Any, chosen: Any = None) -> ContactEfforts:
        """The same without any check, for compiled loops; `senses` None: as the motion slides."""
        m = self.mechanism
        chosen = formalism_of(None, m.topology.links) if chosen is None else chosen
        each = self._rows(q, v, t)
        sliding = _stack([r.touch.sliding for r in each])
        slips = jnp.sign(sliding) if senses is None else senses
        need = chosen.inverse(m, q, v, a, self.gravity) - generalized_force(m, q, v)
        levers, drag = self._levers(each, slips, sliding)
        needed = efforts(m, need) - drag
        idle = np.asarray(self.idle, dtype=int)
        forces = _small_solve(levers[idle], needed[idle])
        top = m.topology
        torques = (needed - levers @ forces)[top.angles]
        motors = np.asarray([top.angle_index(k) not in self.idle for k in range(top.links)])
        return ContactEfforts(
            jnp.where(motors, torques, 0.0),
            forces[: len(each)],
            self._friction(slips, sliding, forces),
            sliding,
            *self._leverage(each, slips, sliding, levers[idle]),
            *self._misses(each, a),
        )

    def _rows(self, q: Any, v: Any, t: Any) -> list[Rows]:
        scene = Scene(self.mechanism, t, split(self.mechanism, q), split(self.mechanism, v))
        return [rows_of(c.pair, scene) for c in self.contacts]

    def _coefficients(self, slips: Any, sliding: Any) -> tuple[list[Any], list[Any]]:
        """Friction along t over normal force of every contact, and its part that does not depend on it [N]."""
        ratio, viscous = [], []
        for i, contact in enumerate(self.contacts):
            slides = contact.friction is not None and i not in self.sticking
            law = contact.friction
            ratio.append(-slips[i] * law.coefficient(jnp.abs(sliding[i])) if slides and law is not None else 0.0)
            viscous.append(-law.drag * sliding[i] if slides and law is not None else 0.0)
        return ratio, viscous

    def _levers(self, each: list[Rows], slips: Any, sliding: Any) -> tuple[Any, Any]:
        """Moments of a unit of every unknown about the joints (its force on free bases), and those of viscous drag."""
        ratio, viscous = self._coefficients(slips, sliding)
        columns, drag = [], jnp.zeros(self.mechanism.dof)
        for row, part, fixed in zip(each, ratio, viscous, strict=True):
            columns.append(_stack(row.normal) + part * _stack(row.tangential))
            drag = drag + fixed * _stack(row.tangential)
        columns += [_stack(each[i].tangential) for i in self.sticking]
        levers = jnp.stack([efforts(self.mechanism, column) for column in columns], axis=1)
        return levers, efforts(self.mechanism, drag)

    def _friction(self, slips: Any, sliding: Any, forces: Any) -> Any:
        ratio, viscous = self._coefficients(slips, sliding)
        out = [r * forces[i] + fixed for i, (r, fixed) in enumerate(zip(ratio, viscous, strict=True))]
        for k, i in enumerate(self.sticking):
            out[i] = forces[len(self.contacts) + k]
        return _stack(out)

    def _leverage(self, each: list[Rows], slips: Any, sliding: Any, small: Any) -> tuple[Any, Any]:
        """Smallest singular value of the equations without torques, and the equation that it concerns most.

        A row is divided by the longest lever arm, a column by the length of n - sigma mu t: sines of angles remain.
        """
        idle, nb, m = np.asarray(self.idle, dtype=int), self.mechanism.topology.base_dof, self.mechanism
        arms = [jnp.hypot(efforts(m, _stack(r.normal)), efforts(m, _stack(r.tangential)))[idle] for r in each]
        arm = jnp.max(jnp.stack(arms), axis=0)
        arm = jnp.where(idle < nb, 1.0, jnp.where(arm > 0.0, arm, 1.0))
        length = [jnp.sqrt(1.0 + ratio**2) for ratio in self._coefficients(slips, sliding)[0]]
        length += [jnp.ones(())] * len(self.sticking)
        scaled = jax.lax.stop_gradient(small / arm[:, None] / _stack(length)[None, :])
        if len(idle) == 1:
            return jnp.abs(scaled[0, 0]), jnp.asarray(0)
        left, values, _ = jnp.linalg.svd(scaled)
        return values[-1], jnp.argmax(jnp.abs(left[:, -1]))

    def _misses(self, each: list[Rows], a: Any) -> tuple[Any, ...]:
        """By how much the motion leaves its surfaces, and slides where it should stick."""
        stuck = np.asarray([i in self.sticking for i in range(len(each))])
        rise = _stack([jnp.dot(_stack(r.normal), a) + r.normal_drift for r in each])
        creep = _stack([jnp.dot(_stack(r.tangential), a) + r.tangential_drift for r in each])
        sliding = _stack([r.touch.sliding for r in each])
        return (
            _stack([-r.touch.indentation for r in each]),
            _stack([r.separation for r in each]),
            rise,
            jnp.where(stuck, sliding, 0.0),
            jnp.where(stuck, creep, 0.0),
        )

    # -- the motion --------------------------------------------------------------------------------------------------

    def close(
        self,
        q: Any,
        v: Any = None,
        a: Any = None,
        t: Any = 0.0,
        *,
        follow: Any = None,
        relative: bool = False,
        throw: bool = True,
    ) -> tuple[Any, Any, Any]:
        """The motion (q, v, a) in which some joints follow, so that every sliding contact stays on its surface.

        - `q`, `v`, `a`: all coordinates; of the joints that follow, q is the guess from which Newton's method starts,
          and what v and a say of them does not matter
        - `follow`: names of links, as many as contacts slide; the passive ones by default
        - `relative`: link angles are relative to the parent, in what is given; what comes back is absolute

        Newton's steps have exact derivatives, and so have their results, in both modes and up to the third order.
        """
        m = self.mechanism
        zero = np.zeros(m.dof)
        given = (("q", q), ("v", zero if v is None else v), ("a", zero if a is None else a))
        state = tuple(vector_of(m, name, x) for name, x in given)
        errors.number("motion", "t", t)
        links = self.passive if follow is None else tuple(m.topology.link(n) for n in _names("follow", follow))
        refuse_follow(self, links)
        out, gap, leverage = _close(self, links, relative, state, jnp.asarray(t, dtype=float))
        if not throw:
            return out
        who, tips = _listed(m.topology.names[k] for k in links), _listed(c.name for c in self._sliding)
        out = _raise_if(
            out,
            jnp.any(~(jnp.abs(gap) < OFF)),
            lambda: (
                f"joint {who} cannot bring {tips} onto its surface from this posture: a gap of "
                f"{float(np.max(np.abs(np.asarray(gap)))):.3g} m is left; start nearer, or check the link lengths"
            ),
            f"joint {who} cannot bring {tips} onto its surface; start nearer, or check the link lengths",
        )
        message = f"joint {who} moves {tips} only along its surface in this posture, so its rates have no solution"
        cure = "choose another posture, or let another joint follow"
        return _raise_if(
            out,
            ~(leverage > SINGULAR),
            lambda: f"{message} (leverage {float(leverage):.1e} of 1, q = {np.asarray(out[0]).tolist()}); {cure}",
            f"{message}; {cure}",
        )

    @property
    def _sliding(self) -> list[RigidContact]:
        return [c for i, c in enumerate(self.contacts) if i not in self.sticking]

    def closed(
        self, links: tuple[int, ...], relative: bool, q: Any, v: Any, a: Any, t: Any
    ) -> tuple[tuple[Any, Any, Any], Any, Any]:
        """The motion, the gaps that are left, and the leverage, without any check; for compiled loops."""
        m = self.mechanism
        at = np.asarray([m.topology.angle_index(k) for k in links], dtype=int)
        whole = m.to_absolute if relative else lambda x: x
        basis = jnp.stack([whole(jnp.zeros(m.dof).at[i].set(1.0)) for i in at], axis=1)
        pairs = [c.pair for c in self._sliding]
        still = jax.lax.stop_gradient((m, pairs, q, t))

        def newton(z: Any, m: Any, pairs: Any, q: Any, t: Any) -> Any:
            place = (m.to_absolute if relative else lambda x: x)(q.at[at].set(z))
            each = _rows_of(m, pairs, place, jnp.zeros_like(place), t)
            gaps = _stack([-r.touch.indentation for r in each])
            return z - _small_solve(_normals(each) @ basis, gaps)

        z = settled(lambda z: newton(z, *still), lambda z: newton(z, m, pairs, q, t), q[at])
        q = whole(q.at[at].set(z))
        # Rates and accelerations enter linearly: those of the followers make up for what the others do.
        v = whole(v.at[at].set(0.0))
        each = _rows_of(m, pairs, q, v, t)
        matrix = _normals(each) @ basis
        v = v + basis @ _small_solve(matrix, -_stack([r.separation for r in each]))
        each = _rows_of(m, pairs, q, v, t)
        a = whole(a.at[at].set(0.0))
        rise = _normals(each) @ a + _stack([r.normal_drift for r in each])
        a = a + basis @ _small_solve(matrix, -rise)
        arms = jnp.stack([jnp.hypot(_stack(r.normal) @ basis, _stack(r.tangential) @ basis) for r in each])
        scaled = matrix / jnp.maximum(jnp.max(arms, axis=0), np.finfo(float).tiny)[None, :]
        leverage = jnp.linalg.svd(jax.lax.stop_gradient(scaled), compute_uv=False)[-1]  # of 1
        gaps = _stack([-r.touch.indentation for r in each])
        return (q, v, a), gaps, leverage


@eqx.filter_jit
def _solve(chosen: Any, problem: ContactInverse, state: Any, t: Any, senses: Any) -> ContactEfforts:
    q, v, a = state
    return problem.efforts(q, v, a, senses, t, chosen)


@eqx.filter_jit
def _close(problem: ContactInverse, links: tuple[int, ...], relative: bool, state: Any, t: Any) -> Any:
    q, v, a = state
    return problem.closed(links, relative, q, v, a, t)


def _rows_of(mechanism: Mechanism, pairs: list[Any], q: Any, v: Any, t: Any) -> list[Rows]:
    scene = Scene(mechanism, t, split(mechanism, q), split(mechanism, v))
    return [rows_of(pair, scene) for pair in pairs]


def _normals(each: list[Rows]) -> Any:
    return jnp.stack([_stack(r.normal) for r in each])


def _stack(values: Any) -> Any:
    return jnp.stack([jnp.asarray(x, dtype=float) for x in values])


def _small_solve(matrix: Any, right: Any) -> Any:
    """A library call inside a compiled loop costs more than the rest of it: one unknown needs none."""
    return right / matrix[0] if matrix.shape == (1, 1) else jnp.linalg.solve(matrix, right)


# -- refusals ------------------------------------------------------------------------------------------------------


def _raise_if(out: Any, wrong: Any, message: Callable[[], str], static: str) -> Any:
    """A sentence with numbers outside jit; equinox's runtime error, which cannot know them, inside."""
    if isinstance(wrong, jax.core.Tracer):
        return eqx.error_if(out, wrong, static)
    if bool(wrong):
        raise errors.CaromError(message())
    return out


def _listed(names: Any) -> str:
    return " and ".join(f"'{name}'" for name in names)


def _names(field: str, names: Any) -> tuple[str, ...]:
    if isinstance(names, str):
        return (names,)
    try:
        return tuple(names)
    except TypeError:
        raise errors.CaromError(f"{field} is {names!r}; it must be a list of names, such as ['link4']") from None


def _rigid(mechanism: Any) -> Mechanism:
    if not isinstance(mechanism, Mechanism):
        raise errors.CaromError(f"mechanism of ContactInverse is a {type(mechanism).__name__}; it must be a Mechanism")
    top = mechanism.topology
    if top.elastic:
        bends = next(name for name, modes in zip(top.names, top.modes, strict=True) if modes)
        raise errors.CaromError(
            f"link '{bends}' is elastic; no torque acts on its bending, so no motion can be prescribed; make it rigid"
        )
    return mechanism


def _contacts_of(contacts: Any) -> tuple[RigidContact, ...]:
    found = (contacts,) if isinstance(contacts, RigidContact) else tuple(contacts)
    if not found:
        raise errors.CaromError(
            "contacts of ContactInverse is empty; give at least one, or use carom.dynamics.inverse_dynamics"
        )
    for c in found:
        if not isinstance(c, RigidContact) or not isinstance(c.pair, SiteOnSurface):
            what = f"of '{c.name}' with a body" if isinstance(c, RigidContact) else f"a {type(c).__name__}"
            raise errors.CaromError(
                f"contacts of ContactInverse holds {what}; it must hold carom.RigidContact values of sites with "
                "surfaces, such as RigidContact(arm.tip, carom.Plane(height=0.0), 0.0, carom.Coulomb(0.4))"
            )
    return found


def _sticking(contacts: tuple[RigidContact, ...], names: tuple[str, ...]) -> tuple[int, ...]:
    known = [c.name for c in contacts]
    for name in names:
        errors.name_in("sticking contact", name, known)
        if contacts[known.index(name)].friction is None:
            raise errors.CaromError(
                f"contact '{name}' is to stick but has no friction; give it one, such as carom.Coulomb(0.4)"
            )
    return tuple(sorted(known.index(name) for name in set(names)))


def _carried_by(problem: ContactInverse, k: int) -> bool:
    """Does any contact lie on what joint k carries?"""
    top = problem.mechanism.topology
    links = [c.pair.site.link for c in problem.contacts if isinstance(c.pair, SiteOnSurface)]
    return any(k == link or k in (i for i, _ in top.paths[link]) for link in links)


def _on_the_way(problem: ContactInverse) -> list[str]:
    """Links whose joints carry a contact, the outermost first, and that could be passive."""
    top = problem.mechanism.topology
    able = [k for k in reversed(top.order) if _carried_by(problem, k) and top.angle_index(k) not in problem.idle]
    return [top.names[k] for k in able]


def _refuse_idle(problem: ContactInverse) -> None:
    """A passive joint that carries no contact is moved by nothing that could be chosen."""
    top = problem.mechanism.topology
    for k in problem.passive:
        if not _carried_by(problem, k):
            able = _on_the_way(problem)
            cure = f"give it a motor and make '{able[0]}' passive instead" if able else "give it a motor"
            raise errors.CaromError(
                f"passive joint '{top.names[k]}' carries nothing that touches a surface, so no reaction can give it "
                f"its motion; {cure}"
            )


def _refuse_count(problem: ContactInverse) -> None:
    top = problem.mechanism.topology
    reactions, idle = len(problem.contacts) + len(problem.sticking), len(problem.idle)
    motors = top.dof - idle
    counted = f"{motors} torques and {reactions} reactions are {motors + reactions} unknowns for {top.dof} equations"
    if idle > reactions:
        spare = [top.names[k] for k in problem.passive][: idle - reactions]
        cure = f"give {_listed(spare)} a motor" if spare else "the free base needs more to stand on"
        raise errors.CaromError(f"{counted}; {cure}, or add a contact, or let one stick (two reactions)")
    if idle < reactions:
        spare = _on_the_way(problem)[: reactions - idle]
        cure = (
            f"make {reactions - idle} more joint(s) passive, such as {_listed(spare)}" if spare else "remove a contact"
        )
        raise errors.CaromError(f"{counted}, so that torques and reactions could work against each other; {cure}")


def refuse_follow(problem: ContactInverse, links: tuple[int, ...]) -> None:
    count, names = len(problem._sliding), [problem.mechanism.topology.names[k] for k in links]
    if len(links) != count or count == 0:
        raise errors.CaromError(
            f"{len(links)} joints follow ({_listed(names) or 'none'}) but {count} contacts slide; one joint must "
            "follow for each; name them with follow=[...]"
        )
    for k, name in zip(links, names, strict=True):
        if not _carried_by(problem, k):
            raise errors.CaromError(
                f"joint '{name}' is to follow but carries nothing that touches a surface; choose one between the base "
                "and the contact"
            )


def _senses_of(problem: ContactInverse, senses: Any) -> Any:
    if senses is None:
        return None
    count = len(problem.contacts)
    one = np.ndim(senses) == 0 and count == 1
    values = [senses] if one else senses
    errors.vector("motion", "senses", values, count)
    given = errors.known(values)
    if given is not None and not np.all(np.isin(given, (-1.0, 0.0, 1.0))):
        raise errors.CaromError(
            f"senses of motion are {given.tolist()}; each must be +1 (slides along (n_y, -n_x)), -1, or 0 without "
            "friction"
        )
    return jnp.asarray(values, dtype=float)


def _checked(problem: ContactInverse, state: tuple[Any, ...], senses: Any, out: ContactEfforts) -> ContactEfforts:
    q, v, a = state
    out = _kept(problem, v, a, out)
    out = _sensible(problem, senses, out)
    return _regular(problem, q, out)


def _kept(problem: ContactInverse, v: Any, a: Any, out: ContactEfforts) -> ContactEfforts:
    """The motion must stay on its surfaces, and stick where it is said to."""
    quick = 1.0 + jnp.max(jnp.abs(v))
    rough = quick**2 + jnp.max(jnp.abs(a))
    misses = (out.gap, out.gap_rate / quick, out.gap_acceleration / rough, out.creep / quick)
    off = jnp.max(jnp.abs(jnp.stack([*misses, out.creep_acceleration / rough])), axis=0)

    def message() -> str:
        i = int(np.argmax(np.asarray(off)))
        numbers = [float(x[i]) for x in (out.gap, out.gap_rate, out.gap_acceleration)]
        text = "the motion leaves the surface of '{}': gap {:.3g} m, its rate {:.3g} m/s, its acceleration {:.3g} m/s^2"
        text = text.format(problem.contacts[i].name, *numbers)
        if i in problem.sticking:
            text += f"; it slides at {float(out.creep[i]):.3g} m/s, {float(out.creep_acceleration[i]):.3g} m/s^2"
        return f"{text}; all must be 0; find the joints that must follow with close()"

    names = _listed(c.name for c in problem.contacts)
    static = f"the motion leaves the surface of {names}; find the joints that must follow with close()"
    return _raise_if(out, jnp.any(~(off < OFF)), message, static)


def _sensible(problem: ContactInverse, senses: Any, out: ContactEfforts) -> ContactEfforts:
    """Friction needs to know which way; at rest the motion does not tell."""
    rubs = np.asarray([c.friction is not None and i not in problem.sticking for i, c in enumerate(problem.contacts)])
    names = _listed(c.name for c, on in zip(problem.contacts, rubs, strict=True) if on)
    if senses is None:
        text = f"{names} is at rest, so that the direction of its friction is not known; say which way it is about to "
        text += "slide with senses=[+1] or [-1], or that it sticks with sticking=[...]"
        return _raise_if(out, jnp.any(rubs & (jnp.abs(out.sliding) < SLOW)), lambda: text, text)
    against = rubs & (senses * out.sliding < -SLOW)
    text = f"senses of {names} contradict the motion, which slides the other way"
    cure = "change the sign, or leave senses out"
    rates = lambda: ", ".join(f"{float(x):.3g}" for x in out.sliding)  # noqa: E731
    return _raise_if(out, jnp.any(against), lambda: f"{text} (at {rates()} m/s); {cure}", f"{text}; {cure}")


def _regular(problem: ContactInverse, q: Any, out: ContactEfforts) -> ContactEfforts:
    top = problem.mechanism.topology
    labels = [
        f"the free base, along {top.labels[i]}" if i < top.base_dof else f"joint '{top.labels[i]}'"
        for i in problem.idle
    ]
    cure = "choose another posture, another passive joint, or the other sense of sliding"

    def message() -> str:
        return (
            f"{labels[int(out.weakest)]} has no torque and the reactions cannot move it in the posture "
            f"q = {np.asarray(q).tolist()}: with friction their line passes through it (leverage "
            f"{float(out.leverage):.1e} of 1); {cure}"
        )

    static = f"the reactions cannot move {', '.join(labels)}, which have no torque, in this posture; {cure}"
    return _raise_if(out, ~(out.leverage > SINGULAR), message, static)
