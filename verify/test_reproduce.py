"""Every shipped study in full, as `carom reproduce` compares it: no number differs from its source without a reason.

`reproduced.json` has the digits that were printed at a commit; a change of the program that moves one of them is seen
here, and is listed in CHANGELOG.md under *Numerical changes*, with its reason, when the file is written anew:

    .venv/bin/python -m verify.test_reproduce TABLE.json ...       # tables of carom reproduce NAME --json TABLE.json
"""

import datetime
import json
import subprocess
import sys
from pathlib import Path

import pytest

from carom.scenario import names

RECORD = Path(__file__).with_name("reproduced.json")


def printed(rows):
    """Values as the table prints them, by scenario and name; what should be 0 is rounding, which has no digits."""
    out = {}
    for row in rows:
        if row["expected"] != 0.0 and not row["missing"] and row["value"] is not None:
            out.setdefault(row["scenario"], {})[row["name"]] = f"{row['value']:.7g}"
    return out


def recorded(name):
    """The study's own numbers and those of its variants."""
    from carom.scenario import load

    known = json.loads(RECORD.read_text())["numbers"]
    studies = (name, *(f"{name}-{variant}" for variant in load(name).variants))
    return {study: known[study] for study in studies if study in known}


@pytest.mark.slow
@pytest.mark.parametrize("name", names())
def test_a_shipped_study_is_reproduced_to_the_printed_digit(name, tmp_path):
    table = tmp_path / "table.json"
    found = subprocess.run(
        [sys.executable, "-m", "carom", "reproduce", name, "--json", str(table)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert found.returncode == 0, found.stdout + found.stderr
    assert recorded(name) and printed(json.loads(table.read_text())) == recorded(name)


def test_the_record_has_every_shipped_study():
    assert all(recorded(name) for name in names())


if __name__ == "__main__":
    rows = [row for path in sys.argv[1:] for row in json.loads(Path(path).read_text())]
    commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=True).stdout
    record = {"date": f"{datetime.date.today()}", "commit": commit.strip(), "numbers": printed(rows)}
    RECORD.write_text(json.dumps(record, indent=1) + "\n")
