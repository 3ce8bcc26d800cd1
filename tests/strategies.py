"""Random mechanisms and states for property tests.

Topologies come from a fixed list, because each one compiles; every number is drawn by Hypothesis and traced, so that
the examples of one topology share one compiled function.
"""

from collections.abc import Sequence

import equinox as eqx
import hypothesis.extra.numpy as hnp
import jax.numpy as jnp
import numpy as np
from hypothesis import strategies as st
from jaxtyping import Array

import carom


def tree(parents: Sequence[int], base: carom.Fixed | carom.Free, slides: str = "", rotors: str = "") -> carom.Mechanism:
    """Unit rods a, b, c, ..; link k hangs on link parents[k], or on the base where that is -1."""
    rod, names = carom.Rod(length=1.0, mass=1.0), "abcdefgh"[: len(parents)]
    links = [
        carom.Link(
            rod,
            name=name,
            parent=carom.BASE if p < 0 else names[p],
            joint=(carom.Slider if name in slides else carom.Joint)(rotor_inertia=1.0 if name in rotors else 0.0),
        )
        for name, p in zip(names, parents, strict=True)
    ]
    return carom.Mechanism(links, base=base)


FIXED, FREE = carom.Fixed(), carom.Free()

TREES = {
    "pendulum": tree([-1], FIXED),
    "satellite": tree([-1], FREE),
    "arm of 2": tree([-1, 0], FIXED),
    "fork of 3, free": tree([-1, 0, 0], FREE),
    "chain of 4, free": tree([-1, 0, 1, 2], FREE),
    "gantry of 3": tree([-1, 0, 1], FIXED, slides="ac", rotors="ab"),
    "telescope of 4 with a hinge in the middle, free": tree([-1, 0, 1, 1], FREE, slides="bc", rotors="bd"),
    "two free arms": carom.side_by_side(left=tree([-1, 0], FREE), right=tree([-1, 0], FREE)),
    "two roots of 5, free": tree([-1, -1, 0, 1, 1], FREE),
    "bush of 6, children listed first": tree([2, 0, -1, 2, 1, 3], FIXED),
    "arm and two targets, 7": carom.side_by_side(
        arm=tree([-1, 0, 1], FIXED), target=tree([-1, 0], FREE), debris=tree([-1, -1], FREE)
    ),
    "bush of 8, free": tree([-1, 0, 1, 1, 0, 4, 4, 6], FREE),
    "bush of 7, sliders in a row, children listed first": tree([2, 0, -1, 2, 1, 3, 5], FREE, slides="abdg"),
    "chain of 8": tree([-1, 0, 1, 2, 3, 4, 5, 6], FIXED),
}


# Minutes to compile with all four formalisms; the small ones have every kind of branch and base.
LARGE = (
    "bush of 7, sliders in a row, children listed first",
    "two free arms",
    "two roots of 5, free",
    "arm and two targets, 7",
    "bush of 8, free",
    "chain of 8",
)


class Case(eqx.Module):
    """A mechanism, its state, a wished acceleration and everything that pushes it."""

    mechanism: carom.Mechanism
    q: Array
    v: Array
    wished: Array
    torques: Array  # per link
    forces: Array  # one (x, y) for every name in `pushed`
    base_force: Array
    gravity: Array

    @property
    def pushed(self) -> tuple[str, ...]:
        """Sites that `forces` act at: the tips of the middle and of the last link (one site if there is one link)."""
        names = self.mechanism.topology.names
        return tuple(dict.fromkeys((f"{names[(len(names) - 1) // 2]}.tip", f"{names[-1]}.tip")))


def arrays(shape: int | tuple[int, ...], low: float, high: float) -> st.SearchStrategy[np.ndarray]:
    # Numbers such as 1e-200, whose squares vanish, say nothing about mechanics: nine decimals.
    # `fill` would repeat one value all over the array; every entry is drawn on its own instead.
    return hnp.arrays(float, shape, elements=st.floats(low, high).map(lambda x: round(x, 9)), fill=st.nothing())


@st.composite
def cases(draw: st.DrawFn, template: carom.Mechanism) -> Case:
    """Six decades of mass, centres of mass and joints anywhere (a joint may sit at its link's own origin)."""
    top, n = template.topology, template.topology.links
    mass = 10.0 ** draw(arrays(n, -3, 3))
    # A free base is a point: all that hangs on it hangs there.
    offset = np.array([[0.0 if p < 0 and top.free[t] else 1.0] for p, t in zip(top.parents, top.trees, strict=True)])
    direction = draw(arrays(n, -3, 3)) if top.sliding else np.zeros(n)
    gyration = draw(arrays(n, 0.05, 1))  # radius of gyration [m]: a body with extent, so that M stays regular
    numbers = {
        "mass": mass,
        "inertia": mass * gyration**2,
        "com": draw(arrays((n, 2), -1, 1)),
        "hang": draw(arrays((n, 2), -1, 1)) * offset,
        "tip": np.zeros((n, 2)),  # only `weld` reads it
        "axis": np.stack([np.cos(direction), np.sin(direction)], axis=1) * np.array(top.slides)[:, None],
        "stiffness": draw(arrays(n, 0, 100)),
        "rest": draw(arrays(n, -3, 3)),
        "damping": draw(arrays(n, 0, 10)),
        "rotor": 10.0 ** draw(arrays(n, -3, 1)) * top.rotors if any(top.rotors) else np.zeros(n),
        "gear": draw(arrays(n, -20, 20)) if any(top.rotors) else np.ones(n),
        **{name: np.zeros(n) for name in ("friction", "stiction")},
        "effort": np.full(n, np.inf),
        "site": draw(arrays((len(top.site_names), 2), -1, 1)),
        "pivot": draw(arrays((len(top.free), 2), -2, 2)),
    }
    count = min(n, 2)
    state = (draw(arrays(size, -high, high)) for size, high in ((top.dof, 7), (top.dof, 5), (top.dof, 20)))
    efforts = (draw(arrays(size, -50, 50)) for size in (n, (count, 2), top.base_dof))
    values = [jnp.asarray(x) for x in (*state, *efforts, draw(arrays(2, -10, 10)))]
    # Everything but what bends is drawn; these links are rigid.
    bends = {name: getattr(template.numbers, name) for name in ("flex", "hang_reach", "site_reach")}
    built = carom.mechanism.Numbers(**{name: jnp.asarray(x) for name, x in numbers.items()}, **bends)
    return Case(eqx.tree_at(lambda m: m.numbers, template, built), *values)
