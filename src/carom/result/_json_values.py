"""Values as JSON has them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np


def clean(value: object) -> Any:
    """No arrays, no objects; JSON has no word for infinity and nan: null stands for both."""
    if isinstance(value, Mapping):
        return {str(key): clean(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [clean(each) for each in value]
    if isinstance(value, np.ndarray | np.generic):
        return clean(value.tolist())
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value if value is None or isinstance(value, bool | int | float | str) else str(value)
