"""carom: planar robots that collide."""

import jax as _jax

# Contact stiffness times micrometres leaves nothing for float32 to hold.
_jax.config.update("jax_enable_x64", True)

from . import dynamics as dynamics
from .dynamics import Locked as Locked
from .dynamics import OnCurve as OnCurve
from .dynamics import Pin as Pin
from .errors import CaromError as CaromError
from .mechanism import BASE as BASE
from .mechanism import Arm as Arm
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
from .mechanism import side_by_side as side_by_side

__version__ = "0.1.0"
