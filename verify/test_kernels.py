"""Kernels for a GPU, compiled for this machine instead: lanes of shipped scenarios are what single runs are."""

import jax
import numpy as np
import pytest
from tests.unit.test_cuda import Here, needs_compiler
from verify.on_gpu import CASES, TOLD, Lanes, alone, differences, together

from carom import native

ON_XLA = ()


@needs_compiler
@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in CASES if name not in ON_XLA])
def test_lanes_of_a_kernel_are_single_runs(name, tmp_path, monkeypatch):
    case, until = Lanes(name), CASES[name]
    known = alone(case, until)
    with monkeypatch.context() as patched:
        patched.setattr(jax, "default_backend", lambda: "gpu")
        patched.setattr(native, "Kernel", lambda source, tree: Here(source, tree, tmp_path))
        ends = together(case, until, one_kernel=True)
    assert ends.made.back_end == "CUDA"
    assert max(differences(ends, known)) < 1e-9
    np.testing.assert_array_equal(np.asarray(ends.events)[::TOLD], known["events"])
