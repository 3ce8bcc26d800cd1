"""Comparing runs: curves over one another, pictures in step, a table of differences."""

from importlib import resources

SHARED = ("overlay.js", "sides.js")


def asset(name: str) -> str:
    return resources.files(__package__).joinpath("assets", name).read_text(encoding="utf-8")


def shared_script(viewer: tuple[str, ...]) -> str:
    """The viewer's classes, then those of several runs in step; for pages that bring their own glue.

    `viewer`: the report's scripts in order; those before its own glue, `viewer.js`, are classes.
    """
    own = resources.files("carom.report")
    classes = viewer[: viewer.index("viewer.js")]
    parts = [own.joinpath("assets", name).read_text(encoding="utf-8") for name in classes]
    return "".join(parts) + "".join(asset(name) for name in SHARED)


def shared_style() -> str:
    """The report's style, and that of several runs in step."""
    report = resources.files("carom.report").joinpath("assets", "style.css").read_text(encoding="utf-8")
    return report + asset("shared.css")
