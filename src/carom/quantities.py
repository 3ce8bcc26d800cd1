"""Names for numbers in signatures.

A number may be Python's, NumPy's, JAX's or a tracer of a transformation, and one function serves all of them. Type
checkers see what is done with it; nothing is looked at while a program runs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from types import ModuleType

    import jax
    import numpy as np

    Real: TypeAlias = jax.Array | float  # one number
    Flag: TypeAlias = jax.Array | bool
    PhaseNumber: TypeAlias = jax.Array | int  # of an automaton: its place among the phases
    Phases: TypeAlias = tuple[PhaseNumber, ...]  # of all automata
    Memory: TypeAlias = tuple[Real, ...]  # of one automaton
    Memories: TypeAlias = tuple[Memory, ...]  # of all automata
    Vector: TypeAlias = jax.Array  # (n,): coordinates, velocities, accelerations of a mechanism
    Given: TypeAlias = Sequence[float] | np.ndarray | jax.Array  # as people give them
    Rows: TypeAlias = Given | Sequence[Real | Given]  # one row, or many: one per lane, per base, per mode
    Reals: TypeAlias = Sequence[Real] | jax.Array
    Matrix: TypeAlias = jax.Array  # (m, n)
    Flags: TypeAlias = jax.Array  # (n,): booleans
    Point: TypeAlias = Sequence[Real] | np.ndarray | jax.Array  # (x, y)
    Points: TypeAlias = Sequence[Point] | np.ndarray | jax.Array  # many (x, y)
    Columns: TypeAlias = np.ndarray | jax.Array | tuple[np.ndarray, ...]  # over time, of all coordinates or one by one
    Index: TypeAlias = jax.Array | int
    Library: TypeAlias = ModuleType  # numpy, or jax.numpy, which have the same functions
    Coordinates: TypeAlias = Vector | tuple[Real, ...]  # as a vector, or one by one as the engine has them
    Gravity: TypeAlias = Real | Given  # [m/s^2]: g downwards, or (x, y)
    Forces: TypeAlias = Mapping[str, Given]  # [N] (x, y) by the names of the sites
    Function: TypeAlias = Callable[..., Any]  # of users
    Times: TypeAlias = Sequence[float] | np.ndarray | jax.Array | float  # [s] one instant, or many
else:
    Real = Flag = PhaseNumber = Phases = Memory = Memories = Vector = Given = Rows = Reals = Function = Times = Any
    Coordinates = Gravity = Forces = Matrix = Flags = Point = Points = Columns = Index = Library = Any
