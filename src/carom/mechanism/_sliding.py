"""Coordinates of mechanisms in which links slide."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from .. import errors
from ..quantities import Given, Vector
from .topology import Topology


def joint_values(top: Topology, angles: Given, slides: Given | None, degrees: bool) -> Any:
    """The links' own coordinates from angles of hinges and displacements of sliders."""
    refuse_counts("mechanism", top, angles, slides)
    of = errors.library_for(angles, slides)
    turned = of.asarray(angles, dtype=float)
    turned = of.deg2rad(turned) if degrees else turned
    if not top.sliding:
        return turned
    moved = of.zeros(len(top.slid)) if slides is None else of.asarray(slides, dtype=float)
    order = np.argsort((*top.hinged, *top.slid))
    return of.concatenate([turned, moved])[order]


def refuse_counts(
    owner: str,
    top: Topology,
    angles: Given | None,
    slides: Given | None,
    fields: tuple[str, str] = ("angles", "slides"),
) -> None:
    """Refuse another number of angles than hinges, and of displacements than sliders."""
    for field, values, links in zip(fields, (angles, slides), (top.hinged, top.slid), strict=True):
        if values is None:
            continue
        if not top.sliding or np.shape(values) == (len(links),):
            errors.vector(owner, field, values, len(links))
            continue
        listed = ", ".join(f"'{top.names[k]}'" for k in links)
        other = (
            "displacements of links on sliders are slides="
            if field == fields[0]
            else "angles of links on hinges are angles="
        )
        kind = "hinge" if field == fields[0] else "slider"
        raise errors.CaromError(
            f"{field} of {owner} has shape {np.shape(values)}; it must have one number for each link on a {kind}: "
            f"{listed or 'none'}; {other}",
            field=field,
        )


def slid_to_absolute(top: Topology, q: Vector) -> Array:
    """Absolute angles from relative ones; displacements stay."""
    own = list(q[top.angles])
    for k in top.order:  # the link that an angle is measured from comes first
        if top.turned_by[k] >= 0:
            own[k] = own[k] + own[top.turned_by[k]]
    return jnp.concatenate([q[: top.base_dof], jnp.stack(own), q[top.base_dof + top.links :]])
