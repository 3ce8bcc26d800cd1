"""Where everything is drawn, which instants are shown, and what is written."""

import dataclasses
import json
import os
import re

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import carom
from carom import native
from carom.contact.surfaces._outline import Box
from carom.report import Figure, Quantity, report, write_report
from carom.report import samples as sampling
from carom.report._story import story
from carom.result import _film as film
from carom.result._clip import Carried, Clip, clips_of
from carom.result._drawing import drawing, link_line
from carom.result._skeleton import Skeleton

RADIUS = 0.1
EVIL = "</script><script>alert(1)</script>"


@pytest.fixture(scope="module")
def bounce():
    """A ball strikes twice; its contact's name would break a careless page."""
    ball = carom.Mechanism([carom.Disk(radius=RADIUS, mass=2.0)], base=carom.Free())
    floor = carom.Contact(ball.tip, carom.Plane(height=0.0), carom.Flores(1e6, 0.6), radius=RADIUS, name=EVIL)
    world = carom.World(ball, contacts=floor, gravity=9.81)
    start = world.state(angles=[0.3], rates=[2.0], base=(0.0, 0.4), base_velocity=(0.5, 0.0))
    return carom.simulate(world, start, until=0.65)


# -- links -------------------------------------------------------------------------------------------------------------


def branched():
    """Rods, a disk beside the axis, a beam that foreshortens, and what hangs on it."""
    section = carom.beam.Section(
        area=1e-4, second_moment=1e-9, mass_per_length=1.0, youngs_modulus=2e11, shear_modulus=8e10, shear_factor=5 / 6
    )
    beam = carom.Beam(0.8, section, ("clamped", "free"), 2, foreshortening=True)
    return carom.Mechanism(
        [
            carom.Link(carom.Rod(1.0, 1.0), name="rod", sites={"mark": (0.4, 0.1)}),
            carom.Link(beam, name="beam", sites={"middle": (0.4, 0.05)}),
            carom.Link(carom.Rod(0.5, 1.0), name="end"),
            carom.Link(carom.Disk(0.2, 1.0), name="wheel", parent="rod", at=(0.5, -0.3)),
        ],
        base=carom.Fixed(0.3, 0.2),
    )


def test_sites_are_where_kinematics_has_them():
    m = branched()
    q = np.random.default_rng(1).normal(size=(3, m.dof))
    q[:, -2:] *= 0.05
    body = Skeleton(m, q)
    names = m.topology.site_names
    places = jax.jit(jax.vmap(lambda q: jnp.stack([carom.dynamics.site_position(m, q, name) for name in names])))
    found = np.stack([body.site(index) for index in range(len(names))], axis=1)
    np.testing.assert_allclose(found, places(jnp.asarray(q)), rtol=0, atol=1e-12)
    axis = body.axis(m.topology.link("beam"))
    np.testing.assert_allclose(axis[:, -1], body.site(m.topology.site_names.index("beam.tip")), atol=1e-14)
    assert axis.shape[1] >= 8 and np.all(np.diff(np.linalg.norm(axis - axis[:, :1], axis=2), axis=1) > 0)


def test_a_link_passes_all_that_hangs_on_it_and_a_disk_shows_its_turning(bounce):
    part = drawing(Clip(bounce), [0.0, 0.1], forces=False).parts[0]
    (ball,) = part.links
    assert ball.kind == "disk" and ball.radius == pytest.approx(RADIUS, rel=1e-12)
    np.testing.assert_allclose(ball.points[0], [[0.0, 0.4], [RADIUS * np.cos(0.3), 0.4 + RADIUS * np.sin(0.3)]])
    m = branched()
    body = Skeleton(m, np.zeros((1, m.dof)))
    lines = {name: link_line(Clip(bounce), body, k) for k, name in enumerate(m.topology.names)}
    # The wheel hangs beside the axis of the rod: the rod's line goes there and back.
    np.testing.assert_allclose(lines["rod"].points[0][[1, 3]], [[1.3, 0.2], [0.8, -0.1]])
    assert lines["beam"].kind == "beam" and lines["wheel"].radius == pytest.approx(0.2)


def test_clips_share_time_and_ground(bounce):
    plain = drawing(bounce, [0.3]).parts[0]
    placed = Clip(bounce, t0=1.0, mirrored=True, shift=(2.0, 0.5), carried=(Carried("link1", 0.0, 0.3, 0.05),))
    part = drawing([placed], [1.3]).parts[0]
    np.testing.assert_allclose(part.links[0].points, plain.links[0].points * [-1.0, 1.0] + [2.0, 0.5])
    np.testing.assert_allclose(part.contacts[0].force, plain.contacts[0].force * [-1.0, 1.0])
    assert part.links[1].kind == "disk" and part.links[1].radius == 0.05
    floor = part.surfaces[0].points
    np.testing.assert_allclose(floor[:, 1], 0.5)
    assert floor[1, 0] > floor[0, 0]  # the free side is still to the left
    both = drawing([placed, bounce], [0.1, 0.2, 1.1])
    assert [len(p.t) for p in both.parts] == [2, 1] and both.parts[1].clip is placed


def test_forces_are_those_of_the_contact(bounce):
    i = bounce.impacts[0]
    found = drawing(bounce, np.linspace(i.t_start, i.t_end, 200))
    contact = found.parts[0].contacts[0]
    assert np.max(contact.force[:, 1]) == pytest.approx(i.max_normal_force, rel=1e-3) == found.largest_force
    assert np.min(contact.point[:, 1]) == pytest.approx(-i.max_indentation, rel=1e-3)


@pytest.mark.parametrize("bad", [[], [3.0]])
def test_what_cannot_be_drawn_is_refused(bad, unchecked):
    with pytest.raises(carom.errors.CaromError, match=r"clips is empty|must hold what carom\.simulate returned"):
        clips_of(bad)


# -- surfaces ----------------------------------------------------------------------------------------------------------

SURFACES = {
    "plane": carom.Plane(point=(0.2, 0.1), slope=0.4),
    "ceiling": carom.Plane(point=(0.0, 0.5), normal=(0.0, -1.0)),
    "wall": carom.Wall(0.3, facing="left"),
    "circle": carom.Circle((0.1, 0.0), 0.7),
    "block": carom.Block([(-0.5, -0.4), (0.6, -0.4), (0.2, 0.5)]),
    "smooth block": carom.Block([(-0.5, -0.4), (0.6, -0.4), (0.2, 0.5)], 0.1),
    "lift": carom.Moving(carom.Block([(-0.5, -0.4), (0.6, -0.4), (0.2, 0.5)]), velocity=(0.1, 0.2), turning=0.3),
    "drum": carom.Circle((0.1, 0.0), 0.7, inside=True),
    "graph": carom.Graph(lambda x: 0.2 * jnp.sin(2 * x)),
    "graph below": carom.Graph(lambda x: 0.2 * jnp.sin(2 * x), below=True),
    "spline": carom.Spline([(-1.0, 0.0), (0.0, 0.3), (1.0, 0.0)]),
    "ring": carom.Spline([(1.0, 0.0), (0.0, 1.0), (-1.0, 0.0), (0.0, -1.0)], closed=True),
    "implicit": carom.Implicit(lambda x, y: 1 - (x / 1.3) ** 2 - y**2, probe=(0.1, 0.2)),
    "belt": carom.Moving(carom.Plane(height=0.1), velocity=(1.0, 0.2)),
    "turntable": carom.Moving(carom.Circle((0.4, 0.0), 0.3), turning=2.0, about=(0.1, 0.1)),
}


@pytest.mark.parametrize("name", SURFACES)
def test_outlines_lie_on_the_surface_with_the_free_side_to_the_left(name):
    surface, times = SURFACES[name], np.array([0.0, 0.7])
    gap = carom.jit(native.rows(surface.gap))
    lines = surface.outline(Box(-1.5, -1.2, 1.5, 1.2), times)
    assert len(lines) == 1
    for k, t in enumerate(times if lines[0].ndim == 3 else times[:1]):
        line = lines[0][k] if lines[0].ndim == 3 else lines[0]
        middle, step = 0.5 * (line[1:] + line[:-1]), np.diff(line, axis=0)
        aside = 0.02 * np.stack([-step[:, 1], step[:, 0]], axis=1) / np.hypot(*step.T)[:, None]
        at = jnp.full(len(line), t)
        assert np.max(np.abs(gap(jnp.asarray(line[:, 0]), jnp.asarray(line[:, 1]), at))) < 2e-4
        left, right = (
            gap(jnp.asarray(p[:, 0]), jnp.asarray(p[:, 1]), at[1:]) for p in (middle + aside, middle - aside)
        )
        assert np.all(np.asarray(left) > 0.01) and np.all(np.asarray(right) < -0.01)


# -- instants ----------------------------------------------------------------------------------------------------------


def test_impacts_get_frames_and_too_many_are_said_to_get_fewer(bounce, monkeypatch):
    clips = clips_of(bounce)
    impacts = sampling.struck(clips)
    plain = sampling.samples(clips, impacts, 30)
    i = impacts[0]
    assert plain.note == "" and np.sum((plain.times[0] >= i.start) & (plain.times[0] <= i.end)) >= sampling.IN_IMPACT
    monkeypatch.setattr(sampling, "MOST_NUMBERS", 30 * 220)
    fewer = sampling.samples(clips, impacts, 30)
    assert "is shown by" in fewer.note and len(fewer.times[0]) < len(plain.times[0])
    many = sampling.samples(clips, impacts * 20, 30)
    assert "hardest of 40 lasting impacts" in many.note


def test_films_slow_down_in_impacts(bounce):
    plan = film.schedule(clips_of(bounce), 30.0, 0.5, True)
    i = bounce.impacts[0]
    inside = (plan.times > i.t_start) & (plan.times < i.t_end)
    assert np.all(np.diff(plan.times) >= 0) and plan.times[0] == 0.0 and plan.times[-1] == pytest.approx(0.65)
    assert np.sum(inside) == pytest.approx(film.WATCH * 30 / 1.5, abs=1)
    np.testing.assert_allclose(plan.paces[inside], film.WATCH / (1.5 * i.duration))
    assert plan.paces[0] == pytest.approx(2.0)
    real = film.schedule(clips_of(bounce), 30.0, 1.0, False)
    np.testing.assert_allclose(np.diff(real.times)[:-1], 1 / 30)


# -- files -------------------------------------------------------------------------------------------------------------


def test_films_and_strips_are_written_whole(bounce, tmp_path):
    from PIL import Image

    done = []
    path = bounce.animate(
        tmp_path / "film.gif", fps=6, stretch_impacts=False, size=(160, 120), progress=lambda *n: done.append(n)
    )
    with Image.open(path) as picture:
        assert picture.size == (160, 120) and picture.n_frames == done[-1][0] == done[-1][1] == len(done) - 1
    with Image.open(bounce.animate(str(tmp_path / "strip.png"), size=(320, 160))) as picture:
        assert picture.size == (320, 160) and len(picture.convert("L").getcolors()) > 20
    assert sorted(os.listdir(tmp_path)) == ["film.gif", "strip.png"]


def test_films_that_cannot_be_written_are_refused(bounce, tmp_path, monkeypatch):
    with pytest.raises(carom.errors.CaromError, match=r"must end in \.mp4, \.gif, \.png"):
        bounce.animate(tmp_path / "film.avi")
    with pytest.raises(carom.errors.CaromError, match="speed of animate is 0"):
        bounce.animate(tmp_path / "film.gif", speed=0)
    with pytest.raises(carom.errors.CaromError, match="cannot be written: no such file or directory; make its"):
        bounce.animate(tmp_path / "missing" / "strip.png")
    monkeypatch.setattr(film.shutil, "which", lambda name: None)
    with pytest.raises(carom.errors.CaromError, match=r"needs the program ffmpeg.*write a \.gif"):
        bounce.animate(tmp_path / "film.mp4")
    assert os.listdir(tmp_path) == []


def test_no_name_can_break_out_of_the_page(bounce):
    png = b"\x89PNG\r\n"
    page = report(
        bounce,
        title=EVIL,
        about=EVIL,
        quantities=[Quantity(EVIL, 1.0, EVIL, 2.0, None, EVIL)],
        figures=[Figure(png, EVIL)],
        summary={EVIL: [EVIL, float("inf"), np.float64(2.0)]},
    )
    assert "alert(1)</script>" not in page and "<script>alert" not in page
    assert page.count("<script") == page.count("</script>") == 3
    data = re.search(r'id="carom-data">(.*?)</script>', page, re.S)
    assert json.loads(data.group(1))["clips"][0]["contacts"][0]["name"] == EVIL
    summary = re.search(r'id="carom-summary">(.*?)</script>', page, re.S)
    assert json.loads(summary.group(1)) == {EVIL: [EVIL, None, 2.0]}


def test_the_page_says_what_happened(bounce):
    page = report(bounce, title="Ball")
    assert "0.65 s of motion with 2 impacts" in page and "The run completed." in page
    assert "default-src 'none'" in page and not re.search(r"https?://", page)
    values = [float(v) for v in re.findall(r'data-name="largest force" data-value="([^"]+)"', page)]
    assert values == [i.max_normal_force for i in bounce.impacts]
    assert "<p>Told.</p>" in report(bounce, title="Ball", words=["Told."])


def test_what_is_lost_between_stretches_is_said(bounce):
    lost = float(bounce.energy.total[-1] - bounce.energy.total[0])
    said = story([Clip(bounce), Clip(bounce, t0=0.65)], [])
    assert said[0] == "1.3 s of motion in 2 stretches; no contact strikes."
    assert said[1] == f"Where two stretches meet, at 0.6500\u00a0s, {-lost:.2f}\u00a0J is gained." and lost < 0


def test_a_report_is_written_whole_or_not_at_all(bounce, tmp_path, monkeypatch):
    path = write_report(tmp_path / "report.html", bounce, title="Ball")
    before = path.read_text()
    assert before.startswith("<!doctype html>") and os.listdir(tmp_path) == ["report.html"]

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(carom.errors.CaromError, match="cannot be written: no space left"):
        write_report(path, bounce, title="Other")
    assert path.read_text() == before and os.listdir(tmp_path) == ["report.html"]


def test_words_count_impacts_as_the_table_does(bounce):
    clips = [Clip(bounce)]  # the capture comes before its impacts
    capture = dataclasses.replace(bounce.impacts[0], contact="hand takes ball", t_start=0.0, t_end=0.0)
    impacts = sampling.struck(clips, [sampling.Seam(capture, (0.0, 0.0), (0.0, 1.0))])
    hardest = max((s for s in impacts if s.blow is None), key=lambda s: s.impact.max_normal_force)
    said = " ".join(story(clips, impacts))
    assert f"with {len(impacts)} impacts: " in said and "hand takes ball: they met at" in said
    assert f"The hardest, number {impacts.index(hardest) + 1}, begins" in said
