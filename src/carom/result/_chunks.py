"""Rows of steps and events as a run leaves them, chunk after chunk: in memory, or in files of a folder."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jax
import numpy as np
from jaxtyping import PyTree

from .. import errors
from ..hybrid._carry import Carry
from ..hybrid._run import EventRow, StepRow
from ..hybrid.world import World
from ..quantities import Given
from . import _files as files


def _rows_like(world: World, carry: Carry) -> tuple[StepRow, EventRow]:
    fired = (carry.t,) * len(world.events)  # of families one by one: rows are flat
    return (
        StepRow(carry.t, carry.t, carry.y, carry.phases, carry.memory),
        EventRow(carry.t, fired, carry.y, carry.y, carry.phases, carry.phases, carry.memory, carry.memory),
    )


def unpack(world: World, carry: Carry, steps: np.ndarray, events: np.ndarray) -> tuple[StepRow, EventRow]:
    """Turn the flat rows back into named columns, up to where the run had come."""
    step_like, event_like = _rows_like(world, carry)
    # Ctrl-C may have come between the keeping of a chunk and the carry behind it.
    end = float(carry.t)
    known = events[:, 0] <= end * (1.0 + 1e-12)  # an event at the horizon may lie rounding above it
    return _columns(step_like, steps[steps[:, 0] < end]), _columns(event_like, events[known])


def _columns(like: PyTree, rows: np.ndarray) -> Any:
    leaves, tree = jax.tree.flatten(like)
    out, at = [], 0
    for leaf in leaves:
        size = int(np.size(leaf))
        out.append(rows[:, at] if np.shape(leaf) == () else rows[:, at : at + size].reshape(len(rows), *np.shape(leaf)))
        at += size
    return jax.tree.unflatten(tree, out)


class Chunks:
    """Where chunks go: a list, or numbered files that are complete as soon as they have their name."""

    def __init__(self, folder: Path | None) -> None:
        self.folder, self.count = folder, 0
        self.pieces: list[tuple[np.ndarray, np.ndarray]] = []
        self.widths = (0, 0)
        if folder is not None:
            try:
                folder.mkdir(parents=True, exist_ok=True)
            except OSError as trouble:
                raise files.FileError(files.sentence(folder, trouble)) from None
            if any(folder.glob("chunk-*.npz")):
                raise errors.CaromError(f"stream folder '{folder}' already holds a run; choose another, or empty it")

    def describe(self, world: World, carry: Carry) -> None:
        """Say what the columns are, so that the files of a run that was killed can be read without it."""
        rows = _rows_like(world, carry)
        self.widths = (_width(rows[0]), _width(rows[1]))
        if self.folder is not None:
            names = [_column_names(like) for like in rows]
            text = json.dumps({"steps": names[0], "events": names[1]}, indent=1)
            files.write_text(self.folder / "columns.json", text)

    def add(self, steps: Given, events: Given) -> None:
        steps, events = np.asarray(steps), np.asarray(events)
        if self.folder is None:
            self.pieces.append((steps.copy(), events.copy()))  # of chunks that are kept for their few rows no longer
            return
        try:
            with files.written(self.folder / f"chunk-{self.count + 1:06d}.npz") as half, open(half, "wb") as file:
                np.savez(file, steps=steps, events=events)
        except files.FileError as trouble:
            kept = f"the run until t = {float(steps[0, 0]):g} s is" if self.count and len(steps) else "nothing of it is"
            raise files.FileError(f"{trouble}; the run was stopped, and {kept} in {self.folder}") from None
        self.count += 1

    def read(self) -> tuple[np.ndarray, np.ndarray]:
        pieces = (
            self.pieces if self.folder is None else [read_chunk(p) for p in sorted(self.folder.glob("chunk-*.npz"))]
        )
        none = (np.zeros((0, self.widths[0])), np.zeros((0, self.widths[1])))  # Ctrl-C before the first chunk
        return np.concatenate([none[0], *(s for s, _ in pieces)]), np.concatenate([none[1], *(e for _, e in pieces)])


def _width(like: PyTree) -> int:
    """How many numbers a row has."""
    return sum(int(np.size(leaf)) for leaf in jax.tree.leaves(like))


def _column_names(like: PyTree) -> list[str]:
    """A name for every number of a row, such as .y.q[0]."""
    out = []
    for path, leaf in jax.tree_util.tree_flatten_with_path(like)[0]:
        name = jax.tree_util.keystr(path)
        out += [name] if np.shape(leaf) == () else [f"{name}[{i}]" for i in range(int(np.size(leaf)))]
    return out


def read_chunk(path: Path) -> tuple[np.ndarray, np.ndarray]:
    with np.load(path) as data:
        return data["steps"], data["events"]
