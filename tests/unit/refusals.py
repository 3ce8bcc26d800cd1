"""Mechanisms to make mistakes with, and the form of a table of refusals."""

from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
import pytest

from carom import Arm, Link, Rod

NAN = float("nan")
ROD = Rod(length=1.0, mass=1.0)
ARM = Arm([ROD, ROD])
Q, V = jnp.array([0.1, 0.2]), jnp.array([1.0, 2.0])


def named(name: str, **more: Any) -> Link:
    return Link(ROD, name=name, **more)


def refused(table: dict[str, tuple[Callable[[], Any], str]]) -> Any:
    return pytest.mark.parametrize(("wrong", "sentence"), table.values(), ids=table.keys())
