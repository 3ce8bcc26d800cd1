"""Restitution as a ratio of energies."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import jax.numpy as jnp

from ... import errors
from ...quantities import Real
from ..card import Card
from ._path import Path
from .at_speed.speed_form import AbstractRestitution, check_restitution
from .impact_law import POISSON, AbstractImpactLaw


class Stronge(AbstractImpactLaw):
    """The normal force gives back e^2 of the energy that it took in compression. It never creates energy.

    - `restitution` e in [0, 1], or a function of the approach speed (`carom.PowerRestitution`, ...)

    Several contacts without friction share a blow if they have one e: there Poisson's impulses obey this law at every
    contact. Let P_c be the impulses of compression, u_c = u- + w P_c >= 0 the velocities at its end, complementary to
    them. Poisson adds P_r = e P_c, after which u+ = u_c + e (u_c - u-), so that u+ = -e u- where a contact pushes, and
    u+ >= u_c where it does not. As impulses grow in proportion, a contact's force does the work P_c u- / 2 in
    compression and e P_c (-e u-) / 2, which is -e^2 times that, in restitution; (1 - e^2) of the energy of compression,
    -P_c . u- / 2 >= 0, is lost. Contacts that rest, u- = 0, neither take nor give. With several e, Poisson gives one
    contact what another one took, and with friction the work depends on the path; both are refused. (A contact that
    settles, or recedes when the blow comes, has e = 0 while others rebound; there it holds in sum: nothing is created.)
    """

    restitution: Any
    together = POISSON
    along_path = True

    card = Card(
        "stronge",
        "work of the normal force in restitution = -e^2 times that in compression",
        (("restitution", "e in [0, 1], or e(v)"),),
        "Stronge 1990",
        "One contact with friction: the law that is consistent with energy. Several contacts with friction: Poisson.",
    )

    def __check_init__(self) -> None:
        check_restitution("Stronge", self.restitution)

    @property
    def asked(self) -> Any:
        return self.restitution

    def agree(self, owner: str, others: Sequence[AbstractImpactLaw]) -> None:
        for e in (other.asked for other in others):
            if isinstance(e, AbstractRestitution) or isinstance(self.restitution, AbstractRestitution):
                raise errors.CaromError(
                    f"restitution of contact '{owner}' is a function of speed by Stronge, but other contacts can share "
                    "its blows, each with its own speed; by this law they need one number; use Poisson"
                )
            errors.refuse_if(
                jnp.asarray(e != self.restitution),
                partial(_unlike, owner, self.restitution, e),
            )

    def end(self, path: Path, restitution: Real) -> Any:
        turn = path.impulse(0.0)
        return path.impulse_after(turn, -(restitution**2) * path.work(turn))


def _unlike(owner: str, own: Real, other: Real) -> str:
    return (
        f"restitution of contact '{owner}' is {float(own):g} by Stronge, but a contact that can share its blows has "
        f"{float(other):g}; by this law they need the same; use Poisson"
    )
