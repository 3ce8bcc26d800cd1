"""A function of many rows at once, as one short program."""

import carom
from carom import native


def each_row(function):
    """A function of rows, one after the other, in machine code."""
    return carom.jit(native.rows(function))
