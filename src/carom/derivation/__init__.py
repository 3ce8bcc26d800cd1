"""The equations of motion on paper: SymPy expressions in the user's own symbols, printed as text and LaTeX.

In absolute angles they are the closed form of `carom.dynamics.explicit`, written with symbols instead of numbers, so
they come out tidy without any search for simplifications (_closed_form.py); relative angles are a linear map away.

What is exactly zero in the mechanism (an offset, a spring, a rest angle) does not appear in its equations.
SymPy is imported only when equations are asked for.
"""

from typing import TYPE_CHECKING

from .._lazily import lazily

if TYPE_CHECKING:
    from .derive import equations as equations
    from .names import Quantity as Quantity
    from .printed import Equations as Equations
    from .printed import Values as Values

__getattr__, __dir__, __all__ = lazily(__name__)
