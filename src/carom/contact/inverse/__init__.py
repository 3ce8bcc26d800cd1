"""Inverse dynamics in contact: torques and reactions of a motion along surfaces, with joints that have no motor.

Newton and Euler's equations of everything that joint k carries, about that joint, with E_k what its inertia, weight,
springs and dampers need:

    tau_k + sum_c l_kc f_c = E_k,      l_kc = moment about joint k of a unit of reaction c, zero if c is not carried

A contact that slides has one unknown, its normal force, and a direction n - sigma mu t (sigma the sense of sliding);
one that sticks has two, along n and t. Joints without motor, and the base of a free mechanism, have no tau: their
equations, few as they are, give the reactions, and all the others the torques. The motion itself is closed first: the
joints that must follow are found from gap = 0 and its two derivatives.

              tau_2        n                 singular where the line of the reaction n - sigma mu t passes through
          o---------o      |    tip          the joint that is to be without torque: `leverage`, the sine of the angle
         /           \\     |/               between that line and the lever, is 0 there
    tau_1             passive___________
"""

from typing import TYPE_CHECKING

from ..._lazily import lazily

if TYPE_CHECKING:
    from .checks import NO_LEVER as NO_LEVER
    from .checks import OFF as OFF
    from .checks import SLOW as SLOW
    from .problem import refuse_follow as refuse_follow
    from .reactions import ContactEfforts as ContactEfforts
    from .solver import ContactInverse as ContactInverse

__getattr__, __dir__, __all__ = lazily(__name__)
