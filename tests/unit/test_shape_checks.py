"""The checker of shapes that all tests run under: what is skipped has passed, and nothing else is skipped."""

import jax.numpy as jnp
import jaxtyping
import numpy as np
import pytest
from beartype import beartype
from jaxtyping import Array, Float

from ..shape_checks import kind, once_per_kind

CHECKED = once_per_kind(jaxtyping._decorator.jaxtyped)(typechecker=beartype)
THREE, FOUR = np.zeros(3), np.zeros(4)


def around(numbers, default=None):
    """A function within another, made anew for every call."""

    @CHECKED
    def first_of(x: Float[Array | np.ndarray, "3"], also=default) -> Float[Array | np.ndarray, "3"]:
        return numbers

    return first_of


def test_a_shape_that_is_wrong_is_refused_after_a_right_one_has_passed():
    for _ in range(2):
        assert around(THREE)(THREE) is THREE
        with pytest.raises(jaxtyping.TypeCheckError, match="parameters"):
            around(THREE)(FOUR)


@pytest.mark.parametrize("others", [FOUR, jnp.zeros(2), [THREE], "three"])
def test_what_a_function_finds_around_it_counts(others):
    assert around(THREE)(THREE) is THREE
    with pytest.raises(jaxtyping.TypeCheckError, match="return value"):
        around(others)(THREE)


def test_nothing_passes_while_nothing_is_checked(monkeypatch):
    @CHECKED
    def same(x: Float[np.ndarray, "3"]) -> Float[np.ndarray, "3"]:
        return x

    monkeypatch.setattr(jaxtyping.config, "jaxtyping_disable", True)
    assert same(FOUR) is FOUR
    monkeypatch.setattr(jaxtyping.config, "jaxtyping_disable", False)
    with pytest.raises(jaxtyping.TypeCheckError):
        same(FOUR)


def test_kinds_tell_shapes_types_and_plain_values_apart():
    things = [1, True, 1.0, "1", None, THREE, FOUR, np.zeros(3, int), jnp.zeros(3), [THREE], [FOUR], (THREE,)]
    things += [{"a": 1}, {"a": 2}, {"b": 1}, np.float64(1.0), object()]
    assert len({kind(x) for x in things}) == len(things)
    assert kind(1.0) == kind(2.0) and kind([THREE]) == kind([THREE + 1.0])
