"""What the studio lets in, what it answers, and that the latest of what is asked counts."""

import json
import socket
import threading
import time

import pytest
from starlette.testclient import TestClient
from starlette.websockets import WebSocketDisconnect

import carom
from carom.errors import CaromError
from carom.scenario._text import plain
from carom.studio._app import application
from carom.studio._desk import Asked, Desk, shown
from carom.studio._serve import listening
from carom.studio._sliders import controls_of
from carom.studio._worker import Job, Worker

from .answers import refused

PORT, KEY = 8123, "the-key"
HOST = f"127.0.0.1:{PORT}"
SOCKET = f"ws://{HOST}/socket"
HERE = {"origin": f"http://{HOST}"}


@pytest.fixture(scope="module")
def desk():
    return Desk("ball-drop")


@pytest.fixture
def app(desk):
    return application(desk, PORT, KEY)


@pytest.fixture
def browser(app):
    """A browser that has shown the key."""
    with TestClient(app, base_url=f"http://{HOST}") as client:
        assert client.get(f"/?key={KEY}").status_code == 200
        yield client


# -- who is let in -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", ["/", "/?key=", "/?key=wrong", "/studio.js", "/report", f"/studio.js?key={KEY}"])
def test_without_the_key_nothing_is_shown(app, path):
    answer = TestClient(app, base_url=f"http://{HOST}").get(path)
    assert answer.status_code == 403 and "carom studio" in answer.text and "set-cookie" not in answer.headers


def test_the_key_opens_for_one_browser_only(app, browser):
    assert browser.get("/studio.js").status_code == 200 and browser.get("/").status_code == 200
    other = TestClient(app, base_url=f"http://{HOST}")
    assert other.get(f"/?key={KEY}").status_code == 403
    assert browser.get(f"/?key={KEY}").status_code == 200  # a reload of the address that was typed


@pytest.mark.parametrize("host", ["evil.example", f"evil.example:{PORT}", "127.0.0.1", "127.0.0.1:80", f"[::2]:{PORT}"])
def test_a_foreign_host_is_refused(browser, host):
    assert browser.get("/", headers={"host": host}).status_code == 403
    with pytest.raises(WebSocketDisconnect):
        browser.websocket_connect(SOCKET, headers={"host": host, "origin": f"http://{host}"}).__enter__()


@pytest.mark.parametrize("origin", ["http://evil.example", f"https://{HOST}", "http://127.0.0.1:8124", "null", None])
def test_another_origin_cannot_drive_it(browser, origin):
    heads = {} if origin is None else {"origin": origin}
    with pytest.raises(WebSocketDisconnect):
        browser.websocket_connect(SOCKET, headers=heads).__enter__()
    if origin is not None:
        assert browser.get("/studio.js", headers={"origin": origin}).status_code == 403


def test_a_page_of_another_site_gets_nothing(browser):
    for site in ("cross-site", "same-site"):
        assert browser.get("/studio.js", headers={"sec-fetch-site": site}).status_code == 403
    assert browser.post("/").status_code == 403


def test_the_cookie_is_kept_from_scripts_and_pages_bring_a_policy(app):
    answer = TestClient(app, base_url=f"http://{HOST}").get(f"/?key={KEY}")
    assert "HttpOnly" in answer.headers["set-cookie"] and "SameSite=Strict" in answer.headers["set-cookie"]
    policy = answer.headers["content-security-policy"]
    assert "default-src 'none'" in policy and "unsafe" not in policy and "frame-ancestors 'none'" in policy
    assert KEY not in answer.text and "<script>" not in answer.text and " style=" not in answer.text


# -- what it answers ---------------------------------------------------------------------------------------------------


def heard(ws, kind):
    """The next message of that kind."""
    for _ in range(200):
        message = ws.receive_json()
        if message["tell"] == kind:
            return message
    raise AssertionError(kind)


def test_a_conversation(browser):
    with browser.websocket_connect(SOCKET, headers=HERE) as ws:
        assert heard(ws, "scenario")["name"] == "ball-drop"
        run = heard(ws, "run")
        assert run["finished"] and run["data"]["impacts"] and run["handles"][0]["kind"] == "move"
        restitution = {"contacts.floor.normal.restitution": 0.9}
        ws.send_json({"ask": "run", "number": 1, "changes": restitution, "quick": True})
        assert heard(ws, "run")["formulas"][0]["laws"][0]["numbers"]["restitution"] == "0.9"
        for changes, words in (
            ({"gravity": "x"}, "gravity"),
            ({"contacts.flor.radius": 1.0}, "did you mean 'floor'"),
            ({"run.until": float("nan")}, "run.until"),
            ({"start.base.1": -3.0}, "floor"),
        ):
            ws.send_json({"ask": "run", "number": 2, "changes": changes})
            assert words in heard(ws, "refused")["words"]
        for text in (
            "",
            "[]",
            "{}",
            "null",
            '{"ask": 3}',
            '{"ask": "run", "number": "x"}',
            '{"ask": "nothing"}',
            "[" * 9999,
        ):
            ws.send_text(text)
        ws.send_json({"ask": "open", "number": 4, "name": "/etc/passwd"})
        while "there is no scenario" not in (answer := heard(ws, "refused")["words"]):
            assert answer == "that was no message of this page"
        ws.send_json({"ask": "upload", "number": 5, "name": "mine.toml", "text": "format = 2\nname = 3\n"})
        assert heard(ws, "refused")["words"].startswith("mine.toml, line 2: name is 3")
        ws.send_json({"ask": "toml", "number": 6})
        written = carom.Scenario.read(heard(ws, "text")["text"])
        assert plain(written)["contacts"]["floor"]["normal"]["restitution"] == 0.9


def test_a_second_page_waits_until_it_takes_over(browser):
    with browser.websocket_connect(SOCKET, headers=HERE) as first:
        heard(first, "run")
        with browser.websocket_connect(SOCKET, headers=HERE) as second:
            assert second.receive_json() == {"tell": "busy"}
            second.send_json({"ask": "run", "number": 1, "changes": {"gravity": 3.0}})
            second.send_json({"ask": "take", "number": 2})
            assert heard(second, "scenario")["changes"] != {"gravity": 3.0}
            assert heard(first, "taken")


def test_the_report_of_what_is_shown(browser, desk):
    answer = browser.get("/report")
    assert answer.status_code == 200 and "A ball bounces to rest" in answer.text


def test_a_run_that_would_never_end_is_cut_off(monkeypatch):
    monkeypatch.setattr("carom.studio._desk.STEPS", 50)
    found = shown(carom.Scenario.load("arm-controllers"), True)
    assert not found["finished"] and "steps" in found["outcome"]


def test_numbers_that_change_compile_nothing(desk):
    from carom.hybrid import _run

    shown(desk.sides(Asked({"start.base.1": 0.8}))[0], True)
    before = set(_run._EXECUTABLES)
    for value in (0.7, 0.6123):
        changes = {"start.base.1": value, "contacts.floor.normal.restitution": value, "gravity": 10 * value}
        shown(desk.sides(Asked(changes))[0], True)
    assert set(_run._EXECUTABLES) == before


# -- the worker --------------------------------------------------------------------------------------------------------


def test_the_latest_counts_and_what_takes_long_is_given_up(monkeypatch):
    from carom._progress import Line

    worker, done, begun = Worker(), [], threading.Event()

    def slow():
        begun.set()
        line = Line(False)
        for _ in range(4000):
            line.update("working")
            time.sleep(0.001)
        done.append("slow")

    def nothing(*_):
        return None

    monkeypatch.setattr("carom.studio._worker.PATIENCE", 0.02)
    worker.ask(Job(slow, nothing))
    assert begun.wait(10)
    worker.ask(Job(lambda: done.append("never"), nothing))
    ended = threading.Event()
    worker.ask(Job(lambda: (done.append("last"), ended.set()), nothing))
    assert ended.wait(10) and done == ["last"]
    worker.close()


def test_what_is_no_run_is_done_whatever_is_asked_for_later():
    worker, done, go, ended = Worker(), [], threading.Event(), threading.Event()

    def nothing(*_):
        return None

    worker.ask(Job(lambda: go.wait(10), nothing))
    worker.ask(Job(lambda: done.append("file"), nothing, kept=True))
    worker.ask(Job(lambda: done.append("never"), nothing))
    worker.ask(Job(lambda: done.append("text"), nothing, shows=False, kept=True))
    worker.ask(Job(lambda: (done.append("run"), ended.set()), nothing))
    go.set()
    assert ended.wait(10) and done == ["file", "text", "run"]
    worker.close()


# -- sliders -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", carom.scenario.names())
def test_every_slider_stands_where_its_number_is_and_its_ends_can_be_said(name):
    scenario = carom.Scenario.load(name)
    found = controls_of(scenario)
    assert len(found) > 10 and len({c.path for c in found}) == len(found)
    for c in found:
        assert c.low <= c.value <= c.high and c.low < c.high, c
        assert not c.powers or c.low > 0.0
        assert scenario.with_({c.path: c.value}) == scenario
    ends = {c.path: c.low for c in found if not c.whole} | {c.path: c.high for c in found if not c.whole}
    json.dumps(ends, allow_nan=False)


def test_units_ranges_and_powers_come_from_the_schema():
    found = {c.path: c for c in controls_of(carom.Scenario.load("arm-repeated-impact"))}
    assert found["materials.steel.youngs_modulus"].powers and found["materials.steel.youngs_modulus"].unit == "Pa"
    assert found["start.angles.0"].unit == "°" and found["start.angles.0"].high == 180.0
    poisson = found["materials.steel.poisson_ratio"]
    assert -1.0 < poisson.low < -0.99 and poisson.high == 0.5 and not poisson.powers
    assert found["contacts.tip.friction.mu"].low == 0.0 and found["contacts.tip.friction.mu"].meaning
    assert found["run.rtol"].powers and not any("max_steps" in path for path in found)


# -- the command -------------------------------------------------------------------------------------------------------


def test_a_port_in_use_is_a_sentence():
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        with pytest.raises(CaromError, match=f"port {port} is in use; give another one, or leave --port out"):
            listening(port)
    with pytest.raises(CaromError, match=r"port is 70000; it must lie in \[1, 65535\]"):
        listening(70000)
    with listening(None) as free:
        assert free.getsockname()[0] == "127.0.0.1"


def test_a_browser_that_does_not_open_is_told(monkeypatch):
    from carom.studio import _serve

    said = []
    monkeypatch.setattr("webbrowser.open", lambda address: False)
    monkeypatch.setattr("uvicorn.Server.run", lambda self, sockets: None)
    _serve.serve("ball-drop", None, True, said.append)
    assert "no browser could be opened" in said[1] and said[0].startswith("carom studio: http://127.0.0.1:")


def test_a_file_that_is_not_there_is_told_before_anything_is_served(run):
    assert "there is no file nowhere.toml" in refused(run("studio", "nowhere.toml"))
