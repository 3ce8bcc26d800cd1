"""Serving the studio on this machine: a port, a key, a browser."""

from __future__ import annotations

import errno
import secrets
import socket
import webbrowser
from collections.abc import Callable
from importlib.util import find_spec

from .._arguments import Count, Name
from ..errors import CaromError

ADDRESS = "127.0.0.1"
LONGEST_MESSAGE = 8_000_000  # [byte]: a scenario of the longest text


def serve(name: Name, port: Count | None, browser: bool, say: Callable[[str], None]) -> None:
    """Show a scenario until Ctrl-C; `say` is told the address."""
    needed()
    import uvicorn

    from ._app import application
    from ._desk import Desk

    desk = Desk(name)  # a mistake in the file is told before anything is opened
    with listening(port) as open_socket:
        own = int(open_socket.getsockname()[1])
        key = secrets.token_urlsafe(24)
        address = f"http://{ADDRESS}:{own}/?key={key}"
        app = application(desk, own, key)
        config = uvicorn.Config(
            app, log_level="warning", ws_max_size=LONGEST_MESSAGE, timeout_graceful_shutdown=1, server_header=False
        )
        say(f"carom studio: {address}")
        if browser and not webbrowser.open(address):
            say("no browser could be opened here; open this address in one on this machine")
        say("The address works once, for one browser. Ctrl-C ends the studio.")
        uvicorn.Server(config).run(sockets=[open_socket])


def needed() -> None:
    """Refuse before anything is opened."""
    missing = [name for name in ("starlette", "uvicorn", "websockets") if find_spec(name) is None]
    if missing:
        raise CaromError(f"carom studio needs {' and '.join(missing)}, not installed; run: pip install 'carom[studio]'")


def listening(port: Count | None) -> socket.socket:
    """A socket on this machine alone: at the port that is asked for, or at one that is free."""
    if port is not None and not 1 <= port <= 65535:
        raise CaromError(f"port is {port}; it must lie in [1, 65535]; leave it out, and a free one is taken")
    made = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        made.bind((ADDRESS, port or 0))
        made.listen(64)
    except OSError as trouble:
        made.close()
        reasons = {errno.EADDRINUSE: "is in use", errno.EACCES: "belongs to the system"}
        why = reasons.get(trouble.errno or 0, f"cannot be used ({trouble.strerror})")
        raise CaromError(f"port {port} {why}; give another one, or leave --port out, and a free one is taken") from None
    return made
