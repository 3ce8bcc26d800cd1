"""Motions over time: position, velocity and acceleration of any vector (joint angles, coordinates) at every instant.

     q |        ______  hold           ParabolicBlends   acceleration constant, zero, constant
       |      /                        Cubic             given end velocities
       |    /                          Quintic           given end velocities and accelerations
       |___/                           MinimumJerk       the quintic from rest to rest
     0 +---|------|---- t              Waypoints         through points, acceleration continuous
       knots[0]  knots[-1]             Hold, Sequence    stand still; one after the other
                                       Fitted            any function of time

All of them are smooth between *knots*, the instants at which an acceleration (or a higher derivative) may jump. An
integrator must not step across a jump, so a piece can be asked for by its number: `piece(i, t)` is the formula of piece
i, continued beyond its ends. Before its first and after its last knot a motion stands still.
"""

from typing import TYPE_CHECKING

from ..._lazily import lazily

if TYPE_CHECKING:
    from .fitted import Fitted as Fitted
    from .pieces import AbstractTrajectory as AbstractTrajectory
    from .pieces import Motion as Motion
    from .point_to_point import Cubic as Cubic
    from .point_to_point import Hold as Hold
    from .point_to_point import MinimumJerk as MinimumJerk
    from .point_to_point import ParabolicBlends as ParabolicBlends
    from .point_to_point import Quintic as Quintic
    from .polynomials import Polynomials as Polynomials
    from .sequence import Sequence as Sequence
    from .waypoints import Waypoints as Waypoints

__getattr__, __dir__, __all__ = lazily(__name__)
