"""What the page asks and what it is told, over one WebSocket; one page at a time drives."""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ..errors import CaromError
from ..report._data import as_json
from ..scenario.places import ScenarioError, dotted
from ._desk import Asked, Desk, shown
from ._worker import Job, Superseded, Worker

if TYPE_CHECKING:
    from starlette.websockets import WebSocket

LOOK = 0.7  # [s] between two looks at the file
SPEAK = 0.15  # [s] of work before it is told about, and between two tellings
RUNS, TEXTS = ("run", "look"), ("toml", "python")  # what a page asks for: the latest counts; shows nothing else
OURS = "carom made a mistake of its own here, and what was shown before stays; the terminal of carom studio says where"
log = logging.getLogger("carom.studio")


class Conversation:
    """The desk, the worker, and the page that drives them."""

    def __init__(self, desk: Desk) -> None:
        self.desk, self.worker = desk, Worker()
        self.driver: WebSocket | None = None
        self.loop: asyncio.AbstractEventLoop | None = None
        self._spoke = 0.0

    # -- pages ---------------------------------------------------------------------------------------------------------

    async def serve(self, socket: WebSocket) -> None:
        """Talk with a page until it goes away."""
        from starlette.websockets import WebSocketDisconnect

        await socket.accept()
        self.loop = asyncio.get_running_loop()
        if self.driver is None:
            self._drive(socket)
        else:
            await socket.send_text(as_json({"tell": "busy"}))
        watching = asyncio.create_task(self._watch_file(socket))
        try:
            while True:
                await self._heard(socket, await socket.receive_text())
        except (WebSocketDisconnect, KeyError):  # a message without text
            pass
        finally:
            watching.cancel()
            if self.driver is socket:
                self.driver = None
                self.worker.stop()

    def _drive(self, socket: WebSocket) -> None:
        self.driver = socket
        self._ask(0, lambda: self._open(0, lambda: None, self.desk.asked))

    async def _watch_file(self, socket: WebSocket) -> None:
        while True:
            await asyncio.sleep(LOOK)
            if self.driver is socket:
                news = await asyncio.to_thread(self.desk.news)
                if news:
                    self._tell({"tell": "file", "words": news})

    async def _heard(self, socket: WebSocket, text: str) -> None:
        """One message of a page. What is not understood is answered by a sentence."""
        try:
            said = json.loads(text)
            kind, number = said["ask"], int(said.get("number", 0))
        except (ValueError, KeyError, TypeError, RecursionError):
            await socket.send_text(
                as_json({"tell": "refused", "number": 0, "words": "that was no message of this page"})
            )
            return
        if kind == "take" and self.driver is not socket:
            before, self.driver = self.driver, None
            if before is not None:
                with contextlib.suppress(RuntimeError):
                    await before.send_text(as_json({"tell": "taken"}))
            self._drive(socket)
        elif self.driver is socket:
            self._do(kind, number, said)

    # -- what it asks --------------------------------------------------------------------------------------------------

    def _do(self, kind: str, number: int, said: dict[str, Any]) -> None:
        desk, nothing = self.desk, Asked({})
        acts: dict[str, Callable[[], None]] = {
            "run": lambda: self._run(number, _asked(said)),
            "look": lambda: self._open(number, lambda: None, _asked(said)),
            "open": lambda: self._open(number, lambda: desk.take(_shipped(said.get("name"))), nothing),
            "upload": lambda: self._open(
                number, lambda: desk.take_text(_text(said, "text"), _text(said, "name")), nothing
            ),
            "reload": lambda: self._open(number, desk.reload, nothing),
            "toml": lambda: self._tell({"tell": "text", "kind": "toml", "number": number, "text": desk.toml()}),
            "python": lambda: self._tell({"tell": "text", "kind": "python", "number": number, "text": desk.python()}),
        }
        if kind == "stop":
            self.worker.stop()
            self._tell({"tell": "stopped", "number": number})
        elif kind in acts:
            self._ask(number, acts[kind], shows=kind not in TEXTS, kept=kind not in RUNS)

    def _ask(self, number: int, act: Callable[[], None], *, shows: bool = True, kept: bool = True) -> None:
        """Have it done by the worker; mistakes are sentences, and nothing ends the page."""

        def do() -> None:
            try:
                act()
            except CaromError as refusal:
                path = dotted(refusal.path) if isinstance(refusal, ScenarioError) and refusal.path else ""
                self._tell({"tell": "refused", "number": number, "words": str(refusal), "path": path})
            except MemoryError:
                self._tell({"tell": "refused", "number": number, "words": "the memory of this machine is used up"})
            except Superseded:
                raise
            except Exception as trouble:
                log.exception("the studio could not do what the page asked for")
                self._tell({"tell": "refused", "number": number, "words": f"{OURS} ({type(trouble).__name__})"})

        self.worker.ask(
            Job(do, lambda words, spent, share: self._speak(number, words, spent, share), shows=shows, kept=kept)
        )

    def _open(self, number: int, take: Callable[[], None], asked: Asked) -> None:
        """Take another scenario, or none, and show it."""
        take()
        self._tell({"tell": "scenario", "number": number} | self.desk.told(asked))
        self._run(number, asked)

    def _run(self, number: int, asked: Asked) -> None:
        sides = self.desk.sides(asked)
        for k, scenario in enumerate(sides):
            began = time.perf_counter()
            found = shown(scenario, asked.quick)
            spent = time.perf_counter() - began
            self.desk.asked, last = asked, k + 1 == len(sides)  # what is written is what has run
            self._tell(
                {
                    "tell": "run",
                    "number": number,
                    "side": k,
                    "last": last,
                    "quick": asked.quick,
                    "spent": spent,
                    **found,
                }
            )

    # -- what it is told -----------------------------------------------------------------------------------------------

    def _speak(self, number: int, words: str, spent: float, share: float | None) -> None:
        now = time.monotonic()
        compiling = share is None
        if not compiling and (spent < SPEAK or now - self._spoke < SPEAK):
            return
        self._spoke = now
        self._tell({"tell": "working", "number": number, "words": words, "share": share})

    def _tell(self, message: dict[str, Any]) -> None:
        """From any thread, to the page that drives now."""
        socket, loop = self.driver, self.loop
        if socket is None or loop is None or loop.is_closed():
            return
        text = as_json(message)

        async def send() -> None:
            with contextlib.suppress(Exception):  # the page has gone: nobody misses it
                await socket.send_text(text)

        loop.call_soon_threadsafe(lambda: loop.create_task(send()))


def _asked(said: dict[str, Any]) -> Asked:
    changes, beside = said.get("changes", {}), said.get("beside")
    if not isinstance(changes, dict) or not isinstance(beside, dict | None):
        raise CaromError("changes must be a table of paths and values")
    return Asked(changes, beside, bool(said.get("quick", False)))


def _shipped(name: object) -> str:
    """Only shipped scenarios are opened by name: files come from the command line, or as their text."""
    from ..errors import name_in
    from ..scenario.library import names

    name_in("scenario", name, tuple(names()))
    return str(name)


def _text(said: dict[str, Any], key: str) -> str:
    value = said.get(key)
    if not isinstance(value, str):
        raise CaromError(f"{key} of an upload is missing; it must be the text of a TOML file")
    return value if key == "text" else value[:200]
