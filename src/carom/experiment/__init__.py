"""Experiments: a scenario is run, measured, compared with what is expected, and written down."""

from typing import TYPE_CHECKING

from .._lazily import lazily

if TYPE_CHECKING:
    from .experiment import Experiment as Experiment
    from .experiment import perform as perform

__getattr__, __dir__, __all__ = lazily(__name__)
