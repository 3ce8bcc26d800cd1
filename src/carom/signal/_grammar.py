"""Reading of signals: text becomes a tree of numbers, names and operations. Nothing is executed, whatever it says.

condition    and, or, not over comparisons (<, <=, >, >=; several in a row all hold: 0 < x < 1)
sum          + and - over products; * and / over powers; ^ (or **) binds closest, then signs
number       1, 0.5, 2e-3, and with a unit: 3 mm, 30 deg, 2.5 m/s^2
name         words with dots: tip.y; a word with other characters in quotes: 'my contact'.force
call         abs(...), min(..., ...): the functions of expression.py
"""

from __future__ import annotations

import functools
import itertools
import re
from typing import NamedTuple

from .. import errors
from ._unit import BARE, SYMBOLS, Unit, unit_of

LONGEST, MOST_TOKENS, DEEPEST = 500, 200, 40
COMPARISONS = ("<=", ">=", "<", ">")
_TOKEN = re.compile(
    r"\s*(?:(?P<number>(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)"
    r"|(?P<name>(?:[^\W\d]\w*|'[^']*'|\"[^\"]*\")(?:\.(?:\w+|'[^']*'|\"[^\"]*\"))*)"
    r"|(?P<mark>\*\*|<=|>=|[-+*/^()<>,]))"
)
_PART = re.compile(r"'([^']*)'|\"([^\"]*)\"|(\w+)")
_UNIT = re.compile(r"\s*([^\W\d]\w*)(\^-?\d+)?")
_MORE = re.compile(r"\s*([*/ ])\s*([^\W\d]\w*)(\^-?\d+)?(?![.\w(])")


class Node(NamedTuple):
    """A number with its unit, a name, or an operation on others."""

    kind: str  # number, name, call, compare, and, or, not, +, -, *, /, ^, negative
    inside: tuple[Node, ...] = ()
    word: str = ""
    value: float = 0.0
    unit: Unit = BARE


class Token(NamedTuple):
    kind: str  # number, name, mark, end
    text: str
    at: int
    value: float = 0.0
    unit: Unit = BARE


def quoted(name: str) -> str:
    """A name as a part of a signal, whatever is in it.

    >>> print(quoted("Anna's foot"), quoted("left foot"))
    "Anna's foot" 'left foot'
    """
    return f'"{name}"' if "'" in name else f"'{name}'"


def refusal(text: str, why: str) -> errors.CaromError:
    """A sentence about a signal."""
    shown = text if len(text) <= 80 else text[:77] + "..."
    return errors.CaromError("".join(c if errors.writable(c) else "?" for c in f"signal '{shown}': {why}"))


@functools.lru_cache(maxsize=1000)
def parsed(text: str) -> Node:
    """The tree of a signal, or a sentence."""
    if not text.strip():
        raise refusal(text, "it is empty; write one such as tip.y or abs(com.vx) < 0.1")
    if len(text) > LONGEST:
        raise refusal(text, f"it has {len(text)} characters; at most {LONGEST} are read; take parts of it apart")
    return _Parser(text).whole()


def tokens(text: str) -> list[Token]:
    """Words, numbers (with the units that follow them) and marks."""
    out, at = list[Token](), 0
    while text[at:].strip():
        found = _TOKEN.match(text, at)
        if found is None:
            left = text[at:].strip()
            hint = "; a condition compares with < or >" if left[0] in "=!" else ""
            raise refusal(text, f"'{left[0]}' is not part of the language{hint}")
        kind = str(found.lastgroup)
        said, at = found.group(kind), found.end()
        value, unit = 0.0, BARE
        if kind == "number":
            value = float(said)
            factor, unit, at = _with_unit(text, at)
            value *= factor
        out.append(Token(kind, said, found.start(kind), value, unit))
    if len(out) > MOST_TOKENS:
        raise refusal(text, f"it has {len(out)} parts; at most {MOST_TOKENS} are read; take it apart")
    return [*out, Token("end", "", len(text))]


def _with_unit(text: str, at: int) -> tuple[float, Unit, int]:
    """Factor and unit of the number that ends here, and where what follows begins."""
    first = _UNIT.match(text, at)
    if first is None or first.group(1) not in SYMBOLS or text[first.end() :][:1] in (".", "("):
        return 1.0, BARE, at
    end = first.end()
    while True:
        more = _MORE.match(text, end)
        if more is None or more.group(2) not in SYMBOLS:
            break
        end = more.end()
    return *unit_of(" ".join(text[at:end].split())), end


class _Parser:
    """One pass from left to right; every rule of the grammar is a method."""

    def __init__(self, text: str) -> None:
        self.text, self.all, self.at, self.depth = text, tokens(text), 0, 0

    @property
    def now(self) -> Token:
        return self.all[self.at]

    def whole(self) -> Node:
        found = self.any_of()
        if self.now.kind != "end":
            raise self.unexpected()
        return found

    def unexpected(self) -> errors.CaromError:
        what = "it ends too early" if self.now.kind == "end" else f"'{self.now.text}' is not expected there"
        before = self.text[: self.now.at].rstrip()
        after = f" after '{before[-30:]}'" if before else " at its beginning"
        return refusal(self.text, f"{what}{after}")

    def took(self, *words: str) -> str:
        """The next token, if it is one of these."""
        if self.now.kind in ("mark", "name") and self.now.text in words:
            self.at += 1
            return self.all[self.at - 1].text
        return ""

    def any_of(self) -> Node:
        return self._several("or", self.all_of)

    def all_of(self) -> Node:
        return self._several("and", self.negation)

    def _several(self, word: str, part: functools.partial[Node] | object) -> Node:
        assert callable(part)
        found = [part()]
        while self.took(word):
            found.append(part())
        return found[0] if len(found) == 1 else Node(word, tuple(found))

    def negation(self) -> Node:
        if not self.took("not"):
            return self.comparison()
        with _Deeper(self):
            return Node("not", (self.negation(),))

    def comparison(self) -> Node:
        sides, marks = [self.sum()], list[str]()
        while mark := self.took(*COMPARISONS):
            marks.append(mark)
            sides.append(self.sum())
        pairs = [Node("compare", pair, m) for pair, m in zip(itertools.pairwise(sides), marks, strict=True)]
        return sides[0] if not pairs else pairs[0] if len(pairs) == 1 else Node("and", tuple(pairs))

    def sum(self) -> Node:
        found = self.product()
        while mark := self.took("+", "-"):
            found = Node(mark, (found, self.product()))
        return found

    def product(self) -> Node:
        found = self.signed()
        while mark := self.took("*", "/"):
            found = Node(mark, (found, self.signed()))
        return found

    def signed(self) -> Node:
        mark = self.took("-", "+")
        if not mark:
            return self.power()
        with _Deeper(self):
            inner = self.signed()
        return Node("negative", (inner,)) if mark == "-" else inner

    def power(self) -> Node:
        found = self.atom()
        if not self.took("^", "**"):
            return found
        with _Deeper(self):
            return Node("^", (found, self.signed()))

    def atom(self) -> Node:
        token = self.now
        if token.kind == "number":
            self.at += 1
            return Node("number", (), token.text, token.value, token.unit)
        if self.took("("):
            with _Deeper(self):
                found = self.any_of()
            self._closed()
            return found
        if token.kind != "name" or token.text in ("and", "or", "not"):
            raise self.unexpected()
        self.at += 1
        if self.took("("):
            return self._call(token.text)
        parts = [a or b or c for a, b, c in _PART.findall(token.text)]
        return Node("name", (), ".".join(parts))

    def _call(self, word: str) -> Node:
        if self.took(")"):
            return Node("call", (), word)
        with _Deeper(self):
            inside = [self.any_of()]
            while self.took(","):
                inside.append(self.any_of())
        self._closed()
        return Node("call", tuple(inside), word)

    def _closed(self) -> None:
        if not self.took(")"):
            raise self.unexpected() if self.now.kind != "end" else refusal(self.text, "a bracket is not closed")


class _Deeper:
    """One level further down, as long as there is room."""

    def __init__(self, parser: _Parser) -> None:
        self.parser = parser

    def __enter__(self) -> None:
        self.parser.depth += 1
        if self.parser.depth > DEEPEST:
            raise refusal(self.parser.text, f"it is nested more than {DEEPEST} levels deep; take it apart")

    def __exit__(self, *_: object) -> None:
        self.parser.depth -= 1
