"""What is not a finite number is refused by a sentence wherever a law or a controller takes a number."""

import dataclasses

import numpy as np
import pytest

import carom
from carom.contact import catalogue

BALL = carom.Mechanism([carom.Disk(radius=0.1, mass=1.0)], base=carom.Free())
FIELDS = [
    (name, field.name)
    for name, entry in catalogue.laws().items()
    for field in dataclasses.fields(entry.law)
    if not isinstance(field.default, bool) and field.name not in ("first", "second")
]


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize(("law", "field"), FIELDS)
def test_every_number_of_every_law_must_be_finite(law, field):
    example = catalogue.find(law).example()
    for wrong in (np.nan, np.inf, -np.inf, np.float32("nan")):
        with pytest.raises(carom.CaromError, match=rf"{field} of {type(example).__name__} is"):
            dataclasses.replace(example, **{field: wrong})


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize("field", ["youngs_modulus", "poisson_ratio", "yield_strength"])
def test_every_number_of_a_material_must_be_finite(field):
    for wrong in (np.nan, np.inf):
        with pytest.raises(carom.CaromError, match=f"{field} of Material is"):
            dataclasses.replace(carom.Material(210e9, 0.29, 1.12e9), **{field: wrong})


CONTROL = {
    "limit": (
        lambda: carom.PostureControl(BALL, [0.0], [1.0], [1.0], limit=[-1.0]),
        "limit of 'control' is .*negative",
    ),
    "targets": (lambda: carom.PostureControl(BALL, [np.nan], [1.0], [1.0]), "targets of 'control' is .*finite"),
    "height": (lambda: carom.control.AtHeight(BALL.tip, np.nan), "height of AtHeight is nan"),
    "time": (lambda: carom.control.AtTime(np.nan), "time of AtTime is nan"),
}


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize("what", CONTROL)
def test_numbers_of_controllers_must_be_finite(what):
    make, words = CONTROL[what]
    with pytest.raises(carom.CaromError, match=words):
        make()
