"""A mechanism as a table, for `print`."""

from __future__ import annotations

import jax
import numpy as np

from .numbers import Numbers
from .topology import Topology


def table(numbers: Numbers, top: Topology) -> str:
    """Links with their parents and numbers, one per line."""
    plural = lambda n, word: f"{n} {word}{'s' if n != 1 else ''}"  # noqa: E731
    head = f"Mechanism: {plural(top.links, 'link')}, {plural(top.dof, 'degree')} of freedom"
    try:
        numbers = jax.tree.map(np.asarray, numbers)
    except Exception:  # traced or batched numbers have no printable value
        return f"<{head}: {', '.join(top.names)}; numbers are traced>"
    if numbers.mass.ndim != 1:
        return f"<{head}: {', '.join(top.names)}; a batch of {numbers.mass.shape[:-1]}>"
    lines = [head]
    for tree, free in enumerate(top.free):
        where = "free" if free else "fixed at ({:g}, {:g}) m".format(*numbers.pivot[tree])
        lines.append(f"  {top.tree_names[tree]}: {where}")
    lines.append(
        f"  {'link':12} {'shape':6} {'hangs on':12} {'at [m]':>16} {'mass [kg]':>10} {'com [m]':>16} "
        f"{'inertia [kg m^2]':>17}"
    )
    for k in range(min(top.links, 20)):
        more = "  slides along ({:g}, {:g})".format(*numbers.axis[k]) if top.slides[k] else ""
        more += f"  rotor {numbers.rotor[k]:g} kg m^2, gear {numbers.gear[k]:g}" if top.rotors[k] else ""
        more += _friction(numbers, top, k)
        parent = top.names[top.parents[k]] if top.parents[k] >= 0 else top.tree_names[top.trees[k]]
        at = "({:g}, {:g})".format(*numbers.hang[k])
        com = "({:g}, {:g})".format(*numbers.com[k])
        lines.append(
            f"  {top.names[k]:12} {top.shapes[k]:6} {parent:12} {at:>16} {numbers.mass[k]:10g} {com:>16} "
            f"{numbers.inertia[k]:17g}{more}"
        )
    if top.links > 20:
        lines.append(f"  ... and {top.links - 20} more")
    return "\n".join(lines)


def _friction(numbers: Numbers, top: Topology, k: int) -> str:
    """Dry friction and the limit of a joint, if it has them."""
    unit, out = "N" if top.slides[k] else "N m", ""
    if top.rubs[k]:
        more = f" (static {numbers.stiction[k]:g})" if numbers.stiction[k] != numbers.friction[k] else ""
        out += f"  friction {numbers.friction[k]:g}{more} {unit}"
    return out + (f"  effort up to {numbers.effort[k]:g} {unit}" if top.limited[k] else "")
