"""Variants of scenarios: tables that are merged over a file."""

from carom.scenario import load


def test_variants_replace_what_they_name():
    pid = load("arm-controllers").variant("pid")
    assert pid.name == "arm-controllers-pid" and pid.compare == [] and pid.variants == {}
    assert pid.control["drive"].ki == [1000.0, 120.0] and pid.control["drive"].kp == [600.0, 300.0]


def test_a_variant_of_a_capture_keeps_what_it_does_not_name():
    """`kind` of a capture is a choice in one table; that of a body says which table stands there."""
    elastic = load("flexible-capture").variant("elastic").capture
    assert (elastic.kind, elastic.restitution) == ("point", 1.0)
    assert (elastic.hand, elastic.grip, elastic.approach) == ("arm.link2.tip", "target.grip", 1.5)
    assert load("flexible-strike").variant("rigid").mechanisms["arm"].links["fore"].body.kind == "rod"
