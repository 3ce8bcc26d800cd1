"""Controllers and schedules: automata that apply torques; motions over time."""

from typing import TYPE_CHECKING

from .._lazily import lazily

if TYPE_CHECKING:
    from .actuator import AbstractActuator as AbstractActuator
    from .computed_torque import ComputedTorque as ComputedTorque
    from .feedforward import FeedForward as FeedForward
    from .function import TorqueFunction as TorqueFunction
    from .machine import StateMachine as StateMachine
    from .mode import Mode as Mode
    from .phased_inputs import PhasedInputs as PhasedInputs
    from .planned_torques import AbstractTorques as AbstractTorques
    from .posture import PostureControl as PostureControl
    from .switch import AbstractSwitch as AbstractSwitch
    from .switch import After as After
    from .switch import AtHeight as AtHeight
    from .switch import AtTime as AtTime
    from .switch import OnRelease as OnRelease
    from .switch import OnSlip as OnSlip
    from .switch import OnStrike as OnStrike
    from .switch import When as When
    from .trajectory import AbstractTrajectory as AbstractTrajectory
    from .trajectory import Cubic as Cubic
    from .trajectory import Fitted as Fitted
    from .trajectory import Hold as Hold
    from .trajectory import MinimumJerk as MinimumJerk
    from .trajectory import Motion as Motion
    from .trajectory import ParabolicBlends as ParabolicBlends
    from .trajectory import Polynomials as Polynomials
    from .trajectory import Quintic as Quintic
    from .trajectory import Sequence as Sequence
    from .trajectory import Waypoints as Waypoints
    from .until import Impacts as Impacts

__getattr__, __dir__, __all__ = lazily(__name__)
