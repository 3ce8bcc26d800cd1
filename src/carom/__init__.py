"""carom: planar robots that collide."""

import os as _os
from types import ModuleType as _ModuleType
from typing import TYPE_CHECKING

from ._lazily import lazily as _lazily
from ._lazily import when_imported as _when_imported

# XLA compiles a loop with small buffers into one function; "small" is 1 kB unless told otherwise, too little for a
# robot. The flag is read when JAX first compiles something, so carom is best imported before that.
_SMALL_LOOP = "xla_cpu_small_while_loop_byte_threshold"
if "xla_backend_extra_options" not in _os.environ.get("XLA_FLAGS", ""):
    _os.environ["XLA_FLAGS"] = f"{_os.environ.get('XLA_FLAGS', '')} --xla_backend_extra_options={_SMALL_LOOP}=2000000"
# What goes wrong in XLA is an exception; what it says on top of that, such as how slowly it compiles, is for nobody.
_os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")


def _set_up(jax: _ModuleType) -> None:
    """JAX as carom needs it."""
    from . import _cache

    # What was compiled once is found on disk by the next process, unless the user keeps a cache of their own.
    if not getattr(jax.config, "jax_compilation_cache_dir", None):
        compiled = _cache.own_files("compiled")
        if compiled is not None:  # else it is somebody else's, and programs are code
            jax.config.update("jax_compilation_cache_dir", str(compiled))
            jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.3)
    # Contact stiffness times micrometres leaves nothing for float32 to hold.
    jax.config.update("jax_enable_x64", True)


_when_imported("jax", _set_up)

if TYPE_CHECKING:
    from . import beam as beam
    from . import contact as contact
    from . import control as control
    from . import crawl as crawl
    from . import dynamics as dynamics
    from . import experiment as experiment
    from . import figures as figures
    from . import hybrid as hybrid
    from . import optimal as optimal
    from . import report as report
    from . import scenario as scenario
    from . import study as study
    from ._citation import cite as cite
    from ._simulation import SimulationError as SimulationError
    from ._simulation import simulate as simulate
    from .captures import AfterCapture as AfterCapture
    from .captures import Capture as Capture
    from .captures import HoldPose as HoldPose
    from .captures import after_capture as after_capture
    from .captures import capture as capture
    from .captures import capture_by_pseudo_inverse as capture_by_pseudo_inverse
    from .contact import Ambrosio as Ambrosio
    from .contact import Among as Among
    from .contact import BengisuAkay as BengisuAkay
    from .contact import Block as Block
    from .contact import Capsule as Capsule
    from .contact import CarvalhoMartins as CarvalhoMartins
    from .contact import Circle as Circle
    from .contact import ClearanceJoint as ClearanceJoint
    from .contact import Contact as Contact
    from .contact import Coulomb as Coulomb
    from .contact import Dahl as Dahl
    from .contact import Ellipse as Ellipse
    from .contact import Flores as Flores
    from .contact import GharibHurmuzlu as GharibHurmuzlu
    from .contact import Gonthier as Gonthier
    from .contact import Graph as Graph
    from .contact import Ground as Ground
    from .contact import HerbertMcWhannell as HerbertMcWhannell
    from .contact import Hertz as Hertz
    from .contact import Hooke as Hooke
    from .contact import HuGuo as HuGuo
    from .contact import HuntCrossley as HuntCrossley
    from .contact import Implicit as Implicit
    from .contact import JacksonGreen as JacksonGreen
    from .contact import JointLimit as JointLimit
    from .contact import Karnopp as Karnopp
    from .contact import LankaraniNikravesh as LankaraniNikravesh
    from .contact import LeeWang as LeeWang
    from .contact import LinearRestitution as LinearRestitution
    from .contact import LuGre as LuGre
    from .contact import Material as Material
    from .contact import Moving as Moving
    from .contact import Newton as Newton
    from .contact import OnSurface as OnSurface
    from .contact import Oval as Oval
    from .contact import Plane as Plane
    from .contact import Plastic as Plastic
    from .contact import Poisson as Poisson
    from .contact import Polygon as Polygon
    from .contact import PowerRestitution as PowerRestitution
    from .contact import Ring as Ring
    from .contact import Round as Round
    from .contact import Segment as Segment
    from .contact import SmoothCoulomb as SmoothCoulomb
    from .contact import Spline as Spline
    from .contact import Stribeck as Stribeck
    from .contact import Stronge as Stronge
    from .contact import ThorntonRestitution as ThorntonRestitution
    from .contact import ViscoelasticRestitution as ViscoelasticRestitution
    from .contact import Wall as Wall
    from .contact import achieved_restitution as achieved_restitution
    from .control import After as After
    from .control import AtHeight as AtHeight
    from .control import AtTime as AtTime
    from .control import ComputedTorque as ComputedTorque
    from .control import FeedForward as FeedForward
    from .control import Impacts as Impacts
    from .control import Mode as Mode
    from .control import OnRelease as OnRelease
    from .control import OnSlip as OnSlip
    from .control import OnStrike as OnStrike
    from .control import PhasedInputs as PhasedInputs
    from .control import PostureControl as PostureControl
    from .control import StateMachine as StateMachine
    from .control import TorqueFunction as TorqueFunction
    from .control import When as When
    from .derivation import Equations as Equations
    from .derivation import equations as equations
    from .dynamics import Locked as Locked
    from .dynamics import OnCurve as OnCurve
    from .dynamics import Pin as Pin
    from .element import Drag as Drag
    from .element import ExtraStates as ExtraStates
    from .element import RollingResistance as RollingResistance
    from .element import Spring as Spring
    from .errors import CaromError as CaromError
    from .errors import CaromWarning as CaromWarning
    from .experiment.comparing import Comparison as Comparison
    from .experiment.comparing import compare as compare
    from .experiment.measuring.compare_scenarios import compare_laws as compare_laws
    from .experiment.measuring.fit_scenario import fit_scenario as fit_scenario
    from .experiment.optimizing import Optimum as Optimum
    from .experiment.optimizing.optimize import optimize as optimize
    from .experiment.sweeping.indices import sobol_indices as sobol_indices
    from .experiment.sweeping.sweep import sweep as sweep
    from .hybrid import Settings as Settings
    from .hybrid import World as World
    from .hybrid import jit as jit
    from .mechanism import BASE as BASE
    from .mechanism import Arm as Arm
    from .mechanism import Beam as Beam
    from .mechanism import Body as Body
    from .mechanism import Disk as Disk
    from .mechanism import Fixed as Fixed
    from .mechanism import Free as Free
    from .mechanism import Joint as Joint
    from .mechanism import Link as Link
    from .mechanism import Mechanism as Mechanism
    from .mechanism import PointMass as PointMass
    from .mechanism import Rod as Rod
    from .mechanism import Site as Site
    from .mechanism import Slider as Slider
    from .mechanism import State as State
    from .mechanism import side_by_side as side_by_side
    from .optimal import Estimates as Estimates
    from .optimal import KalmanFilter as KalmanFilter
    from .optimal import OptimalPath as OptimalPath
    from .optimal import QuadraticCost as QuadraticCost
    from .optimal import Stabilised as Stabilised
    from .optimal import Stepping as Stepping
    from .optimal.ilqr import ilqr as ilqr
    from .optimal.stabilise import stabilise as stabilise
    from .result import Event as Event
    from .result import Impact as Impact
    from .result import Result as Result
    from .result import Stance as Stance
    from .scenario import Scenario as Scenario
    from .study import Model as Model
    from .study import Observations as Observations
    from .study import ReturnMap as ReturnMap
    from .study import Returns as Returns
    from .study import attractors as attractors
    from .study import batch as batch
    from .study import bifurcation as bifurcation
    from .study import box_dimension as box_dimension
    from .study import continue_doubled as continue_doubled
    from .study import continue_orbit as continue_orbit
    from .study import final_state as final_state
    from .study import find_orbit as find_orbit
    from .study import find_orbits as find_orbits
    from .study import fit as fit
    from .study import lyapunov as lyapunov
    from .study import poincare as poincare
    from .study import simulated_restitution as simulated_restitution
    from .study import states_at as states_at

__version__ = "0.1.0"

_asked, _, __all__ = _lazily(__name__)


def __getattr__(name: str) -> object:
    """Names load when they are first asked for."""
    try:
        return _asked(name)
    except ModuleNotFoundError as missing:
        raise ImportError(
            f"carom.{name} needs {missing.name}, which is not installed; run: pip install 'carom[scenario]'"
        ) from None


def __dir__() -> list[str]:
    """What is there for users: packages and names, without the private modules."""
    return [*__all__, "__version__"]
