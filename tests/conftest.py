"""What holds for every test: strict arrays, and property tests that can be repeated.

carom itself must not be imported here: the jaxtyping hook that checks its shapes is installed after this file is read.
"""

import os
import subprocess

import jax
import jaxtyping
import pytest
from hypothesis import HealthCheck, settings

# A (3,) array that silently meets a (1, 3) one hides mistakes of shape.
jax.config.update("jax_numpy_rank_promotion", "raise")

# Programs here run for milliseconds: none is worth optimising, but for the tests that say so.
os.environ.setdefault("CAROM_COMPILER", "quick")

# `make test` decides whether a change is good, so it draws the same examples every time; to search further, run
# HYPOTHESIS_PROFILE=search pytest tests/properties
# Examples are large (a whole mechanism), and the first one of a topology compiles: neither is a fault.
common = {
    "deadline": None,
    "print_blob": True,
    "suppress_health_check": [HealthCheck.too_slow, HealthCheck.data_too_large],
}
settings.register_profile("carom", max_examples=40, derandomize=True, **common)
settings.register_profile("search", max_examples=1000, **common)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "carom"))


@pytest.fixture
def traced(monkeypatch: pytest.MonkeyPatch) -> None:
    """For tests that patch what programs are traced from: a program from disk would not notice."""
    monkeypatch.setenv("CAROM_PROGRAMS", "off")


@pytest.fixture
def unchecked(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the checker of annotations, as users run carom: refusals have to come from carom itself."""
    monkeypatch.setattr(jaxtyping.config, "jaxtyping_disable", True)


@pytest.fixture
def disk_of(tmp_path):
    """Makes a file system of a size that is soon full, such as "20k"; skips where none may be mounted."""
    small = tmp_path / "small"

    def mount(size):
        small.mkdir()
        command = ["mount", "-t", "tmpfs", "-o", f"size={size}", "none", small]
        if subprocess.run(command, capture_output=True, check=False).returncode:
            pytest.skip("no file system may be mounted here")
        return small

    yield mount
    if small.is_mount():
        subprocess.run(["umount", small], check=True)
