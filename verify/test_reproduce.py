"""Every shipped study in full, as `carom reproduce` compares it: no number differs from its source without a reason."""

import subprocess
import sys

import pytest

from carom.scenario import names


@pytest.mark.slow
@pytest.mark.parametrize("name", names())
def test_a_shipped_study_is_reproduced(name):
    found = subprocess.run(
        [sys.executable, "-m", "carom", "reproduce", name], capture_output=True, text=True, check=False
    )
    assert found.returncode == 0, found.stdout + found.stderr
