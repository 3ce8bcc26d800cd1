"""What answers of the command line look like."""

NUMBERS = {"scenario.toml", "summary.json", "impacts.csv", "stances.csv", "energy.csv", "trajectory.nc"}


def refused(answer, code=2):
    """The sentence of an answer that must be a refusal: one line on stderr, nothing on stdout."""
    got, out, err = answer
    assert got == code and out == "" and err.startswith("carom: ") and err.count("\n") == 1, answer
    return err


def tree(folder):
    """Every file below, with its content."""
    return {str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}
