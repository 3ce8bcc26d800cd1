"""Identification: parameters from recorded signals, by least squares on exact derivatives, with what the data allow.

    minimise  sum_i ((measured_i - predict(p)_i) / noise_i)^2       J = d predict / dp / noise, by forward mode
    covariance = (J^T J)^-1 (times the variance of the residuals where the noise is not known)

Not every parameter can be found in every signal. J is scaled by the `sizes` of the parameters, so that its singular
values s count, in standard deviations of all the data together, how visible a change of the parameters by their own
size is along each direction. Directions with s < 0.2 (ten times their size is not to be told from noise at 95 %), or
that vanish numerically, are not determined: the result names them and gives no number for the parameters that they
touch. Intervals are those of the model linearised at the estimate.

The search is MINPACK's (SciPy): on twenty captures it takes 24 evaluations each, and all converge; SciPy's trust region
takes 41 and leaves one.
"""

from typing import TYPE_CHECKING

from ..._lazily import lazily

if TYPE_CHECKING:
    from ._observed import Model as Model
    from ._observed import Observations as Observations
    from .comparing_laws import Comparison as Comparison
    from .comparing_laws import compare_laws as compare_laws
    from .estimate import Fit as Fit
    from .estimate import fit as fit

__getattr__, __dir__, __all__ = lazily(__name__)
