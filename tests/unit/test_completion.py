"""What completion offers after `import carom` is there."""

import subprocess
import sys

PROBE = """
import carom
missing = []
for name in dir(carom):
    try:
        getattr(carom, name)
    except AttributeError:
        missing.append(name)
assert not missing, missing
assert carom.figures.FIGURES and carom.scenario.Scenario is carom.Scenario
"""


def test_every_name_that_completion_offers_resolves():
    """In a process of its own: here other tests have imported the packages already."""
    done = subprocess.run([sys.executable, "-c", PROBE], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
