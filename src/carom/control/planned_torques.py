"""Torques over time, as functions or as a table of polynomials."""

from __future__ import annotations

import abc
from typing import Any

import equinox as eqx

from ..quantities import Index, Real
from .trajectory import AbstractTrajectory


class AbstractTorques(eqx.Module):
    """Torques [N m] of all links over time, smooth between knots."""

    @property
    @abc.abstractmethod
    def knots(self) -> Any:
        """Instants [s] that bound the pieces, rising from 0."""

    @property
    @abc.abstractmethod
    def links(self) -> int:
        """How many torques there are."""

    @abc.abstractmethod
    def torques(self, i: Index, t: Real) -> Any:
        """Torques of piece i at t; the number of pieces stands for what comes after the end."""

    def as_table(self) -> AbstractTrajectory | None:
        """The trajectory that they are; None if they are code."""
        return None


class Tabled(AbstractTorques):
    """Torques given as a trajectory: its positions are the torques; the last ones stay after the end."""

    table: AbstractTrajectory

    @property
    def knots(self) -> Any:
        return self.table.knots

    @property
    def links(self) -> int:
        return self.table.size

    def as_table(self) -> AbstractTrajectory:
        return self.table

    def torques(self, i: Index, t: Real) -> Any:
        return self.table.piece(i, t).q
