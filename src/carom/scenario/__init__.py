"""Scenarios: worlds, starts and runs as data, in TOML files or in Python."""

from typing import TYPE_CHECKING

from .._lazily import lazily

if TYPE_CHECKING:
    from .library import load as load
    from .library import names as names
    from .model import Scenario as Scenario
    from .places import ScenarioError as ScenarioError
    from .schema_data import json_schema as json_schema

__getattr__, __dir__, __all__ = lazily(__name__)
