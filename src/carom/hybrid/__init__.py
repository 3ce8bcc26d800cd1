"""The engine: flow, locate, jump, loop; and what an automaton is."""

from typing import TYPE_CHECKING

from .._lazily import lazily

if TYPE_CHECKING:
    from . import outcome as outcome
    from .automaton import AbstractAutomaton as AbstractAutomaton
    from .automaton import Anatomy as Anatomy
    from .automaton import Bars as Bars
    from .automaton import Flow as Flow
    from .automaton import Holding as Holding
    from .automaton import Landing as Landing
    from .automaton import Standing as Standing
    from .compiling import jit as jit
    from .reporting import Blow as Blow
    from .reporting import Channel as Channel
    from .reporting import ContactReport as ContactReport
    from .reporting import Drive as Drive
    from .reporting import Efforts as Efforts
    from .reporting import Line as Line
    from .reporting import Phase as Phase
    from .reporting import Quantity as Quantity
    from .reporting import Report as Report
    from .reporting import Shape as Shape
    from .reporting import Touch as Touch
    from .reporting import Touching as Touching
    from .scene import Continuous as Continuous
    from .scene import Load as Load
    from .scene import Own as Own
    from .scene import Scene as Scene
    from .settings import Settings as Settings
    from .world import World as World

__getattr__, __dir__, __all__ = lazily(__name__)
