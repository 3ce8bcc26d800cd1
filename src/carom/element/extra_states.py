"""States that a user adds to a world: first-order equations which push the mechanism and are pushed by it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from .. import errors
from ..hybrid._in_words import told
from ..hybrid.automaton import AbstractAutomaton, Anatomy, Flow, touch_of
from ..hybrid.reporting import Channel, Quantity, Report
from ..hybrid.scene import Load, Own, Scene, length_of, split
from ..mechanism import Mechanism, Site
from ..quantities import Real

States: TypeAlias = dict[str, Any]
Rates: TypeAlias = Callable[[Scene, States, Any], Mapping[str, Any]]
Forces: TypeAlias = Callable[[Scene, States, Any], Mapping[Any, Any]]


class ExtraStates(AbstractAutomaton):
    """First-order equations of your own: a pressure, a temperature, the activation of a muscle.

    - `states`: names and initial values; `world.state(extra={"pressure": 2.0})` starts from others
    - `rates(scene, x, p)`: d/dt of every state, by name. `x` has the states by name, `p` is `parameters`; `scene` has
      the time `t`, coordinates `q` and velocities `v`, `site(site)` (x, y and their rates), `angle(link)`,
      `relative_rate(link)` (links by number), and `touch("floor")`, a compliant contact: its `motion.indentation`,
      `normal` and `friction` force
    - `forces(scene, x, p)`: what it exerts: {site: (x, y) [N]}, {"link": torque of the parent on the link [N m]}
    - `parameters`: numbers, as any nest of dictionaries and lists. Those can be traced, in batches and derivatives;
      numbers inside of the functions are constants of the compiled program
    - `units` by name, for tables and figures; `sizes` by name, 1 by default: what the absolute tolerance is measured by

    The work of its forces has a channel of the ledger. Blows leave its states as they are. The functions are those of
    JAX: write `jnp.sqrt`, and `jnp.where` for cases. Define them once: each new function is compiled again.

        def rates(scene, x, p):
            return {"pressure": p["flow"] - p["leak"] * x["pressure"]}

        def forces(scene, x, p):
            return {piston.tip: (p["area"] * x["pressure"], 0.0)}

        carom.ExtraStates({"pressure": 0.0}, rates, forces, {"flow": 1e5, "leak": 2.0, "area": 1e-3},
                          units={"pressure": "Pa"}, sizes={"pressure": 1e5}, name="chamber")
    """

    initial: tuple[Any, ...]
    rates: Rates = eqx.field(static=True)
    forces: Forces | None = eqx.field(static=True)
    parameters: Any
    measured: tuple[Any, ...]
    quantities: tuple[Quantity, ...] = eqx.field(static=True)
    name: str = eqx.field(static=True)

    def __init__(
        self,
        states: Mapping[str, Real],
        rates: Rates,
        forces: Forces | None = None,
        parameters: Any = None,
        *,
        units: Mapping[str, str] | None = None,
        sizes: Mapping[str, Real] | None = None,
        name: str = "extra states",
    ) -> None:
        _refuse_shapes(name, states, rates, forces)
        names = list(states)
        errors.names("states", names)
        units, sizes = units or {}, sizes or {}
        for field, given in (("units", units), ("sizes", sizes)):
            for each in given:
                errors.name_in(f"state ({field} of '{name}')", each, names)
        for each in names:
            errors.number(f"'{name}'", each, states[each])
            errors.number(f"'{name}'", f"size of {each}", sizes.get(each, 1.0), above=0.0)
        self.initial = tuple(jnp.asarray(states[each], dtype=float) for each in names)
        self.rates, self.forces, self.name = rates, forces, name
        self.parameters = jax.tree.map(lambda x: jnp.asarray(x, dtype=float), parameters)
        self.measured = tuple(jnp.asarray(sizes.get(each, 1.0), dtype=float) for each in names)
        self.quantities = tuple(Quantity(each, units.get(each, "")) for each in names)

    @property
    def _names(self) -> tuple[str, ...]:
        return tuple(quantity.name for quantity in self.quantities)

    @property
    def anatomy(self) -> Anatomy:
        works = (Channel("work", "driven"),) if self.forces is not None else ()
        return Anatomy(states=dict(zip(self._names, self.measured, strict=True)), channels=works)

    @property
    def report(self) -> Report:
        pairs = zip(self.quantities, self.initial, strict=True)
        words = told("ExtraStates", *((quantity.name, value, quantity.unit) for quantity, value in pairs))
        return Report(words=((self.name, words),), extra=self.quantities)

    def check(self, mechanism: Mechanism, others: Sequence[AbstractAutomaton]) -> None:
        """Ask both functions once, without computing anything: what they return must fit."""

        def tried(q: Any, v: Any) -> list[Any]:
            scene = Scene(mechanism, jnp.asarray(0.0), split(mechanism, q), split(mechanism, v))
            scene.length, scene.gravity = length_of(mechanism), jnp.zeros(2)
            scene.phases = {a.name: jnp.asarray(0) for a in others}
            scene.touch = lambda name: touch_of(others, scene, lambda i: others[i].start(scene), name)
            load = Load(mechanism)
            return [*self.force(scene, self.start(scene), load).rates, *load.numbers()]

        zeros = jnp.zeros(mechanism.dof)
        jax.eval_shape(tried, zeros, zeros)

    def start(self, scene: Scene) -> Own:
        values = zip(self._names, self.initial, strict=True)
        return Own(jnp.asarray(0), (), tuple(jnp.asarray(scene.extra.get(n, x), dtype=float) for n, x in values))

    def force(self, scene: Scene, own: Own, load: Load) -> Flow:
        named, power = dict(zip(self._names, own.states, strict=True)), jnp.asarray(0.0)
        if self.forces is not None:
            for where, effort in _table(self.name, "forces", self.forces(scene, named, self.parameters)).items():
                power = power + self._exert(scene, load, where, effort)
        rates = _table(self.name, "rates", self.rates(scene, named, self.parameters))
        if set(rates) != set(named):
            raise errors.CaromError(
                f"rates of '{self.name}' returns {sorted(map(str, rates))}; it must return a rate for each of its "
                f"states, {sorted(named)}"
            )
        flows = tuple(_numbers(self.name, f"rate of {name}", rates[name], ()) for name in self._names)
        return Flow(flows, (power,) if self.forces is not None else ())

    def _exert(self, scene: Scene, load: Load, where: str | Site, effort: Any) -> Any:
        """Apply a torque to a link, or a force to a site; returns the power."""
        top = scene.top
        if where in top.names:
            link = top.names.index(where)
            if link in top.loose:
                raise errors.CaromError(
                    f"forces of '{self.name}' has a torque on '{where}', the first link of a free base: it has no "
                    "joint, and nothing to be turned against; push at sites instead"
                )
            torque = _numbers(self.name, f"torque on '{where}'", effort, ())
            scene.turn(load, link, torque)
            return torque * scene.relative_rate(link)
        site = scene.mechanism.site(where)
        fx, fy = _numbers(self.name, f"force on '{site.name}'", effort, (2,))
        x, y, vx, vy = scene.site(site)
        scene.push(load, site.link, x, y, fx, fy, site)
        return fx * vx + fy * vy


def _refuse_shapes(name: Any, states: Any, rates: Any, forces: Any) -> None:
    if not isinstance(states, Mapping) or not states:
        raise errors.CaromError(
            f"states of '{name}' is {states!r}; it must hold names and initial values, such as {{'pressure': 0.0}}"
        )
    for field, function in (("rates", rates), ("forces", forces)):
        if not callable(function) and not (field == "forces" and function is None):
            raise errors.CaromError(
                f"{field} of '{name}' is {function!r}; it must be a function of (scene, states, parameters)"
            )


def _table(owner: str, field: str, found: Any) -> Mapping[Any, Any]:
    if not isinstance(found, Mapping):
        example = "{'pressure': rate}" if field == "rates" else "{site: (fx, fy)} or {'link': torque}"
        raise errors.CaromError(f"{field} of '{owner}' returns a {type(found).__name__}; it must return {example}")
    return found


def _numbers(owner: str, what: str, given: Any, shape: tuple[int, ...]) -> Any:
    """A number, or a pair of them."""
    try:
        pair = tuple(given) if shape else (given,)
        found = [jnp.asarray(x, dtype=float) for x in pair]
    except (TypeError, ValueError):
        found = []
    if len(found) != (shape or (1,))[0] or any(np.shape(x) != () for x in found):
        wanted = "two numbers (x, y)" if shape else "one number"
        raise errors.CaromError(f"{what} of '{owner}' is {given!r}; it must be {wanted}")
    return found if shape else found[0]
