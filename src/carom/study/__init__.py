"""What people do with many runs: batches, derivatives, periodic motion."""

from typing import TYPE_CHECKING

from .._lazily import lazily

if TYPE_CHECKING:
    from .batches import Batch as Batch
    from .batches import batch as batch
    from .continuation import continue_doubled as continue_doubled
    from .continuation import continue_orbit as continue_orbit
    from .exponents import Lyapunov as Lyapunov
    from .exponents import lyapunov as lyapunov
    from .final import final_state as final_state
    from .fitting import Comparison as Comparison
    from .fitting import Fit as Fit
    from .fitting import Model as Model
    from .fitting import Observations as Observations
    from .fitting import compare_laws as compare_laws
    from .fitting import fit as fit
    from .free_strike import simulated_restitution as simulated_restitution
    from .many_orbits import find_orbits as find_orbits
    from .many_starts import Attractors as Attractors
    from .many_starts import attractors as attractors
    from .many_starts import box_dimension as box_dimension
    from .orbit import Orbit as Orbit
    from .orbit import bifurcation as bifurcation
    from .orbit import find_orbit as find_orbit
    from .orbit_family import OrbitFamily as OrbitFamily
    from .orbit_family import SpecialPoint as SpecialPoint
    from .poincare_section import Section as Section
    from .poincare_section import poincare as poincare
    from .recording import Returns as Returns
    from .responses import Response as Response
    from .responses import response as response
    from .return_map import ReturnMap as ReturnMap
    from .states import states_at as states_at

__getattr__, __dir__, __all__ = lazily(__name__)
