"""Impulsive contacts."""

from .rigid import RigidContact as RigidContact
from .rigid import RigidContacts as RigidContacts
