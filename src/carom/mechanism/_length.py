"""How large a mechanism is."""

from __future__ import annotations

import functools
from typing import Any

import jax
import numpy as np

from .. import errors
from .tree import Mechanism


def length_of(mechanism: Mechanism) -> Any:
    """Of the largest link [m], wherever the world stands; 1 m where nothing has a size.

    It is a unit, which nothing depends on: it has no derivative (that of a distance of zero would not be a number).
    """
    n = mechanism.numbers
    given = (n.hang, n.tip, n.com, n.site, n.inertia, n.mass)
    of = errors.library_for(given)
    *places, inertia, mass = (x if of is np else jax.lax.stop_gradient(x) for x in map(of.asarray, given))
    points = [of.sqrt(of.sum(x * x, axis=-1)) for x in places]
    bodies = of.sqrt(inertia / of.where(mass > 0.0, mass, 1.0))
    largest = functools.reduce(of.maximum, [of.max(x, initial=0.0) for x in (*points, bodies)])
    return errors.array(of.where(largest > 0.0, largest, 1.0))
