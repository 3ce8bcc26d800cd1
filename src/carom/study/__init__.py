"""What people do with many runs: batches, derivatives, periodic motion."""

from .batch import Batch as Batch
from .batch import batch as batch
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
from .poincare_section import Section as Section
from .poincare_section import poincare as poincare
from .recording import Returns as Returns
from .response import Response as Response
from .response import response as response
from .return_map import ReturnMap as ReturnMap
from .states import states_at as states_at
