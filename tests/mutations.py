"""Scenario files gone wrong: seeded mutations of valid texts, from one wrong number to random bytes.

The same seed and text give the same bytes. Nothing of carom is used here.
"""

import datetime
import random
import tomllib
from collections.abc import Callable, Iterator
from typing import Any

import tomli_w

Rng = random.Random
Place = tuple[Any, Any]  # a table or list, and the key or index in it

NUMBERS = (
    1e308, -1e308, 1e-320, float("nan"), float("inf"), -float("inf"), 0, 0.0, -0.0, 1, -1, 2**31, -(2**63), 2**64,
    1e30, -1e30, 1e29, 1e-30, 1e-300, 1e9, 1e-9, 0.5, 7.25, 10**399, -(10**399), 65, 257, 100_000_001,
)  # fmt: skip
TEXTS = (
    "", " ", "\n", "\u202e\u202bdrop", "\U0001f3be\U0001f916", "a\u0000b", "x" * 10_000, "../../etc/passwd", "ball.tip",
    "__import__('os').system('true')", "{0.__class__}", "%s%n", "$(true)", "nan", "1e308", "base", "free", "\ufeff",
    "é", "e\u0301", "[red]", "<script>alert(1)</script>", "C:\\nul", "rodas5p", "newton", "coulomb", "\u2028", "a.b.c",
    '"',
)  # fmt: skip
OTHERS: tuple[Any, ...] = (
    True, False, [], {}, [[]], [[], [1.0]], [{}], {"a": {"b": {}}}, [1, "a", []], datetime.date(2024, 2, 29),
    datetime.datetime(1979, 5, 27, 7, 32, tzinfo=datetime.UTC), datetime.time(7, 32), [0.0] * 20_000,
    ["a"] * 3, {"kind": "plane"}, {"law": "hertz"}, {"kind": "beam"}, {"": 1.0},
)  # fmt: skip


def mutated(text: str, seed: int) -> bytes:
    """A file made from a valid one by one to three mutations."""
    rng = random.Random(seed)
    family = rng.choices((_numbers_only, _tables, _text, _bytes), weights=(8, 7, 3, 2))[0]
    return family(text, rng)


def numbers_changed(text: str, seed: int) -> bytes:
    """A file in which only numbers are others, most of them possible ones: such a file often runs."""
    return _numbers_only(text, random.Random(seed))


# -- numbers -----------------------------------------------------------------------------------------------------------


def _numbers_only(text: str, rng: Rng) -> bytes:
    data = tomllib.loads(text)
    places = [(c, k) for c, k in _places(data) if isinstance(c[k], int | float) and not isinstance(c[k], bool)]
    for container, key in rng.sample(places, min(len(places), rng.choice((1, 1, 1, 2, 3)))):
        container[key] = _another(container[key], rng)
    return _written(data)


def _another(number: float, rng: Rng) -> Any:
    """A number that is slightly, wildly or hopelessly different; of the same type more often than not."""
    which = rng.random()
    if which < 0.25:
        return rng.choice(NUMBERS)
    if which < 0.4:
        return -number
    factor = 10.0 ** rng.uniform(-12.0, 12.0) if which < 0.6 else rng.uniform(0.2, 3.0)
    return round(number * factor) if isinstance(number, int) and rng.random() < 0.7 else number * factor


# -- tables ------------------------------------------------------------------------------------------------------------


def _tables(text: str, rng: Rng) -> bytes:
    data = tomllib.loads(text)
    for _ in range(rng.choice((1, 1, 2, 3))):
        places = list(_places(data))
        if places:
            rng.choice((_retype, _retype, _remove, _remove, _rename, _add, _swap, _copy, _wrap, _stretch))(places, rng)
    return _written(data)


def _places(data: Any) -> Iterator[Place]:
    """Every value in a tree of tables and lists."""
    keys = data.keys() if isinstance(data, dict) else range(len(data)) if isinstance(data, list) else ()
    for key in keys:
        yield data, key
        yield from _places(data[key])


def _retype(places: list[Place], rng: Rng) -> None:
    container, key = rng.choice(places)
    container[key] = rng.choice(rng.choice((NUMBERS, TEXTS, OTHERS)))


def _remove(places: list[Place], rng: Rng) -> None:
    container, key = rng.choice(places)
    del container[key]


def _rename(places: list[Place], rng: Rng) -> None:
    container, key = rng.choice(places)
    if isinstance(container, dict):
        container[rng.choice((*TEXTS, f"{key}s", str(key)[:-1], str(key).upper()))] = container.pop(key)


def _add(places: list[Place], rng: Rng) -> None:
    container, _ = rng.choice(places)
    value = rng.choice(rng.choice((NUMBERS, TEXTS, OTHERS)))
    names = ("damping", "friction", "motion", "ki", "rate", "limit", "max_events", "samples", "modes", "x", *TEXTS)
    if isinstance(container, dict):
        container[rng.choice(names)] = value
    else:
        container.append(value)


def _swap(places: list[Place], rng: Rng) -> None:
    (a, i), (b, j) = rng.choice(places), rng.choice(places)
    one, other = _deep_copy(a[i]), _deep_copy(b[j])  # one may lie inside the other
    a[i], b[j] = other, one


def _copy(places: list[Place], rng: Rng) -> None:
    """A table a second time, under another name."""
    container, key = rng.choice(places)
    if isinstance(container, dict):
        container[f"{key}2"] = _deep_copy(container[key])
    else:
        container.append(_deep_copy(container[key]))


def _wrap(places: list[Place], rng: Rng) -> None:
    container, key = rng.choice(places)
    for _ in range(rng.choice((1, 2, 25, 60))):
        container[key] = [container[key]] if rng.random() < 0.5 else {"a": container[key]}


def _stretch(places: list[Place], rng: Rng) -> None:
    lists = [(c, k) for c, k in places if isinstance(c[k], list) and c[k]]
    if lists:
        container, key = rng.choice(lists)
        container[key] = container[key] * rng.choice((2, 3, 100, 11_000))


def _deep_copy(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _deep_copy(each) for key, each in value.items()}
    return [_deep_copy(each) for each in value] if isinstance(value, list) else value


def _written(data: dict[str, Any]) -> bytes:
    return tomli_w.dumps(data).encode("utf-8", "surrogatepass")


# -- text --------------------------------------------------------------------------------------------------------------


def _text(text: str, rng: Rng) -> bytes:
    for _ in range(rng.choice((1, 1, 2))):
        text = rng.choice(_OF_TEXT)(text, rng)
    return text.encode("utf-8", "surrogatepass")


def _at_a_line(text: str, rng: Rng, insert: str) -> str:
    lines = text.split("\n")
    lines.insert(rng.randrange(len(lines) + 1), insert)
    return "\n".join(lines)


def _nested(text: str, rng: Rng) -> str:
    depth = rng.choice((10, 100, 1000, 20_000))
    opened, closed = rng.choice((("[", "]"), ("{a=", "}"), ("[", ""), ("{", "")))
    return _at_a_line(text, rng, f"deep = {opened * depth}1{closed * depth}")


def _dotted(text: str, rng: Rng) -> str:
    steps = ".".join("a" * rng.choice((30, 500)))
    return _at_a_line(text, rng, rng.choice((f"[{steps}]", f"{steps} = 1")))


def _escape(text: str, rng: Rng) -> str:
    """Escapes inside a text, lone surrogates among them."""
    quotes = [i for i, c in enumerate(text) if c == '"']
    at = rng.choice(quotes) if quotes else 0
    escape = rng.choice((r"\ud800", r"\u0000", r"\U0010FFFF", r"\U00110000", r"\x41", "\\"))
    return text[: at + 1] + escape + text[at + 1 :]


def _lines(text: str, rng: Rng) -> str:
    lines = text.split("\n")
    at, other = rng.randrange(len(lines)), rng.randrange(len(lines))
    which = rng.randrange(3)
    if which == 0:
        lines.insert(other, lines[at])
    elif which == 1:
        del lines[at]
    else:
        lines[at], lines[other] = lines[other], lines[at]
    return "\n".join(lines)


def _digits(text: str, rng: Rng) -> str:
    places = [i for i, c in enumerate(text) if c.isdigit()]
    at = rng.choice(places) if places else 0
    return text[:at] + "9" * rng.choice((3, 400, 5000)) + text[at:]


def _word(text: str, rng: Rng) -> str:
    at = rng.randrange(max(len(text), 1))
    return text[:at] + rng.choice(TEXTS) + text[at + rng.randrange(4) :]


_OF_TEXT: tuple[Callable[[str, Rng], str], ...] = (
    _nested,
    _dotted,
    _escape,
    _lines,
    _digits,
    _word,
    lambda text, rng: "\ufeff" + text,
    lambda text, rng: text.replace("\n", rng.choice(("\r\n", "\r"))),
    lambda text, rng: text + text,
    lambda text, rng: "",
)


# -- bytes -------------------------------------------------------------------------------------------------------------


def _bytes(text: str, rng: Rng) -> bytes:
    raw = bytearray(text.encode())
    which = rng.randrange(4)
    if which == 0:
        return bytes(raw[: rng.randrange(len(raw))])
    if which == 1:
        for _ in range(rng.choice((1, 1, 3, 30))):
            raw[rng.randrange(len(raw))] ^= 1 << rng.randrange(8)
        return bytes(raw)
    if which == 2:
        at = rng.randrange(len(raw))
        return bytes(raw[:at] + rng.randbytes(rng.choice((1, 4, 100))) + raw[at:])
    if rng.random() < 0.3:
        return rng.randbytes(rng.choice((0, 1, 1000)))
    return text.encode(rng.choice(("utf-16", "utf-32")))
