"""What a compliant contact refuses: laws of another kind, and friction where nothing slides."""

from __future__ import annotations

from .. import errors
from .friction import AbstractFriction
from .normal import AbstractNormalLaw
from .pairs import AbstractPair


def refuse_laws(name: str, pair: AbstractPair, normal: object, friction: object) -> None:
    for field, value, kind, such in (
        ("normal", normal, AbstractNormalLaw, "carom.Hertz(...)"),
        ("friction", friction, AbstractFriction, "carom.Coulomb(mu=0.3)"),
    ):
        if not isinstance(value, kind):
            raise errors.CaromError(
                f"{field} of contact '{name}' is a {type(value).__name__}; it must be a {field} law such as {such}"
            )
    if pair.stop is not None and isinstance(friction, AbstractFriction) and friction.rubs:
        raise errors.CaromError(
            f"friction of contact '{name}' is {type(friction).__name__}, but a joint's stop does not "
            "slide; leave it out; for friction in the joint use Joint(friction=...)"
        )
