"""The studio under a hand that does anything: a thousand moves of its sliders, two hundred broken files."""

import random
import time
from pathlib import Path

import pytest
from tests.browser.studio_server import choose, opened, settled, slide, studio, told
from tests.browser.test_report import browser as browser  # a fixture

from carom.scenario.library import names, text_of

MOVES, FILES = 1000, 200
MOST = 1.5e9  # [byte] that a thousand moves may add; programs of other structures are kept, 300 of them at most
SHOWN = ("arm-repeated-impact", "ball-drop", "ball-on-slope", "arm-plastic", "corner")
NUMBERS = """
return [...studio.controls.all.values()].map((e) => [e.c.path, e.c.low, e.c.high, e.c.powers, e.c.whole, e.c.value])
  .filter((e) => !e[0].startsWith("run."))
"""


def memory():
    """[byte] of this process, in which the studio runs."""
    told = Path("/proc/self/status").read_text().splitlines()
    return 1024 * int(next(line.split()[1] for line in told if line.startswith("VmRSS")))


@pytest.fixture(scope="module")
def address():
    with studio("arm-repeated-impact") as found:
        yield found


def complaints(browser):
    return [entry for entry in browser.get_log("browser") if entry["level"] == "SEVERE"]


def test_a_thousand_moves_and_the_page_still_answers(browser, address, caplog):
    """Every slider, anywhere on its way, ends included; a fifth of the moves go back to where the file has it."""
    opened(browser, address)
    chance, begun, refused = random.Random(1), memory(), 0
    for k in range(MOVES):
        if k % (MOVES // len(SHOWN)) == 0:
            name = SHOWN[k * len(SHOWN) // MOVES]
            browser.execute_script("studio.desk.started = false")
            choose(browser, "scenario", name)
            settled(browser)
            numbers = browser.execute_script(NUMBERS)
        path, low, high, powers, whole, value = chance.choice(numbers)
        share = chance.choice([0.0, 1.0, *(chance.random() for _ in range(8))])
        there = low * (high / low) ** share if powers else low + share * (high - low)
        there = value if chance.random() < 0.2 else round(there) if whole else there
        slide(browser, path, there)
        if k % 7:  # some come before the one before is done
            settled(browser, 120.0)
            refused += browser.execute_script("return document.getElementById('status').className.includes('bad')")
    settled(browser, 120.0)
    assert complaints(browser) == [] and caplog.records == []
    assert refused < MOVES / 3  # most of what sliders can say is a world
    assert memory() - begun < MOST


def broken(text, chance):
    """A file as somebody might have spoilt it."""
    lines, kind = text.splitlines(), chance.randrange(8)
    at = chance.randrange(len(lines))
    if kind == 0:
        return text[: chance.randrange(len(text))]
    if kind == 1:
        return "\n".join([*lines[:at], *lines[at + 1 :]])
    if kind == 2:
        return "\n".join(
            [*lines[:at], chance.choice(["]", "= 3", "[[x", "a = nan", "\x00", "é = ", '"""']), *lines[at:]]
        )
    if kind == 3:
        return text.replace(
            chance.choice(["= 1.0", "0.2", "rod", "plane", "newton"]), chance.choice(["inf", "-1", "{}", "[]", '"x"'])
        )
    if kind == 4:
        return "".join(chance.choice([c, c, c, c, c, c, c, c, chr(chance.randrange(1, 0x2FF))]) for c in text)
    if kind == 5:
        return "[" * chance.randrange(1, 5000)
    if kind == 6:
        return f"{text}\n[mechanisms.{chance.choice(['arm', 'x'])}.links.extra]\nbody = {{ kind = 'rod' }}\n"
    return chance.choice(["", "\n", "{}", "null", "<html>", "run = 1", "format = 3", text * 2])


def answer(browser):
    """What the page says of the file that it was given; a good one is run."""
    for _ in range(3000):
        words = told(browser)
        if not words.startswith("Reading"):
            return words
        time.sleep(0.02)
    raise AssertionError("no answer")


def test_two_hundred_broken_files_are_answered_by_a_sentence(browser, address, caplog):
    opened_again = browser.execute_script("return Boolean(window.studio)")
    assert opened_again, "this test goes on in the browser that has the cookie"
    chance, texts = random.Random(2), [text_of(name) for name in names() if name in SHOWN]
    for _ in range(FILES):
        text = broken(chance.choice(texts), chance)
        browser.execute_script("studio.upload('broken.toml', arguments[0])", text)
        words = answer(browser)
        assert "Traceback" not in words and "mistake of its own" not in words, (words, text)
    settled(browser)
    assert complaints(browser) == [] and caplog.records == []
