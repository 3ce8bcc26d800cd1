"""References: of carom's own laws and methods, and of what a user wrote."""

import carom
from carom.hybrid import AbstractAutomaton, Flow, Report

BALL = carom.Mechanism([carom.Disk(radius=0.1, mass=1.0)], base=carom.Free())


class Ours(AbstractAutomaton):
    """Does nothing, and says where that was published."""

    name: str = "ours"

    @property
    def report(self):
        return Report(words=(("ours", "nothing"),), cited=("idleness: Nobody 1900",))

    def force(self, scene, own, load):
        return Flow()


def test_what_is_used_is_cited():
    hold = carom.PostureControl(BALL, [0.0], [1.0], [1.0], compensate_weight=True, anchored="link1")
    floor = carom.Contact(BALL.tip, carom.Plane(height=0.0), carom.Stronge(0.5), carom.Coulomb(0.3), radius=0.1)
    side = carom.Contact(BALL.tip, carom.Wall(1.0, "left"), carom.Flores(1e6, 0.5), radius=0.1, name="wall")
    text = carom.cite(carom.World(BALL, contacts=[floor, side], control=[hold, Ours()]))
    for words in ("stronge: ", "flores: ", "Glocker and Pfeiffer", "Akhan, Zhao", "idleness: Nobody 1900", "Tsitouras"):
        assert words in text
    assert "Timoshenko" not in text and "Manfredi" not in text


def test_a_result_cites_its_own_solver():
    world = carom.World(BALL)
    run = carom.simulate(world, world.state(), until=0.1, settings=carom.Settings("dopri8"))
    assert "Prince and Dormand" in carom.cite(run) and "Tsitouras" not in carom.cite(run)
