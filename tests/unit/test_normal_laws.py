"""Compliant normal laws: what holds for every law of the catalogue, and what is particular to some."""

import functools
from dataclasses import fields

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import carom
from carom.contact import AbstractHuntCrossley, catalogue, integrated_blow
from carom.hybrid.condition import condition_of

from .row_by_row import each_row
from .steel_and_rubber import RUBBER, STEEL

ENTRIES = {entry.card.name: entry for entry in catalogue.NORMAL_LAWS}
NAN = float("nan")

every = pytest.mark.parametrize("entry", ENTRIES.values(), ids=list(ENTRIES))
family = pytest.mark.parametrize(
    "law", [e.law for e in ENTRIES.values() if issubclass(e.law, AbstractHuntCrossley)], ids=lambda law: law.card.name
)


def memories(law):
    """What the law may remember: of a touch at 1 m/s, and after each of its own changes of phase."""
    first = law.touch(jnp.asarray(1.0))
    count = len(law.exits)
    after = [law.jump(tuple(jnp.asarray(k == i) for k in range(count)), 0, first, 1e-4)[1] for i in range(count)]
    return [first, *after]


# -- every law ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("entry", catalogue.laws().values(), ids=list(catalogue.laws()))
def test_the_card_is_complete_and_names_the_parameters(entry):
    """Of laws of every kind."""
    card = entry.card
    assert [name for name, _ in card.parameters] == [field.name for field in fields(entry.law)]
    assert all(meaning for _, meaning in card.parameters)
    assert card.formula and card.choose
    assert card.source or not card.parameters  # nobody invented no friction
    assert isinstance(entry.example(), entry.law)


def test_names_are_unique_and_found_with_the_nearest_suggested():
    every_name = [e.card.name for entries in catalogue.kinds().values() for e in entries]
    assert len(set(every_name)) == len(every_name)
    assert catalogue.find("hu-guo").law is carom.HuGuo
    with pytest.raises(carom.CaromError, match=r"no law 'flore'; .*did you mean 'flores'\?"):
        catalogue.find("flore")
    with pytest.raises(carom.CaromError, match=r"no friction law 'hertz'"):
        catalogue.find("hertz", "friction")
    with pytest.raises(carom.CaromError, match=r"no kind of law 'norml'; .*did you mean 'normal'\?"):
        catalogue.laws("norml")


@every
def test_the_force_never_pulls(entry):
    """In the phase to which its exits lead: a law whose formula would pull leaves the phase just there."""
    law = entry.example()

    def force_after(phase, memory, d, rate):
        fired = tuple(condition_of(g).value >= 0.0 for g in law.guard(phase, memory, d, rate))
        return law.force(*law.jump(fired, phase, memory, d), d, rate)

    d, rate = (jnp.asarray(x.ravel()) for x in np.meshgrid(np.geomspace(1e-9, 1e-2, 30), np.linspace(-10, 10, 41)))
    for memory in memories(law):
        for phase in range(len(law.phases)):
            force = each_row(functools.partial(force_after, phase, memory))(d, rate)
            assert np.all(np.isfinite(force)) and np.all(force >= 0.0)


@every
def test_derivatives_are_finite_at_touch_down_and_outside(entry):
    law = entry.example()
    arrays, rest = eqx.partition(jax.tree.map(jnp.asarray, law), eqx.is_inexact_array)

    def force(arrays, d, rate, phase, memory):
        return eqx.combine(arrays, rest).force(phase, memory, d, rate)

    slope = carom.jit(jax.grad(force, argnums=(0, 1, 2)))
    for memory in memories(law):
        for phase in range(len(law.phases)):
            for d in (0.0, -1e-6, 1e-300):
                leaves = jax.tree.leaves(slope(arrays, d, 1.0, phase, memory))
                assert all(np.all(np.isfinite(x)) for x in leaves), (phase, d, leaves)


@every
def test_guards_jumps_and_memory_fit_together(entry):
    law = entry.example()
    memory = law.touch(jnp.asarray(1.0))
    assert len(memory) == len(law.memory)
    assert len(law.guard(0, memory, 1e-6, 1.0)) == len(law.exits)
    phase, met = law.meet(jnp.asarray(1.0), memory, (0.0, 0.0))
    assert 0 <= int(phase) < len(law.phases) and len(met) == len(law.memory)
    assert float(law.surface(memory, (0.0, 0.0))) == 0.0


@every
def test_a_blow_gives_back_no_more_than_it_got(entry):
    blow = integrated_blow(entry.example(), 0.7, 2.0)
    assert 0.0 < blow.speed <= 0.7 * (1.0 + 1e-11)
    assert blow.depth > 0.0 and blow.duration > blow.depth / 0.7


# -- the family of Hunt and Crossley -----------------------------------------------------------------------------------

# By hand from the formulas, at c = 0.5 and at c = 0.2; gonthier: from the table of the relation itself.
FACTORS = {
    "hunt-crossley": (0.75, 1.2),
    "herbert-mcwhannell": (1.0, 4.8 / 3.36),
    "lee-wang": (0.375, 0.6),
    "lankarani-nikravesh": (0.5625, 0.72),
    "flores": (1.6, 6.4),
    "gharib-hurmuzlu": (2.0, 5.0),
    "hu-guo": (1.5, 6.0),
    "carvalho-martins": (7.875 / 5.5, 4.8),
}


@pytest.mark.parametrize("name", FACTORS)
def test_loss_factors_are_the_published_ones(name):
    for c, f in zip((0.5, 0.2), FACTORS[name], strict=True):
        assert float(ENTRIES[name].law.loss(c)) == pytest.approx(f, rel=1e-14)


@pytest.mark.parametrize("c", [0.02, 0.1, 0.3, 0.499, 0.5, 0.8, 0.99])
def test_gonthier_solves_its_equation(c):
    """(1 + s/c) = (1 - s) exp(s (1 + 1/c)), divided by the exponential, which is 1e22 for c = 0.02."""
    s = float(carom.Gonthier.loss(c)) * c
    assert 0.0 < s < 1.0 or c == 0.02  # there 1 - s is below rounding
    assert abs((1.0 + s / c) * np.exp(-s * (1.0 + 1.0 / c)) - (1.0 - s)) < 2e-16
    assert s == pytest.approx(1.0 - c * c, rel=0.35)  # the authors' short cut, not the root s = 0 that every c has


def test_gonthier_has_the_derivative_of_the_implicit_equation():
    """By differences, across the seam at c = 1/2 and up to the elastic end, where f = 3 (1 - c)/2."""
    loss, slope = jax.jit(carom.Gonthier.loss), jax.jit(jax.grad(carom.Gonthier.loss))
    for c in (0.1, 0.4999999, 0.5000001, 0.9):
        h = 1e-5
        assert float(slope(c)) == pytest.approx(float((loss(c + h) - loss(c - h)) / (2 * h)), rel=1e-6)
    assert float(loss(1.0)) == 0.0
    assert float(slope(1.0)) == pytest.approx(-1.5, rel=1e-12)


def test_the_two_branches_of_carvalho_and_martins_meet():
    below, above = (float(carom.CarvalhoMartins.loss(1 / 3 + h)) for h in (-1e-12, 1e-12))
    assert below == pytest.approx(8 / 3, rel=1e-11) and above == pytest.approx(8 / 3, rel=1e-11)


@family
def test_the_force_is_the_formula(law):
    example, d, rate, v0 = law(3e6, 0.6, exponent=1.2), 2e-3, -0.3, 1.7
    f = float(law.loss(0.6))
    memory = example.touch(v0)
    expected = 3e6 * d**1.2 * max(1.0 + f * rate / v0, 0.0)
    assert float(example.force(0, memory, d, rate)) == pytest.approx(expected, rel=1e-13)
    hertzian = law(3e6, 0.6)
    assert float(hertzian.force(0, memory, d, 0.0)) == pytest.approx(3e6 * d**1.5, rel=1e-13)


@pytest.mark.usefixtures("unchecked")
@family
def test_restitutions_outside_the_range_are_refused(law):
    name = law.__name__
    for wrong in (1.4, -0.1):
        with pytest.raises(
            carom.CaromError, match=rf"restitution of {name} is {wrong}; it must lie in \[0, 1\]; 1 is el"
        ):
            law(1e6, wrong)
    with pytest.raises(carom.CaromError, match=rf"restitution of {name} is nan; .*finite"):
        law(1e6, NAN)
    with pytest.raises(carom.CaromError, match=rf"restitution of {name} is 'half'; it must be a number"):
        law(1e6, "half")
    with pytest.raises(carom.CaromError, match=rf"stiffness of {name} is 0; it must be greater than 0"):
        law(0.0, 0.5)
    with pytest.raises(carom.CaromError, match=rf"exponent of {name} is 0.5; it must be at least 1"):
        law(1e6, 0.5, exponent=0.5)
    if law.divides:
        with pytest.raises(carom.CaromError, match=rf"restitution of {name} is 0, .*divides by it; .* impulsive law"):
            law(1e6, 0.0)
        assert not np.isfinite(float(law.loss(jnp.asarray(0.0))))
    else:
        assert np.isfinite(float(law.loss(0.0))) and law(1e6, 0.0) is not None


@family
def test_a_body_put_down_at_rest_is_refused_with_the_cure(law):
    sentence = law(1e6, 0.5).refuses(jnp.asarray(0.0))
    assert sentence.startswith("the approach speed is 0 m/s") and law.__name__ in sentence and "carom.Hooke" in sentence
    assert law(1e6, 0.5).refuses(0.1) is None
    assert law(1e6, 1.0).refuses(0.0) is None  # no loss, no reference speed
    assert carom.Hertz(1e6).refuses(0.0) is None


# -- stiffness from materials ------------------------------------------------------------------------------------------


def test_stiffness_of_two_materials_and_radii():
    """Steel on steel, E = 210e9/(2 (1 - 0.29^2)) = 114.6413e9 Pa, R = 1 cm: (4/3) E sqrt(R) = 1.528551e10."""
    assert float(carom.Hertz.of(STEEL, STEEL, radius=0.01).stiffness) == pytest.approx(1.528551e10, rel=1e-6)
    two = carom.Flores.of(STEEL, STEEL, radius=0.02, other_radius=0.02, restitution=0.7)
    assert float(two.stiffness) == pytest.approx(1.528551e10, rel=1e-6) and two.restitution == 0.7
    soft = float(carom.Hertz.of(STEEL, RUBBER, radius=0.01).stiffness)
    assert soft == pytest.approx(4 / 3 * 5e6 / (1 - 0.49**2) * 0.1, rel=1e-4)  # the steel is rigid beside it


REFUSED = {
    "no material": (
        lambda: carom.Hertz.of(210e9, STEEL, radius=0.01),
        r"first material of hertz_stiffness is a float; .*",
    ),
    "zero radius": (lambda: carom.Hertz.of(STEEL, STEEL, radius=0.0), r"radius of hertz_stiffness is 0; .* greater"),
    "zero other radius": (lambda: carom.Hertz.of(STEEL, STEEL, 0.1, 0.0), r"other_radius of hertz_stiffness is 0"),
    "Poisson ratio": (
        lambda: carom.Material(1e9, 0.6),
        r"poisson_ratio of Material is 0.6; it must lie in \(-1, 0.5\]",
    ),
    "no stiffness": (lambda: carom.Hertz(-1.0), r"stiffness of Hertz is -1; it must be greater than 0"),
    "negative damping": (lambda: carom.Hooke(1e6, -1.0), r"damping of Hooke is -1; it must be at least 0"),
    "no yield strength": (
        lambda: carom.JacksonGreen(RUBBER, RUBBER, 0.01),
        r"yield_strength is missing in both materials of JacksonGreen; .*; give .*or use Hertz",
    ),
    "steel as a word": (
        lambda: carom.JacksonGreen("steel", STEEL, 0.01),
        r"first material of JacksonGreen is a str; it must be a carom.Material",
    ),
    "dents as a number": (
        lambda: carom.JacksonGreen(STEEL, STEEL, 0.01, dents=2),
        r"dents of JacksonGreen is 2; it must be True or False",
    ),
}


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize("case", REFUSED)
def test_mistakes_are_answered_by_a_sentence(case):
    make, sentence = REFUSED[case]
    with pytest.raises(carom.CaromError, match=sentence):
        make()
