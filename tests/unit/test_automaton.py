"""What an automaton is asked for: a few members, and an anatomy that says what it has."""

import itertools
from pathlib import Path

import jax.numpy as jnp
import pytest
from tools import house

import carom
from carom.contact.friction._stick_slip import WORDS
from carom.contact.impact._anatomy import on_arrays, written_out
from carom.contact.impact._phases import LOST_WORDS, modes_of, number_of
from carom.hybrid import Anatomy

BALL = carom.Mechanism([carom.Disk(radius=0.1, mass=1.0)], base=carom.Free())
NAMES, RUBS = ("floor", "wall", "roof"), ("floor", "roof")


def test_its_members_are_few_and_the_page_about_extending_has_them_all():
    members = house.members_of_an_automaton()
    assert len(members) <= 12
    table = (Path(house.ROOT) / "docs" / "extending.md").read_text().split("| who asks, and when |")[1].split("\n\n")[0]
    assert [name for name in members if f"`{name}`" not in table] == []


def test_exits_may_come_in_families():
    has = Anatomy(exits=("tick", ("strike a", "strike b"), "stop"))
    assert has.families == (None, 2, None)
    assert has.exit_names == ("tick", "strike a", "strike b", "stop")


@pytest.mark.parametrize("field", ["phases", "exits", "memory"])
def test_one_name_without_brackets_is_refused(field):
    with pytest.raises(carom.CaromError, match=rf"{field} of Anatomy is 'on'; it must hold names: \('on',\)"):
        Anatomy(**{field: "on"})


def test_rigid_contacts_have_the_same_names_written_out_and_on_arrays():
    plain, arrays = written_out(NAMES, RUBS, True), on_arrays(NAMES, RUBS, True)
    assert plain.exits == plain.exit_names == arrays.exit_names
    assert arrays.families == (3, 3, 2, 2, 2, 2) and on_arrays(NAMES, (), True).families == (3, 3)
    assert arrays.memory == (*(f"mode {name}" for name in NAMES), *plain.memory)
    assert plain.channels == arrays.channels


def test_a_phase_of_rigid_contacts_is_named_after_what_each_does():
    floor, newton, rubs = carom.Plane(height=0.0), carom.Newton(0.5), carom.Coulomb(0.3)
    laws = {name: (newton, rubs) if name in RUBS else (newton,) for name in NAMES}
    contacts = tuple(carom.Contact(BALL.tip, floor, *law, radius=0.1, name=name) for name, law in laws.items())
    phases = written_out(NAMES, RUBS, False).phases
    assert len(phases) == 4 * 2 * 4 + 1 and phases[-1] == LOST_WORDS and phases[0] == "open"
    for modes in itertools.product(range(4), range(2), range(4)):
        number = int(number_of(contacts, list(modes)))
        assert [int(m) for m in modes_of(contacts, jnp.asarray(number))] == list(modes)
        told = [f"{name} {WORDS[m]}" if name in RUBS else name for name, m in zip(NAMES, modes, strict=True) if m]
        assert phases[number] == (f"closed: {', '.join(told)}" if told else "open")
