"""Surfaces that sites can touch."""

from .circle import Circle as Circle
from .plane import Plane as Plane
from .surface import AbstractSurface as AbstractSurface
