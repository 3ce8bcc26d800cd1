"""Vibration modes of uniform beams, and the modal integrals of a link made of one (see docs/beams.md)."""

from .cross_section import Section
from .modal import ModalData, modal_data
from .shapes import AbstractShapes
from .spectrum import ENDS
from .user_shapes import GivenShapes, given_shapes
from .vibration import Modes, modes

__all__ = [
    "ENDS",
    "AbstractShapes",
    "GivenShapes",
    "ModalData",
    "Modes",
    "Section",
    "given_shapes",
    "modal_data",
    "modes",
]
