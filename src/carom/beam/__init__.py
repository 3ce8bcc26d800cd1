"""Vibration modes of uniform beams, and the modal integrals of a link made of one (see docs/beams.md)."""

from .given import GivenShapes, given_shapes
from .modal import ModalData, modal_data
from .modes import Modes, modes
from .section import Section
from .shapes import AbstractShapes
from .spectrum import ENDS

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
