"""Mistakes of users, answered by a sentence: which object, what value, which rule, what to do."""

from __future__ import annotations

import contextlib
import contextvars
import dataclasses
import functools
import sys
import unicodedata
import warnings
from collections.abc import Callable, Iterator, Sequence
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from .quantities import Flag

if TYPE_CHECKING:
    from jaxtyping import PyTree


class CaromError(ValueError):
    """Something in the input breaks a rule; the message says which, and the cure.

    `field` is the name of the argument that is to blame, `given` the unknown name that was given; both as data, so that
    whoever knows the file finds the place.
    """

    def __init__(self, message: str = "", *, field: str = "", given: str = "") -> None:
        super().__init__(message)
        self.field, self.given = field, given

    interrupted: ClassVar[bool] = False  # was it Ctrl-C?


class CaromWarning(UserWarning):
    """A result that is as asked for, but that its user should look at."""


def traced(*values: object) -> bool:
    """Does JAX trace a number in them? Not before it is imported, which help and lists never do."""
    jax = sys.modules.get("jax")
    return jax is not None and any(isinstance(leaf, jax.core.Tracer) for leaf in jax.tree.leaves(values))


def known(value: object) -> np.ndarray | None:
    """The numbers behind `value`, or None while JAX traces it (a traced number has no value to check)."""
    return None if traced(value) else np.asarray(value, dtype=float)


def library_for(*values: object) -> Any:
    """NumPy for known numbers; JAX's for traced ones.

    Each operation of JAX on known numbers is a program that is compiled, for some 20 ms, and again for each shape.
    """
    if not traced(*values):
        return np
    import jax.numpy as jnp

    return jnp


def array(value: object) -> Any:
    """Numbers as an array of JAX's; known ones go through NumPy, because JAX compiles a program for each shape."""
    import jax
    import jax.numpy as jnp

    as_it_is = traced(value) or isinstance(value, jax.Array)
    return jnp.asarray(value if as_it_is else np.asarray(value, dtype=float), dtype=float)


_FLAWS: contextvars.ContextVar[list[Any] | None] = contextvars.ContextVar("flaws", default=None)


@contextlib.contextmanager
def collecting() -> Iterator[list[Any]]:
    """Rules that traced numbers break, as traced booleans: in a batch every lane has numbers of its own."""
    flaws: list[Any] = []
    token = _FLAWS.set(flaws)
    try:
        yield flaws
    finally:
        _FLAWS.reset(token)


def flaw(broken: Flag) -> None:
    """Note that a rule is broken where this traced boolean says so."""
    flaws = _FLAWS.get()
    if flaws is not None:
        flaws.append(broken)


def broken(tree: PyTree) -> Any:
    """Does a number in `tree` break a rule of the object that holds it? For objects that were made somewhere else.

    Rules of laws, that is: those that stand in a class's `__check_init__`. They have warned already.
    """
    with collecting() as flaws, warnings.catch_warnings():
        warnings.simplefilter("ignore", CaromWarning)
        for node in _nodes(tree):
            for kind in type(node).__mro__:
                check = vars(kind).get("__check_init__")
                if check is not None:
                    check(node)
    import jax.numpy as jnp

    return functools.reduce(lambda a, b: a | b, flaws, jnp.asarray(False))


def _nodes(tree: PyTree) -> Iterator[Any]:
    """An object, and all that it holds."""
    yield tree
    if dataclasses.is_dataclass(tree):
        inner = [getattr(tree, field.name, None) for field in dataclasses.fields(tree)]
    elif isinstance(tree, list | tuple):
        inner = list(tree)
    else:
        inner = list(tree.values()) if isinstance(tree, dict) else []
    for each in inner:
        yield from _nodes(each)


def refuse_if(wrong: Flag, sentence: Callable[[], str], field: str = "") -> None:
    """Refuse, with a sentence, what breaks a rule between numbers; in a lane, where they are traced, a flaw."""
    if traced(wrong):
        flaw(wrong)
    elif bool(wrong):
        raise CaromError(sentence(), field=field)


def number(owner: str, field: str, value: object, *, above: float | None = None, least: float | None = None) -> None:
    """Refuse a scalar that is not a finite number, not > `above` or not >= `least`."""
    try:
        array = known(value)
        if value is None or isinstance(value, str | bytes):
            raise TypeError
    except (TypeError, ValueError):
        raise CaromError(f"{field} of {owner} is {value!r}; it must be a number", field=field) from None
    if array is None:
        import jax.numpy as jnp

        low = -jnp.inf if above is None else above
        x = jnp.asarray(value)
        flaw(~(jnp.isfinite(x) & (x > low) & (x >= (-jnp.inf if least is None else least))))
        return
    if array.shape != ():
        raise CaromError(f"{field} of {owner} has shape {array.shape}; it must be a single number", field=field)
    shown = f"{field} of {owner} is {float(array):g}"
    if not np.isfinite(array):
        raise CaromError(f"{shown}; it must be a finite number; check how it was computed", field=field)
    if above is not None and not array > above:
        raise CaromError(f"{shown}; it must be greater than {above:g}", field=field)
    if least is not None and not array >= least:
        raise CaromError(f"{shown}; it must be at least {least:g}", field=field)


def names(all_of: str, given: Sequence[str], cure: str = "rename one") -> None:
    """Refuse names that could not be told apart, or not be written into tables and files."""
    for name in given:
        if not isinstance(name, str):
            raise CaromError(f"one of the {all_of} is called {name!r}; a name is a text, such as 'tip'")
        if not writable(name):
            raise CaromError(f"one of the {all_of} is called {name!r}; names hold only printable characters")
        if given.count(name) > 1:
            raise CaromError(f"{given.count(name)} {all_of} are called '{name}'; names must differ; {cure}")


def listed(what: str, given: object) -> tuple[Any, ...]:
    """What is named, in a list; one name alone may stand without brackets."""
    if isinstance(given, str):
        return (given,)
    if not isinstance(given, list | tuple):
        raise CaromError(f"{what} is {given!r}; it must be a name, or a list of names")
    return tuple(given)


def writable(text: str) -> bool:
    """Can it stand in one line of a table or a file? Control characters, and those that turn text round, cannot."""
    return not any(unicodedata.category(c) in ("Cc", "Cs", "Zl", "Zp") or c in TURNING for c in text)


TURNING = "\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"


def vector(owner: str, field: str, value: object, size: int) -> None:
    """Refuse anything but `size` finite numbers."""
    shape = _shape(value)
    if shape != str((size,)):
        raise CaromError(
            f"{field} of {owner} has shape {shape}; it must be {size} number{'s' * (size != 1)}, shape ({size},)",
            field=field,
        )
    try:
        array = known(value)
    except (TypeError, ValueError):
        raise CaromError(f"{field} of {owner} is {value!r}; every entry must be a number", field=field) from None
    if array is None:
        import jax.numpy as jnp

        entries: Any = value
        flaw(~functools.reduce(lambda a, b: a & b, [jnp.isfinite(entries[i]) for i in range(size)], jnp.asarray(True)))
    elif not np.all(np.isfinite(array)):
        raise CaromError(f"{field} of {owner} is {array.tolist()}; every entry must be a finite number", field=field)


def _is_scalar(x: Any) -> bool:
    return x.shape == () if hasattr(x, "shape") else np.ndim(x) == 0


def _shape(value: Any) -> str:
    """Shape as text; entries of a list or tuple may be traced."""
    if isinstance(value, list | tuple) and all(_is_scalar(x) for x in value):
        return str((len(value),))
    try:
        return str(np.shape(value))
    except ValueError:
        return "(ragged)"


def name_in(what: str, name: object, names: Sequence[str]) -> None:
    """Refuse a name that is not in the list, and suggest the nearest one."""
    if not isinstance(name, str):
        raise CaromError(f"{what} is given as {name!r}; it must be a name, one of {', '.join(map(repr, names))}")
    if name in names:
        return
    if not names:
        raise CaromError(f"there is no {what} '{name}', nor any other here; add it first", given=name)
    near = get_close_matches(name, names, n=1)
    hint = f"did you mean '{near[0]}'?" if near else "choose one of these"
    listed = ", ".join(f"'{n}'" for n in names)
    raise CaromError(f"there is no {what} '{name}'; known: {listed}; {hint}", given=name)
