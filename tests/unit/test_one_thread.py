"""Programs of large worlds run with LAPACK on one thread, and leave it as it was."""

import jax.numpy as jnp
import numpy as np
import pytest

from carom.hybrid._one_thread import on_one_thread, one_thread, switches


@pytest.fixture
def four():
    """SciPy's OpenBLAS, told to use four threads."""
    found = switches()
    if found is None:
        pytest.skip("SciPy's LAPACK is not an OpenBLAS of its own here")
    get, put = found
    before = get()
    put(4)
    yield get
    put(before)


def test_threads_are_put_back_by_the_last_of_several_programs_even_after_an_error(four):
    def program(x):
        assert four() == 1
        return 2.0 * x

    with one_thread():
        assert np.array_equal(on_one_thread(program)(jnp.arange(3.0)), [0.0, 2.0, 4.0])
        assert four() == 1
    assert four() == 4
    with pytest.raises(ZeroDivisionError):
        on_one_thread(lambda: 1 / 0)()
    assert four() == 4
