"""The application: a page, its scripts, a socket, and a report."""

from __future__ import annotations

import asyncio
from html import escape
from importlib import resources
from string import Template
from typing import TYPE_CHECKING, Any

from ..experiment.comparing._shared_assets import shared_script, shared_style
from ..scenario.library import names, shipped_tables
from ._conversation import Conversation
from ._desk import Desk
from ._guard import Guard
from ._worker import Job

if TYPE_CHECKING:
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import Response
    from starlette.websockets import WebSocket

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self' ws://{host}; img-src 'self' data:; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
FRAMED = "frame-ancestors 'none'"  # a report brings the rest of its policy with it
REPORT_SECONDS = 600.0


def application(desk: Desk, port: int, key: str) -> Guard:
    """The studio as an ASGI application behind its guard."""
    talk = Conversation(desk)
    return Guard(_routes(talk), port, key)


def _routes(talk: Conversation) -> Starlette:
    from starlette.applications import Starlette
    from starlette.responses import Response
    from starlette.routing import Route, WebSocketRoute

    script, style, page = studio_script(), studio_style(), studio_page()

    def text(content: str, kind: str) -> Any:
        async def answer(request: Request) -> Response:
            policy = POLICY.format(host=request.headers["host"])
            return Response(content, media_type=kind, headers={"content-security-policy": policy})

        return answer

    async def report(request: Request) -> Response:
        return await _report(talk)

    async def socket(ws: WebSocket) -> None:
        await talk.serve(ws)

    return Starlette(
        routes=[
            Route("/", text(page, "text/html")),
            Route("/studio.js", text(script, "text/javascript")),
            Route("/studio.css", text(style, "text/css")),
            Route("/report", report),
            WebSocketRoute("/socket", socket),
        ]
    )


async def _report(talk: Conversation) -> Response:
    """The report of the run that is shown; it waits for its turn."""
    from starlette.responses import HTMLResponse, PlainTextResponse

    from ..errors import CaromError

    loop = asyncio.get_running_loop()
    done: asyncio.Future[str] = loop.create_future()

    def settle(value: str, good: bool) -> None:
        if not done.done():
            done.set_result(value) if good else done.set_exception(CaromError(value))

    def do() -> None:
        try:
            found, good = talk.desk.report(), True
        except CaromError as refusal:
            found, good = str(refusal), False
        loop.call_soon_threadsafe(settle, found, good)

    talk.worker.ask(Job(do, lambda words, spent, share: None))
    try:
        page = await asyncio.wait_for(done, REPORT_SECONDS)
    except (CaromError, TimeoutError) as refusal:
        why = str(refusal) or "something else was asked for meanwhile; open the report again"
        return PlainTextResponse(f"carom: {why}\n", status_code=409)
    return HTMLResponse(page, headers={"content-security-policy": FRAMED})


# -- what is served ----------------------------------------------------------------------------------------------------


def asset(name: str) -> str:
    return resources.files(__package__).joinpath("assets", name).read_text(encoding="utf-8")


def studio_script() -> str:
    """One script: the viewer's classes, what the page of a comparison shares, and the studio's own."""
    inner = shared_script() + "".join(asset(name) for name in ("controls.js", "hand.js", "studio.js"))
    return f'(function () {{\n"use strict";\n{inner}\n}})();'


def studio_style() -> str:
    return shared_style() + asset("studio.css")


def studio_page() -> str:
    options = "".join(f'<option value="{escape(name)}">{escape(_title(name))}</option>' for name in names())
    return Template(asset("studio.html")).substitute(options=options)


def _title(name: str) -> str:
    return f"{name}: {shipped_tables(name).get('title', '')}"
