"""Who may use the studio: one browser on this machine, which has shown the key once.

The address that is opened has a key. The first browser that shows it gets a cookie, and the key is worth nothing any
more: whoever reads the address later, in a list of processes or over a shoulder, is refused. Pages of other origins can
send requests here, but neither read the cookie nor come with this origin; a foreign name that leads to this machine
(DNS rebinding) is refused by its Host header.
"""

from __future__ import annotations

import hmac
import secrets
from http.cookies import CookieError, SimpleCookie
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

SAFE = {
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
}
NO_KEY = (
    "This studio belongs to another browser, or the address lacks its key. Use the address that carom studio printed, "
    "once; to use another browser, start carom studio again."
)
ELSEWHERE = "This request comes from another page or for another name than the studio's; it was refused."


class Guard:
    """Lets through what comes from the studio's own page in the browser that has the cookie."""

    def __init__(self, app: ASGIApp, port: int, key: str) -> None:
        self.app, self.port, self.key = app, port, key
        self.secret = secrets.token_urlsafe(32)
        self.spent = False  # has a browser shown the key?
        self.hosts = {f"{name}:{port}" for name in ("127.0.0.1", "localhost", "[::1]")}
        self.cookie = f"carom-studio-{port}"  # cookies do not know of ports

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        heads = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]}
        why, known = self._refusal(scope, heads)
        if why:
            await _refuse(scope, receive, send, why)
            return

        async def guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message["headers"], *self._heads(known, heads["host"])]
            await send(message)

        if scope["type"] == "http" and not known:
            self.spent = True
        await self.app(scope, receive, guarded if scope["type"] == "http" else send)

    def _refusal(self, scope: Scope, heads: dict[str, str]) -> tuple[str, bool]:
        """Why it is refused, empty if it is not, and whether the browser is known."""
        host, origin = heads.get("host", ""), heads.get("origin")
        if host not in self.hosts or [name for name, _ in scope["headers"]].count(b"host") != 1:
            return ELSEWHERE, False
        if origin is not None and origin != f"http://{host}":
            return ELSEWHERE, False
        acts = scope["type"] == "websocket" or scope["method"] not in ("GET", "HEAD")
        if acts and origin is None:
            return ELSEWHERE, False
        entrance = scope["type"] == "http" and scope["path"] == "/" and not acts
        if heads.get("sec-fetch-site", "none") not in ("none", "same-origin") and not entrance:
            return ELSEWHERE, False
        if _same(self._cookie(heads), self.secret):
            return "", True
        shown = parse_qs(scope.get("query_string", b"").decode("latin-1")).get("key", [""])[0]
        if entrance and not self.spent and _same(shown, self.key):
            return "", False
        return NO_KEY, False

    def _cookie(self, heads: dict[str, str]) -> str:
        try:
            found = SimpleCookie(heads.get("cookie", "")).get(self.cookie)
        except CookieError:
            return ""
        return "" if found is None else found.value

    def _heads(self, known: bool, host: str) -> list[tuple[bytes, bytes]]:
        out = dict(SAFE)
        if not known:
            out["set-cookie"] = f"{self.cookie}={self.secret}; HttpOnly; SameSite=Strict; Path=/"
        return [(name.encode(), value.encode()) for name, value in out.items()]


def _same(given: str, wanted: str) -> bool:
    return hmac.compare_digest(given.encode("utf-8", "replace"), wanted.encode())


async def _refuse(scope: Scope, receive: Receive, send: Send, why: str) -> None:
    if scope["type"] == "websocket":
        await receive()
        await send({"type": "websocket.close", "code": 4403, "reason": "refused"})
        return
    body: Any = f"{why}\n".encode()
    heads = [(b"content-type", b"text/plain; charset=utf-8"), *((k.encode(), v.encode()) for k, v in SAFE.items())]
    await send({"type": "http.response.start", "status": 403, "headers": heads})
    await send({"type": "http.response.body", "body": body})
