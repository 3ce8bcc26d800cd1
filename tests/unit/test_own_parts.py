"""What a user brings in a file of their own is run, drawn, tabled, ledgered, cited and reported like carom's own."""

import csv
import dataclasses
import io
import json
import re

import jax.numpy as jnp
import numpy as np
import pytest

import carom
from carom.contact.pairs import pair_of
from carom.experiment import Experiment, perform
from carom.experiment._output import write
from carom.experiment.measures import MEASURES, measure
from carom.figures import FIGURES
from carom.hybrid import Drive
from carom.report import report
from carom.result._clip import Clip
from carom.result._drawing import drawing
from carom.result._signals import contact_signals, effort_signals

from .parts_of_ones_own import ASKED, BALL, HEIGHTS, HOPS, RADIUS, STIFFNESS, Cushion, Foam, Pad, Spinner, Valley, Wax


@pytest.fixture(scope="module")
def run():
    contact = carom.Contact(BALL.tip, Valley(), Foam(4e4, 0.2), Wax(0.05), radius=RADIUS, name="valley")
    cushion = carom.Contact(BALL.tip, carom.Wall(0.35, "right"), Cushion(2.0), radius=RADIUS, name="cushion")
    pad = Pad("pad", pair_of("Pad", BALL.tip, carom.Wall(1.0, "left"), RADIUS))
    world = carom.World(BALL, contacts=[contact, pad, cushion], control=Spinner())
    return carom.simulate(world, world.state(base=(0.5, 0.5), base_velocity=(2.0, 0.0)), until=1.2)


def test_it_runs_and_its_ledger_closes(run):
    assert {i.contact for i in run.impacts} == {"valley", "pad", "cushion"}
    assert run.energy.max_error_percent < 1e-6
    assert {"valley: normal force", "pad: pad", "spinner: actuators", "rigid contacts: blows"} <= set(run.energy.works)
    assert run.energy.works["valley: friction"][-1] < 0.0


def test_its_impulsive_law_ends_the_blow_and_its_friction_rubs(run):
    hit = next(i for i in run.impacts if i.contact == "cushion")
    came = -hit.normal_velocity_before
    assert hit.restitution == pytest.approx(1.0 / (1.0 + came / 2.0), rel=1e-12)
    assert hit.normal_impulse == pytest.approx(came + hit.normal_velocity_after, rel=1e-12)
    down = next(i for i in run.impacts if i.contact == "valley")
    s = contact_signals(run, np.linspace(down.t_start, down.t_end, 9)[1:-1])["valley"]
    np.testing.assert_allclose(s.friction, -0.05 * s.normal * s.sliding)


def test_losses_are_what_the_channels_took(run):
    taken = sum(i.energy_lost for i in run.impacts) + sum(s.energy_lost for s in run.stances)
    works = {name: float(work[-1]) for name, work in run.energy.works.items()}
    assert taken == pytest.approx(
        -works["valley: normal force"] - works["valley: friction"] - works["pad: pad"] - works["rigid contacts: blows"],
        rel=1e-9,
    )
    assert all(i.energy_lost > 0.0 for i in run.impacts)


def test_signals_of_its_contact_and_of_its_controller(run):
    hit = next(i for i in run.impacts if i.contact == "pad")
    times = np.linspace(hit.t_start, hit.t_end, 9)[1:-1]
    s = contact_signals(run, times)["pad"]
    assert set(s.phase) == {"pressed"}
    np.testing.assert_allclose(s.normal, STIFFNESS * s.indentation + 20.0 * s.rate)
    found = effort_signals(run, [0.0])["spinner"]
    assert found.torques[0, 0] == pytest.approx(0.1) and found.wanted is None


def test_it_is_drawn(run):
    (part,) = drawing(run, [0.0, 0.5]).parts
    assert {r.name for r in part.rounds} == {"valley", "pad", "cushion"} and len(part.surfaces) == 3
    line = next(s.points for s in part.surfaces if s.name == "valley")
    np.testing.assert_allclose(line[:, 1], 0.3 * np.hypot(line[:, 0], 0.2), atol=2e-4)
    rightwards = np.diff(line[:, 0])
    assert np.all(rightwards > 0.0)  # the free side lies to the left


def test_it_is_cited_and_printed(run):
    text = carom.cite(run.world)
    assert "spinning: Somebody 2001" in text and "pads: Anybody 2002" in text
    assert "cushion: Nobody 2003" in text
    printed = repr(run.world)
    for words in ("a pad of our own", "on Valley(), Foam(stiffness=40000, loss=0.2), Wax(drag=0.05)", "Spinner()"):
        assert words in printed
    assert "on Plane(point=(0.35, 0) m, normal=(1, 0)), rigid Cushion(speed=2)" in printed


def test_it_is_in_the_page_and_the_viewer(run):
    page = report(run, title="ours")
    data = json.loads(re.search(r'<script type="application/json" id="carom-data">(.*?)</script>', page, re.S).group(1))
    contacts = {c["name"]: c for c in data["clips"][0]["contacts"]}
    told = {(p["word"], p["tone"]) for p in contacts["pad"]["phases"]}
    assert ("away", "open") in told and told & {("compressing", "elastic"), ("parting", "restitution")}
    assert "&#x27;valley&#x27;" in page and '<td class="word">pad</td>' in page


@pytest.fixture(scope="module")
def written(run, tmp_path_factory):
    """The run in a folder, with what a scenario asks for; and the figures that are in it."""
    folder, seen = tmp_path_factory.mktemp("ours") / "run", {}

    def kept(entry):
        def draw(figure, *rest, **options):
            entry.draw(figure, *rest, **options)
            seen[entry.name] = [axes.get_title() for axes in figure.axes]

        return dataclasses.replace(entry, draw=draw)

    before = list(FIGURES)
    MEASURES.append(HOPS)
    FIGURES[:] = [kept(entry) for entry in (*before, HEIGHTS)]
    try:
        write(Experiment(carom.Scenario.read(ASKED), (Clip(run),)), folder)
    finally:
        FIGURES[:] = before
        MEASURES.pop()
    return folder, seen


def test_its_contacts_and_laws_are_in_the_tables(run, written):
    folder, _ = written
    rows = list(csv.DictReader(io.StringIO((folder / "impacts.csv").read_text())))
    assert [row["contact"] for row in rows] == [i.contact for i in run.impacts]
    hit = next(row for row in rows if row["contact"] == "cushion")
    assert float(hit["restitution [-]"]) == next(i for i in run.impacts if i.contact == "cushion").restitution
    head = (folder / "energy.csv").read_text().splitlines()[0].split(",")
    assert {"valley: friction [J]", "pad: pad [J]", "spinner: actuators [J]", "rigid contacts: blows [J]"} <= set(head)


def test_its_figure_and_measure_are_written_and_its_controller_is_drawn(run, written):
    folder, seen = written
    assert all((folder / "figures" / f"{name}.png").stat().st_size > 0 for name in ("reaction", "torques", "heights"))
    assert seen["torques"] == ["spinner: torque of the parent on each link"]
    assert {"contact 'valley'", "contact 'pad'", "contact 'cushion'"} <= set(seen["reaction"])
    found = json.loads((folder / "summary.json").read_text())
    assert found["quantities"]["rebounds"]["value"] == sum(i.normal_velocity_after > 0.1 for i in run.impacts) > 2
    assert found["quantities"]["turned"]["value"] == pytest.approx(0.02 * (5.0 - run.v[:, 2].min()), rel=1e-3)
    assert {i["contact"] for i in found["impacts"]} == {"valley", "pad", "cushion"}
    assert found["energy"]["works"]["rigid contacts: blows"] < 0.0


def test_all_of_it_is_on_the_written_page(written):
    folder, _ = written
    page = (folder / "report.html").read_text()
    assert all(f'<td class="word">{name}</td>' in page for name in ("valley", "pad", "cushion"))
    assert "heights: how high it is" in page and "rebounds" in page
    (told,) = re.findall(r'<script type="application/json" id="carom-data">(.*?)</script>', page, re.S)
    (clip,) = json.loads(told)["clips"]
    assert {c["name"] for c in clip["contacts"]} == {"valley", "pad", "cushion"}


def test_a_figure_of_ones_own_is_found_by_its_name(run):
    FIGURES.append(HEIGHTS)
    try:
        assert run.plot.heights().axes[0].get_ylabel() == "height [m]"
        assert "heights" in run.plot.names() and "heights" in dir(run.plot)
        assert run.plot.heights.__doc__ == "How high it is."
    finally:
        FIGURES.pop()
    with pytest.raises(AttributeError, match="there is no figure 'heights'"):
        run.plot.heights()


def test_a_measure_of_ones_own_is_asked_for_in_a_scenario():
    MEASURES.append(HOPS)
    try:
        scenario = carom.Scenario.load("ball-drop").with_({"run.until": 0.6})
        found = perform(scenario, progress=False)
        assert measure(found, "hops.0.1") == len(found.strikes) > 0 and measure(found, "hops.99.0") == 0.0
    finally:
        MEASURES.pop()


def test_what_a_controller_wants_is_its_drive():
    hold = carom.HoldPose(BALL, jnp.asarray([0.1, 0.2, 0.3]))
    drive = hold.report.drive
    assert isinstance(drive, Drive) and drive.bases == ("base",) and drive.wanted is not None


def test_a_controller_for_another_number_of_links_is_refused():
    arm = carom.Arm([carom.Rod(1.0, 1.0), carom.Rod(1.0, 1.0)])
    with pytest.raises(carom.CaromError, match=r"links of 'spinner' is 1, but the mechanism has 2; build it for this"):
        carom.World(arm, control=Spinner(anchored=()))
