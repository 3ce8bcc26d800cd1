"""What a notebook shows of things: drawings and tables that are whole, safe, and have the numbers of the run."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from html import unescape

import numpy as np
import pytest

import carom
from carom.report._sketch import sketch
from carom.report.notebook import as_html

from .test_signals import rigid_run, soft_run


def drawn(html: str) -> ET.Element:
    return ET.fromstring(html[html.index("<svg") : html.index("</svg>") + len("</svg>")])


def test_a_world_is_drawn_with_the_surface_that_it_stands_over():
    """A ball 1.1 m above a floor: both are in the picture, the floor below the ball, at the scale of the picture."""
    world = rigid_run().world
    picture = drawn(sketch(world, np.array([0.0, 1.1, 0.0])))
    circles = [(float(c.get("cy")), float(c.get("r"))) for c in picture if c.tag == "circle"]
    lines = [
        np.array([[float(x) for x in p.split(",")] for p in c.get("points").split()]) for c in picture.iter("polyline")
    ]
    floor = next(line for line in lines if np.ptp(line[:, 0]) > 100.0 and np.ptp(line[:, 1]) < 1e-6)
    height = float(picture.get("height"))
    assert all(y < floor[0, 1] <= height for y, _ in circles)
    assert repr(world).splitlines()[0] in unescape(world._repr_html_())


def test_a_mechanism_and_a_state_show_their_numbers():
    arm = carom.Mechanism([carom.Rod(1.0, 2.0), carom.Rod(0.5, 1.0)])
    assert len(list(drawn(arm._repr_html_()).iter("polyline"))) >= 2
    assert "link2" in arm._repr_html_()
    shown = carom.World(arm).state(angles=[0.25, -0.5], rates=[1.0, 2.0])._repr_html_()
    cells = re.findall(r"<td[^>]*>([^<]*)</td>", shown)
    assert cells == ["q[0]", "0.25", "1", "q[1]", "-0.5", "2"]


def test_an_impact_shows_its_numbers_with_units():
    impact = soft_run().impacts[0]
    cells = [unescape(c) for c in re.findall(r"<td[^>]*>([^<]*)</td>", impact._repr_html_())]
    rows = {cells[k]: (cells[k + 1], cells[k + 2]) for k in range(0, len(cells), 3)}
    assert rows["largest force"][1] == "N" and float(rows["largest force"][0]) == pytest.approx(
        impact.max_normal_force, rel=1e-5
    )
    assert "restitution" in rows


def test_a_run_is_a_player_in_a_frame_of_its_own():
    html = rigid_run()._repr_html_()
    assert html.startswith('<iframe title="player of a run" sandbox="allow-scripts" srcdoc="')
    page = unescape(html.split('srcdoc="')[1].split('" loading')[0])
    assert page.startswith("<!doctype html>") and '<body class="embedded">' in page
    assert "default-src 'none'" in page and 'id="carom-data"' in page


def test_names_of_users_are_text_and_never_markup():
    ball = carom.Mechanism([carom.Disk(radius=0.1, mass=1.0)], base=carom.Free())
    floor = carom.Contact(ball.tip, carom.Plane(0.0), carom.Newton(0.5), radius=0.1, name="<script>alert(1)</script>")
    assert "<script>" not in carom.World(ball, contacts=floor)._repr_html_()


def test_what_has_no_picture_shows_its_text():
    assert as_html(3.5) == '<pre style="white-space:pre-wrap;line-height:1.35">3.5</pre>'


def test_a_scenario_shows_its_start_and_its_text():
    html = carom.Scenario.load("ball-drop")._repr_html_()
    assert drawn(html) is not None and "[mechanisms.ball]" in html
    assert "<svg" not in carom.Scenario.load("inchworm")._repr_html_()  # a crawler has no start that is written down


@pytest.mark.parametrize("package", [carom, carom.contact, carom.figures, carom.report, carom.study])
def test_every_name_of_a_package_is_found_by_completion(package):
    """`dir` lists every public name, and each of them is there."""
    for name in dir(package):
        assert name.startswith("__") or getattr(package, name) is not None
