"""A studio of its own in a thread of the test, and what a browser is asked in it."""

import contextlib
import threading
import time

import uvicorn

from carom.studio._app import application
from carom.studio._desk import Desk
from carom.studio._serve import listening

KEY = "key-of-the-test"


@contextlib.contextmanager
def studio(name):
    """The address of a studio that shows this scenario."""
    with listening(None) as place:
        port = place.getsockname()[1]
        app = application(Desk(name), port, KEY)
        server = uvicorn.Server(uvicorn.Config(app, log_level="warning", timeout_graceful_shutdown=1))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [place]}, daemon=True)
        thread.start()
        while not server.started:
            time.sleep(0.01)
        try:
            yield f"http://127.0.0.1:{port}"
        finally:
            server.should_exit = True
            thread.join(10)


def opened(browser, address):
    """The page, when its first run is shown."""
    browser.get(f"{address}/?key={KEY}")
    settled(browser)


def settled(browser, seconds=60.0):
    """Until nothing is waited for any more."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        if browser.execute_script("return Boolean(window.studio && studio.desk.started && studio.idle())"):
            return
        time.sleep(0.02)
    raise AssertionError(f"the page is stuck: {told(browser)}")


def told(browser):
    return browser.execute_script("return document.getElementById('status').textContent")


def choose(browser, box, value):
    """From a list of the page."""
    script = (
        "const e = document.getElementById(arguments[0]); e.value = arguments[1]; e.dispatchEvent(new Event('change'))"
    )
    browser.execute_script(script, box, value)


def slide(browser, path, value):
    """As a hand does: the slider's value changes, then it is let go."""
    browser.execute_script("studio.set(arguments[0], arguments[1])", path, value)
