"""Impulsive laws and rigid contacts that are refused, each with a sentence; and what goes together."""

from typing import Any

import numpy as np
import pytest

import carom
from carom.contact import blow

BALL = carom.Mechanism([carom.Disk(radius=0.1, mass=1.0)], base=carom.Free())
FLOOR = carom.Plane(height=0.0)


def rigid(law: Any = 0.0, friction: Any = None, name: str = "foot") -> Any:
    return carom.Contact(BALL.tip, FLOOR, law, friction, name=name)


def world(*contacts: Any, **options: Any) -> carom.World:
    return carom.World(BALL, contacts=contacts, **options)


def several_of(count: int, law: Any = 0.0, friction: Any = None) -> Any:
    return world(*(rigid(law, friction, name=f"foot {i}") for i in range(count)))


def slid(count: int, law: Any = 0.0, friction: Any = None) -> Any:
    """Of links that slide, or bend, no more contacts are supported than can be written out one by one."""
    press = carom.Mechanism([carom.Link(carom.Rod(1.0, 1.0), joint=carom.Slider(axis=(0.0, 1.0)))])
    feet = [carom.Contact(press.tip, FLOOR, law, friction, name=f"foot {i}") for i in range(count)]
    return carom.World(press, contacts=feet)


REFUSED = {
    "Newton above 1": (
        lambda: carom.Newton(1.2),
        r"restitution of Newton is 1.2; it must lie in \[0, 1\]; 0 is plastic",
    ),
    "Poisson below 0": (lambda: carom.Poisson(-0.1), r"restitution of Poisson is -0.1; it must be at least 0"),
    "Stronge is nan": (
        lambda: carom.Stronge(float("nan")),
        r"restitution of Stronge is nan; it must be a finite number",
    ),
    "a number above 1": (lambda: rigid(1.01), r"restitution of Newton is 1.01; it must lie in \[0, 1\]"),
    "two restitutions": (
        lambda: rigid([0.1, 0.2]),
        r"restitution of Newton has shape \(2,\); it must be a single number",
    ),
    "no restitution": (
        lambda: carom.Contact(BALL.tip, FLOOR),
        r"normal of contact .* is None; it must be a compliant law .*Newton\(0.5\)",
    ),
    "a word": (
        lambda: rigid("plastic"),
        r"normal of contact 'foot' is 'plastic'; it must be a compliant law .* or an impulsive one",
    ),
    "negative mu": (lambda: carom.Coulomb(-0.1), r"mu of Coulomb is -0.1; it must be at least 0"),
    "static below mu": (
        lambda: carom.Coulomb(0.4, static=0.3),
        r"static of Coulomb is 0.3, less than mu, 0.4; it must be at least mu; leave it out to use mu",
    ),
    "negative drag": (lambda: carom.Coulomb(0.4, viscous=-1.0), r"viscous of Coulomb is -1; it must be at least 0"),
    "smooth friction": (
        lambda: rigid(0.0, carom.SmoothCoulomb(0.3, 1e-3)),
        r"friction of rigid contact 'foot' is SmoothCoulomb; .* sticks exactly: carom.Coulomb.* go with compliant ones",
    ),
    "bristles": (
        lambda: rigid(0.0, carom.LuGre(mu=0.3, static=0.4, speed=0.01, stiffness=1e5)),
        r"friction of rigid contact 'foot' is LuGre; .* sticks exactly: carom.Coulomb",
    ),
    "a number for friction": (lambda: rigid(0.0, 0.3), r"friction of rigid contact 'foot' is float; .* carom.Coulomb"),
    "Stronge twice": (
        lambda: several_of(2, carom.Stronge(0.5), carom.Coulomb(0.3)),
        r"restitution of contact 'foot 0' is Stronge, which is defined for one contact where .* are 2 .* use Poisson",
    ),
    "mixed laws": (
        lambda: world(rigid(carom.Newton(0.5)), rigid(carom.Poisson(0.5), name="hand")),
        r"rigid contacts mix the laws Newton and Poisson; .* need one law \(Plastic goes with Newton and Poisson\)",
    ),
    "13 contacts of what slides": (
        lambda: slid(13),
        r"13 rigid contacts have 8192 combinations .* at most 4096 are supported",
    ),
    "7 with friction": (lambda: slid(7, 0.0, carom.Coulomb(0.3)), r"7 rigid contacts have 16384 combinations"),
    "not a contact": (lambda: world(FLOOR), r"contacts of World holds a Plane; it must hold contacts"),
    "one name twice": (
        lambda: world(rigid(), rigid()),
        r"2 rigid contacts are called 'foot'; names must differ; give each",
    ),
    "settles at no speed": (
        lambda: world(rigid(), settle_speed=-1.0),
        r"settle_speed of rigid contacts is -1; it must be at least 0",
    ),
    "blow above 1": (
        lambda: blow(np.eye(2), np.eye(2), [0.0, -1.0], 1.5),
        r"restitution of blow is 1.5; .* in \[0, 1\]",
    ),
    "blow with three": (
        lambda: blow(np.eye(2), np.eye(2), [0.0, -1.0], [0.1, 0.2, 0.3]),
        r"restitution of blow is \[0.1, 0.2, 0.3\]; .* one for each of 2 rows",
    ),
    "blow on a flat mass": (
        lambda: blow(np.ones(2), np.eye(2), [0.0, -1.0]),
        r"mass of a blow has shape \(2,\); .* squ",
    ),
    "blow with long rows": (
        lambda: blow(np.eye(2), np.eye(3), [0.0, -1.0]),
        r"rows of a blow have shape \(3, 3\); .* 2 n",
    ),
    "blow with a long velocity": (lambda: blow(np.eye(2), np.eye(2), np.ones(3)), r"velocity of blow has shape \(3,\)"),
}


@pytest.mark.parametrize("mistake", REFUSED)
@pytest.mark.usefixtures("unchecked")
def test_mistakes_are_refused_with_a_sentence(mistake):
    make, sentence = REFUSED[mistake]
    with pytest.raises(carom.CaromError, match=sentence):
        make()


def test_plastic_goes_with_every_law():
    for law in (carom.Newton(0.5), carom.Poisson(0.5)):
        world(rigid(law), rigid(carom.Plastic(), name="hand"))
    world(rigid(carom.Stronge(0.5), carom.Coulomb(0.3)))  # alone
    several_of(2, carom.Stronge(0.5))
    several_of(12)
    several_of(6, 0.0, carom.Coulomb(0.3))
