"""A target outside a joint limit: refused with a sentence, unless nobody goes there."""

from collections.abc import Callable
from typing import Any

import jax
import pytest

import carom

from .refusals import ARM, refused

pytestmark = pytest.mark.usefixtures("unchecked")


def stopped(targets: Any, stop: Any, rigid: bool = False, **options: Any) -> carom.World:
    """An arm whose elbow has a stop, under posture control."""
    contact = carom.Contact(stop, normal=0.0) if rigid else None
    law = carom.HuntCrossley(stiffness=1e4, restitution=0.9)
    control = carom.PostureControl(ARM, targets, **{"kp": [9.0, 9.0], "kd": [1.0, 1.0], **options})
    return carom.World(ARM, contacts=contact or carom.Contact(stop, normal=law), control=control)


UPPER = carom.JointLimit(ARM, "link2", upper=1.0)
LOWER = carom.JointLimit(ARM, "link2", lower=-0.5)
TWO = [carom.control.AtTime(1.0), carom.control.AtTime(2.0)]
BEYOND = {
    "absolute": (
        lambda: stopped([0.2, 1.5], UPPER),
        r"target 1 of 'control' asks link 'link2' for 1\.3 rad relative to its parent, beyond its upper JointLimit, "
        r"1 rad; bring the target within the limit, or move the stop",
    ),
    "lower, second": (
        lambda: stopped([[0.2, 0.5], [0.2, -0.6]], LOWER, schedule=TWO),
        r"target 2 of 'control' asks link 'link2' for -0\.8 rad .* beyond its lower JointLimit, -0\.5 rad",
    ),
    "relative": (lambda: stopped([0.2, 1.1], UPPER, relative=True), r"for 1\.1 rad .* upper JointLimit, 1 rad"),
    "rigid": (lambda: stopped([0.2, 1.5], UPPER, rigid=True), r"beyond its upper JointLimit"),
    "integral only": (lambda: stopped([0.2, 1.5], UPPER, kp=[0.0, 0.0], ki=[1.0, 1.0]), r"beyond its upper JointLimit"),
}


@refused(BEYOND)
def test_a_target_beyond_a_stop_is_refused(wrong: Callable[[], Any], sentence: str) -> None:
    with pytest.raises(carom.CaromError, match=sentence):
        wrong()


def test_targets_that_no_stop_hinders() -> None:
    stopped([0.2, 1.2], UPPER), stopped([0.2, -0.3], LOWER)  # at the stop itself
    stopped([0.2, 1.5], UPPER, kp=[9.0, 0.0]), stopped([0.2, 1.5], UPPER, kp=[0.0, 9.0])  # nobody goes there
    jax.jit(lambda x: stopped([0.2, x], UPPER).gravity)(1.5)  # a traced target has no value to check
