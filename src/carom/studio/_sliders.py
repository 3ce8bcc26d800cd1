"""Controls for every number of a scenario, made from its schema: name, unit, meaning, range."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from pydantic import BaseModel

from ..quantities import Real
from ..scenario._text import plain
from ..scenario.model import Scenario
from ..scenario.places import Path
from ..scenario.schema_data import model_at

MOST = 400  # controls on a page; the file has the others
APART = (
    "format",
    "max_steps",
    "max_events",
    "quantities",
    "variants",
    "compare",
    "output",
    "study",
)  # change no motion
FIRST = ("start", "contacts", "ground", "surfaces", "run", "capture", "crawl", "gravity", "settle_speed", "control")
DECADES = 2.0  # of a positive number, on either side of where it is
LARGE, SMALL = 1e3, 1e-2  # numbers beyond have no size that everybody knows: their sliders count in powers
FULL_TURN = {"rad": math.pi, "degrees": 180.0, "rad/s": 20.0, "degrees/s": 1000.0}
PLACES = ("", "m", "m/s", "rad", "degrees")  # may as well be negative
TINY = 1e-300  # less than that is where an open interval begins

Range = tuple[float, float]


class Control(NamedTuple):
    """One number: where it stands, how it is called, and between what its slider runs."""

    path: str
    group: str
    name: str
    unit: str
    meaning: str
    value: float
    low: float
    high: float
    powers: bool  # is the slider logarithmic?
    whole: bool  # is it a whole number?


def controls_of(
    scenario: Scenario, inside: str = "", names: Mapping[str, Sequence[str]] | None = None
) -> list[Control]:
    """Controls of all numbers, or of those whose path begins with `inside`; `names` of what lists count."""
    data = plain(scenario)
    found = [_control(path, value, data, names or {}) for path, value in _numbers(data) if not set(path) & set(APART)]
    chosen = [each for each in found if not inside or each.path.startswith(f"{inside}.")]
    order = {word: k for k, word in enumerate(FIRST)}
    ranked = sorted(chosen, key=lambda each: order.get(each.path.split(".")[0], len(order)))
    return ranked[:MOST]


def _numbers(value: object, path: Path = ()) -> Iterator[tuple[Path, float]]:
    if isinstance(value, dict | list):
        for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
            yield from _numbers(inner, (*path, key))
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield path, value


def _control(path: Path, value: Real, data: dict[str, Any], names: Mapping[str, Sequence[str]]) -> Control:
    field = path
    while isinstance(field[-1], int):
        field = field[:-1]
    holder = model_at(field[:-1], data)
    known = holder.model_fields.get(str(field[-1])) if holder is not None else None
    meaning = (known.description or "") if known is not None else ""
    unit = _unit(meaning, _table(data, field[:-1]))
    low, high = _allowed(meaning, holder, str(field[-1]))
    whole = isinstance(value, int)
    bounds, powers = _range(float(value), unit, low, high, whole)
    group = " · ".join(str(step) for step in field[: _grouped(field)])
    return Control(
        path=_dotted(path),
        group=group or "world",
        name=_name(path, field, names),
        unit="°" if unit == "degrees" else unit.replace("degrees", "°"),
        meaning=meaning,
        value=int(value) if whole else float(value),
        low=bounds[0],
        high=bounds[1],
        powers=powers,
        whole=whole,
    )


def _grouped(field: Path) -> int:
    """How many steps of a path name the table that people think of: a contact, a link, the start."""
    if field[0] == "mechanisms":
        return min(4, len(field) - 1)
    return min(2, len(field) - 1)


def _name(path: Path, field: Path, names: Mapping[str, Sequence[str]]) -> str:
    own = [str(step).replace("_", " ") for step in field[_grouped(field) :]]
    counts = [step for step in path[len(field) :] if isinstance(step, int)]
    known = names.get(".".join(map(str, field)), ())
    last = len(counts) - 1  # in a list of lists, what names there are count the inner ones
    told = [known[k] if n == last and k < len(known) else str(k + 1) for n, k in enumerate(counts)]
    return " ".join([*own, *told])


def _dotted(path: Path) -> str:
    """As `--set` takes it: what holds a dot is quoted."""
    return ".".join(f'"{step}"' if isinstance(step, str) and "." in step else str(step) for step in path)


def _table(data: Any, path: Path) -> dict[str, Any]:
    for step in path:
        data = data[step]
    return data if isinstance(data, dict) else {}


UNIT = re.compile(r"\[([^\]]+)\]")


def _unit(meaning: str, table: Mapping[str, Any]) -> str:
    """The first unit in square brackets; 'rad, or degrees' is what the table says."""
    found = [word for word in UNIT.findall(meaning) if not re.match(r"^[-\d., ]+$", word)]
    if not found:
        return ""
    first, _, other = found[0].partition(", or ")
    return other if other and table.get("degrees") else first


NUMBER = r"(-?\d+(?:\.\d+)?)"
INTERVAL = re.compile(rf"in ([\[(]){NUMBER}, {NUMBER}([\])])")
ABOVE = re.compile(rf"(>=|>) {NUMBER}")


def _allowed(meaning: str, holder: type[BaseModel] | None, field: str) -> Range:
    """What the schema and the words allow; an end that is open is moved inwards by a thousandth."""
    low, high = -math.inf, math.inf
    interval, above = INTERVAL.search(meaning), ABOVE.search(meaning)
    if interval:
        low, high = float(interval[2]), float(interval[3])
        slight = 1e-3 * (high - low)
        low, high = low + slight * (interval[1] == "("), high - slight * (interval[4] == ")")
    elif above:
        low = float(above[2]) if above[1] == ">=" else math.nextafter(float(above[2]), math.inf)
    known = holder.model_fields.get(field) if holder is not None else None
    for rule in known.metadata if known is not None else ():
        for least in (getattr(rule, "gt", None), getattr(rule, "ge", None)):
            low = low if least is None else max(low, float(least))
        for most in (getattr(rule, "lt", None), getattr(rule, "le", None)):
            high = high if most is None else min(high, float(most))
        if getattr(rule, "gt", None) is not None:
            low = math.nextafter(low, math.inf)
    return (low if low > -1e29 else -math.inf), (high if high < 1e29 else math.inf)


def _range(value: float, unit: str, low: float, high: float, whole: bool) -> tuple[Range, bool]:
    """Between what a slider runs, and whether it counts in powers of ten; where it is now always lies inside."""
    turn = FULL_TURN.get(unit, math.nan)
    if low < 0.0 and abs(value) <= turn:
        ends = (max(low, -turn), min(high, turn))
    elif whole:
        ends = (max(low, 0.0), min(high, max(2.0 * value, 10.0)))
    elif math.isfinite(low) and math.isfinite(high) and (low == 0.0 or abs(low) > TINY):
        ends = (low, high)
    elif value > 0.0 and low >= 0.0 and not (SMALL < value < LARGE and not _spans(unit)):
        powers = (value / 10.0**DECADES, min(value * 10.0**DECADES, high))
        return (max(powers[0], low), powers[1]), True
    elif value > 0.0 and low >= 0.0:
        most = min(_nice(3.0 * value), high)
        ends = (0.0 if low == 0.0 else max(low, 1e-3 * most), most)
    elif value > 0.0 and unit not in PLACES:
        ends = (max(low, 0.0), min(_nice(3.0 * value), high))
    else:
        reach = _nice(3.0 * abs(value)) if value else 1.0
        ends = (max(low, -reach), min(high, reach))
    return (min(ends[0], value), max(ends[1], value)), False


def _spans(unit: str) -> bool:
    """Stiffnesses and moduli span decades, wherever they are."""
    return unit in ("Pa", "N/m", "N/m^1.5", "N/m^n", "1/m", "m^4")


def _nice(x: float) -> float:
    """1, 2 or 5 times a power of ten, at least x."""
    base = 10.0 ** math.floor(math.log10(x))
    return next(k * base for k in (1.0, 2.0, 5.0, 10.0) if k * base >= x * (1.0 - 1e-9))
