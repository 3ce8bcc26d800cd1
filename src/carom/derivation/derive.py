"""From a mechanism to its equations: name what it consists of, write the closed form, choose the coordinates."""

from __future__ import annotations

from collections.abc import Mapping
from types import ModuleType
from typing import Any

from .. import errors
from ..dynamics import STANDARD_GRAVITY
from ..mechanism import Mechanism
from ..quantities import Given, Real
from . import _closed_form as closed_form
from . import _symbolic as symbolic
from .names import Matrix, Names, load_sympy
from .printed import Equations

COORDINATES = ("absolute", "relative")


def equations(
    mechanism: Mechanism,
    coordinates: str = "absolute",
    symbols: Mapping[str, Any] | None = None,
    values: bool = False,
    gravity: Real | Given = STANDARD_GRAVITY,
) -> Equations:
    """Equations of motion of a mechanism, M q'' + bias - gravity - springs - dampers = efforts, as SymPy expressions.

    - `coordinates`: 'absolute' angles theta_k from the x axis, or 'relative' angles q_k from the parent link. The
      effort on a link is its torque tau_k less those of its children in absolute angles, tau_k alone in relative ones.
    - `symbols` renames: {'link1.mass': 'M', 'link1.angle': sympy.Symbol('alpha')}. `Equations.symbols` has the keys:

      '<link>.' and mass, length, radius, inertia, com_x, com_y, at_x, at_y (where it hangs on its parent), stiffness,
      rest, damping, rotor_inertia, gear, angle, rate, acceleration, torque; on a slider slide, slide_rate,
      slide_acceleration, force, axis_x, axis_y instead of the last four; for a free base '<base>.' and x, y, x_rate,
      y_rate, x_acceleration, y_acceleration, force_x, force_y ('base' is the mechanism's name in `side_by_side`);
      'gravity', or 'gravity_x' and 'gravity_y'. Rates follow the name of their angle unless they are named themselves.
      Equal numbers may share one symbol, which shortens the equations of identical links.
    - `values` puts the mechanism's numbers in place of the symbols of its parameters.
    - `gravity` [m/s^2]: a number g acts downwards; a vector brings the symbols g_x and g_y. Zero leaves weight out.

    >>> import carom
    >>> print(carom.equations(carom.Arm([carom.Rod(length=1.0, mass=2.0)])))
    Equations of motion in absolute angles
      link1:  l_1^2*m_1*theta_1''/3 + g*l_1*m_1*cos(theta_1)/2 = tau_1
    Symbols
      theta_1, theta_1', theta_1''  angle of link1 from the x axis, its rate and acceleration  [rad, rad/s, rad/s^2]
      tau_1                         torque on link1 from its surroundings                      [N m]
      g                             gravity, downwards                                         [m/s^2]  9.81
      m_1                           mass of link1                                              [kg]     2
      l_1                           length of link1                                            [m]      1
    """
    sympy = load_sympy()
    if not isinstance(mechanism, Mechanism):
        raise errors.CaromError(f"equations got a {type(mechanism).__name__}; it must be a carom.Mechanism")
    errors.name_in("kind of coordinates", coordinates, COORDINATES)
    names = Names(sympy, symbols or {}, values)
    terms = _terms(sympy, names, mechanism, coordinates == "relative", gravity)
    return Equations(
        coordinates=coordinates,
        **{term: sympy.ImmutableMatrix(matrix) for term, matrix in terms.items()},
        legend=tuple(names.legend),
        labels=mechanism.topology.labels,
        values=values,
    )


def _terms(
    sympy: ModuleType, names: Names, mechanism: Mechanism, relative: bool, gravity: Real | Given
) -> dict[str, Matrix]:
    """All terms on the chosen coordinates, by their names in `Equations`."""
    top = mechanism.topology
    # Name everything first, so that a misspelt key is refused before any work is done.
    motion = symbolic.motion(sympy, names, top, relative)
    efforts = symbolic.efforts(sympy, names, top)
    pull = symbolic.pull(names, gravity)
    links = symbolic.links(names, mechanism)
    springs, dampers = symbolic.joints(sympy, names, mechanism, motion)
    names.refuse_unknown()

    matrix, bias, weight = closed_form.inertial(sympy, top, links, motion, pull, relative)
    to_absolute, to_relative = closed_form.maps(sympy, top)
    if relative:
        matrix, weight = to_absolute.T * matrix * to_absolute, to_absolute.T * weight
    else:
        springs, dampers, efforts = (to_relative.T * column for column in (springs, dampers, efforts))
    return {
        "mass_matrix": matrix,
        "bias": bias,
        "gravity": weight,
        "springs": springs,
        "dampers": dampers,
        "efforts": efforts,
    }
