"""Where compiled programs are kept, and whose they are.

A compiled program is code: whoever can write one into the folder runs code in the next simulation. So the folder must
be the user's own, closed to others, and what carom reads from it carries a tag that only the user's key makes.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import hmac
import os
import secrets
import stat
import warnings
from pathlib import Path

OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH
OTHERS_AT_ALL = stat.S_IRWXG | stat.S_IRWXO
KEY, TAG = 32, 32  # [byte] of the key, and of a tag (SHA-256)


class Refused(Exception):
    """A place that carom must not read programs from; the words say why."""


# -- folders -----------------------------------------------------------------------------------------------------------


def folder(name: str) -> Path | None:
    """The folder `name` of carom's cache, made if it is missing; None, and one warning, where it cannot be trusted."""
    if not hasattr(os, "geteuid"):  # nothing here tells whose a folder is
        return None
    own = _own(home())
    return None if own is None else _own(own / name)


def own_files(name: str) -> Path | None:
    """The folder `name`, rid of all that others can have written: for programs that JAX keeps, which have no tag."""
    path = folder(name)
    if path is None:
        return None
    try:
        for entry in os.scandir(path):
            with contextlib.suppress(FileNotFoundError):  # another process was faster
                seen = entry.stat(follow_symlinks=False)
                theirs = stat.S_ISLNK(seen.st_mode) or seen.st_uid != os.geteuid()
                if theirs or seen.st_mode & OTHERS_WRITE:
                    os.unlink(entry.path)
    except OSError as trouble:
        _warn(f"compiled programs are not kept: {path} holds files of others that cannot be removed: {trouble}")
        return None
    return path


def home() -> Path:
    """Carom's part of the user's cache. XDG_CACHE_HOME counts if it is absolute, as its specification asks."""
    given = os.environ.get("XDG_CACHE_HOME", "")
    return Path(given if os.path.isabs(given) else os.path.expanduser("~/.cache")) / "carom"


@functools.cache
def _own(path: Path) -> Path | None:
    """Looked at once in a process, so that one sentence says what is wrong with it."""
    try:
        if not path.is_absolute():
            raise Refused("there is no home folder")
        with contextlib.suppress(FileExistsError):
            path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            path.mkdir(mode=0o700)
        _refuse_foreign(path)
        return path
    except Refused as why:
        said = str(why)
    except OSError as trouble:
        said = (trouble.strerror or type(trouble).__name__).lower()
    _warn(f"compiled programs are not kept, so every start compiles again: {path}: {said}")
    return None


def _refuse_foreign(path: Path) -> None:
    """A folder that somebody else owns, can write to, or can put another one in the place of."""
    for seen in (os.lstat(path), os.stat(path)):  # a link, and where it leads
        if seen.st_uid != os.geteuid():
            raise Refused("it belongs to another user")
    if not stat.S_ISDIR(seen.st_mode):
        raise Refused("it is not a folder")
    if seen.st_mode & OTHERS_WRITE:
        raise Refused("others can write to it; remove it, as what is in it may be theirs")
    for above in Path(os.path.realpath(path)).parents:
        _refuse_above(above, os.stat(above))
    if seen.st_mode & OTHERS_AT_ALL:  # made by an older carom, or by hand: nobody else has to look into it
        os.chmod(path, stat.S_IMODE(seen.st_mode) & ~OTHERS_AT_ALL)


def _refuse_above(folder: Path, seen: os.stat_result) -> None:
    """A folder in which somebody else can put another one in the place of the user's: its owner, or who may write.

    Where the sticky bit is set, as in /tmp, only owners may rename what is theirs.
    """
    if seen.st_uid not in (0, os.geteuid()):
        raise Refused(f"{folder} belongs to another user")
    if seen.st_mode & OTHERS_WRITE and not seen.st_mode & stat.S_ISVTX:
        who = "everybody" if seen.st_mode & stat.S_IWOTH else "a group"
        raise Refused(f"{who} can write to {folder} (chmod go-w takes that away)")


def _warn(sentence: str) -> None:
    from .errors import CaromWarning

    cure = "set XDG_CACHE_HOME to a folder of your own"
    # Where in carom it was noticed is of no use to anybody; a name in brackets is not looked for among files.
    warnings.warn_explicit(f"{sentence}; {cure}", CaromWarning, "<carom>", 1)


# -- files -------------------------------------------------------------------------------------------------------------


def seal(path: Path, data: bytes) -> bytes:
    """What to write to `path`: a tag, which only the user's key makes for this name and content, then the data."""
    return _tag(path, data) + data


def unsealed(path: Path) -> bytes | None:
    """The data that `seal` was given; None if there is no such file, or it is not as the user's carom wrote it."""
    try:
        content = _read(path, OTHERS_WRITE)
        if content is None or not hmac.compare_digest(content[:TAG], _tag(path, content[TAG:])):
            return None
        return content[TAG:]
    except OSError:
        return None


def _tag(path: Path, data: bytes) -> bytes:
    return hmac.digest(_key(), path.name.encode() + b"\0" + data, hashlib.sha256)


def _key() -> bytes:
    """The user's key. One that somebody else may know is no key: it goes, and with it whatever was sealed with it."""
    path = home() / "key"
    found = None
    if os.path.lexists(path):
        with contextlib.suppress(OSError):
            found = _read(path, OTHERS_AT_ALL)
        if found is None or len(found) != KEY:
            path.unlink()
    if found is None or len(found) != KEY:
        _make_key(path)
        found = _read(path, OTHERS_AT_ALL)
    if found is None or len(found) != KEY:
        raise PermissionError(f"no key can be kept in {path}")
    return found


def _make_key(path: Path) -> None:
    """It appears whole, or that of another process stays: a link is never made over a file."""
    half = path.with_name(f".key.{secrets.token_hex(8)}")
    handle = os.open(half, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(secrets.token_bytes(KEY))
        with contextlib.suppress(FileExistsError):
            os.link(half, path)
    finally:
        half.unlink(missing_ok=True)


def _read(path: Path, forbidden: int) -> bytes | None:
    """The content of the user's own file, unless others have these rights; links are not followed."""
    handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    with os.fdopen(handle, "rb") as file:
        seen = os.fstat(handle)
        own = stat.S_ISREG(seen.st_mode) and seen.st_uid == os.geteuid() and not seen.st_mode & forbidden
        return file.read() if own else None
