"""What people do with many runs: batches and derivatives."""

from .batch import Batch as Batch
from .batch import batch as batch
from .final import final_state as final_state
