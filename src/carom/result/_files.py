"""Files that appear complete or not at all."""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
import signal
import sys
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ..errors import CaromError


class FileError(CaromError):
    """A file or folder that cannot be written."""


@contextlib.contextmanager
def written(path: Path) -> Iterator[Path]:
    """A temporary name beside `path`, renamed to it when everything went well, removed otherwise."""
    path = Path(path)
    if path.exists() and not path.is_file():  # a device must not be replaced by a file
        raise FileError(f"{path} cannot be written: it is {'a folder' if path.is_dir() else 'not a file'}; name one")
    try:
        handle, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=f".part{path.suffix}", dir=path.parent)
        os.close(handle)
    except OSError as trouble:
        raise FileError(sentence(path, trouble)) from None
    half = Path(name)
    try:
        yield half
        os.chmod(half, 0o666 & ~_umask())
        os.replace(half, path)
    except OSError as trouble:
        raise FileError(sentence(path, trouble)) from None
    finally:
        half.unlink(missing_ok=True)


def write_text(path: Path, text: str) -> None:
    """A text file, complete or not at all."""
    with written(path) as half:
        half.write_text(text, encoding="utf-8")


def refuse_unwritable(path: Path) -> None:
    """Before the work is done, not after it."""
    if path.is_dir():
        raise FileError(f"{path} is a folder; give the name of a file")
    if not os.access(path.parent, os.W_OK):
        missing = errno.EACCES if path.parent.is_dir() else errno.ENOENT
        raise FileError(sentence(path, OSError(missing, os.strerror(missing))))


def sentence(path: Path, trouble: OSError) -> str:
    """What the system answered, and what to do."""
    why = (trouble.strerror or type(trouble).__name__).lower()
    return f"{path} cannot be written: {why}; {CURES.get(trouble.errno or 0, 'check the path')}"


ROOM, RIGHTS = "make room, or choose another disk", "choose a folder that you may write to"
CURES = {
    errno.ENOSPC: ROOM,
    errno.EDQUOT: ROOM,
    errno.EFBIG: ROOM,
    errno.EACCES: RIGHTS,
    errno.EPERM: RIGHTS,
    errno.EROFS: RIGHTS,
    errno.ENOENT: "make its folder first",
    errno.EEXIST: "choose another name",
}


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


@contextlib.contextmanager
def uninterrupted(words: str = "") -> Iterator[None]:
    """Ctrl-C inside takes effect when the work is done, which these words say; a second one at once."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.getsignal(signal.SIGINT)
    heard: list[int] = []

    def later(number: int, frame: Any) -> None:
        if heard:
            raise KeyboardInterrupt
        heard.append(number)
        with contextlib.suppress(RuntimeError):  # it came while something else was printed
            print(f"\n{words}" if words else "", file=sys.stderr)

    signal.signal(signal.SIGINT, later)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
    if heard:
        raise KeyboardInterrupt


class Folder:
    """A folder that is filled under a temporary name beside its own and gets its own name when it is done."""

    def __init__(self, path: Path, replace: bool = False) -> None:
        self.path, self.replace = Path(path), replace
        try:
            self._refuse()
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self.half = Path(tempfile.mkdtemp(prefix=f".{self.path.name}.", suffix=".part", dir=self.path.parent))
        except OSError as trouble:
            raise FileError(sentence(self.path, trouble)) from None

    def _refuse(self) -> None:
        """What is there already is left alone, unless it may go."""
        if not os.path.lexists(self.path) or (self.path.is_dir() and not any(self.path.iterdir())):
            return  # an empty folder may be filled
        if not self.replace:
            raise FileError(
                f"{self.path} exists already; nothing was written; choose another folder with --out, or give --replace"
            )
        if not self.path.is_dir():
            raise FileError(f"{self.path} is a file; give the name of a folder")
        if any(self.path.iterdir()) and not (self.path / "scenario.toml").exists():
            raise FileError(
                f"{self.path} holds files that carom did not write, and was left as it is; choose another folder"
            )

    def finish(self) -> None:
        """Give it its name; an older folder of that name goes only after the new one stands."""
        old = self.half.with_suffix(".old")
        try:
            os.chmod(self.half, 0o777 & ~_umask())
            self._refuse()  # it may have come while the work was done
            if self.path.exists():
                os.rename(self.path, old)
            os.rename(self.half, self.path)
        except OSError as trouble:
            if old.exists() and not self.path.exists():
                os.rename(old, self.path)
            raise FileError(sentence(self.path, trouble)) from None
        shutil.rmtree(old, ignore_errors=True)

    def discard(self) -> None:
        shutil.rmtree(self.half, ignore_errors=True)
