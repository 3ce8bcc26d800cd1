"""The table of a study: which numbers of a scenario are varied, and what is recorded of every run."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from .fields import Number, Part, Word, says

METHODS = ("sobol", "halton", "latin-hypercube", "random", "saltelli")
Values = Annotated[list[Number | int | str | bool], Field(min_length=1, max_length=1_000_000)]
Chunk = Annotated[int, Field(ge=1, le=1_000_000)]


class Study(Part):
    """Many runs of this scenario: `carom sweep` and `carom.sweep` read it."""

    over: dict[Word, Word | Values] = says(
        "what is varied, by path: 'a:b:n' (n values from a to b), 'a:b' (a range to sample), or a list of values", {}
    )
    sample: Annotated[int, Field(ge=1)] | None = says(
        "how many points are drawn from the ranges; a grid if left out", None
    )
    method: Literal["sobol", "halton", "latin-hypercube", "random", "saltelli"] = says(
        "how they are drawn; saltelli, which Sobol indices are computed from, draws d + 2 times as many", "sobol"
    )
    seed: Annotated[int, Field(ge=0)] = says("of the draw", 0)
    points: Word | None = says("a CSV file of points, whose first line has the paths", None)
    measures: list[Word] = says("what is recorded; those of [quantities] that a batch can record if left out", [])
    impacts: Annotated[int, Field(ge=0, le=1000)] = says("columns of so many first impacts are recorded, too", 0)
    chunk: Chunk | None = says("how many runs are one task, done or not", None)
