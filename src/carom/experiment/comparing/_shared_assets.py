"""Scripts and styles of pages on which several runs are in step: those of the report, and a few more."""

from importlib import resources

from ...report.page import SCRIPTS

SHARED = ("overlay.js", "sides.js")
GLUE = "viewer.js"  # of the report's scripts, those before it are classes; it and the others belong to that page


def asset(name: str) -> str:
    return resources.files(__package__).joinpath("assets", name).read_text(encoding="utf-8")


def _of_report(name: str) -> str:
    return resources.files("carom.report").joinpath("assets", name).read_text(encoding="utf-8")


def shared_script() -> str:
    """The viewer's classes, then those of several runs in step; pages bring their own glue."""
    return "".join(map(_of_report, SCRIPTS[: SCRIPTS.index(GLUE)])) + "".join(map(asset, SHARED))


def shared_style() -> str:
    """The report's style, and that of several runs in step."""
    return _of_report("style.css") + asset("shared.css")
