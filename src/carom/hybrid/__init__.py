"""The engine: flow, locate, jump, loop."""

from .automaton import AbstractAutomaton as AbstractAutomaton
from .automaton import Flow as Flow
from .automaton import Landing as Landing
from .scene import Continuous as Continuous
from .scene import Load as Load
from .scene import Own as Own
from .scene import Scene as Scene
from .settings import Settings as Settings
from .world import World as World
