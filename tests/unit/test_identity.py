"""What a program is found by: two things have the same words only if they do the same, in whatever process."""

import os
import subprocess
import sys
import textwrap

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from carom.hybrid._identity import words
from carom.hybrid._reached import Foreign

BASE = """
import dataclasses, functools, math
import equinox as eqx, jax, jax.numpy as jnp, numpy as np
import carom

K = 3.0
TABLE = {"a": [1.0, np.array([1.0, 2.0])]}

def helper(x):
    return x + 1.0

class Base:
    factor = 2.0
    def part(self, x):
        return self.factor * x

class Law(Base):
    def __init__(self, k=1.0):
        self.k = k
    def whole(self, x):
        return super().part(x) + self.k
    @property
    def doubled(self):
        return 2.0 * self.k
    @staticmethod
    def aside(x):
        return x

class Pair(eqx.Module):
    a: float
    b: float = 2.0
    def both(self, x):
        return self.a * x + self.b

@dataclasses.dataclass(frozen=True)
class Plain:
    c: float = 1.0
    d: tuple = ()

def around(n):
    def within(x):
        return x * n
    return within

inner = around(5.0)
scale = functools.partial(helper, 2.0)
mapped = jax.grad(jax.vmap(lambda x: 2.0 * x))

@jax.jit
def fast(x):
    return jnp.cos(x)

def f(x, y=1.5, *, z=0.5):
    inside = lambda u: u ** 2 + K
    if x in {"p", "q", "r"}:
        raise ValueError("no")
    law = Law(2.0)
    got = [jnp.sin(v) for v in (x, y, z)]
    low = jnp.linalg.norm(jnp.stack(got)) + math.pi + np.sqrt(2.0) + TABLE["a"][0]
    high = inside(helper(x)) + law.whole(x) + inner(x) + Pair(1.0).both(y) + Plain().c + len(got)
    return low + high + fast(x) + scale() + mapped(x)
"""
# Each changes what f computes, somewhere that it can reach.
CHANGES = [
    ("K = 3.0", "K = 3.1"),
    ("np.array([1.0, 2.0])", "np.array([1.0, 2.5])"),
    ("np.array([1.0, 2.0])", "np.array([1.0, 2.0], dtype=np.float32)"),
    ("x + 1.0", "x + 1.25"),
    ("x + 1.0", "1.0 + x"),
    ("factor = 2.0", "factor = 2.5"),
    ("self.factor * x", "self.factor - x"),
    ("super().part(x) + self.k", "super().part(x) - self.k"),
    ("k=1.0", "k=1.1"),
    ("2.0 * self.k", "3.0 * self.k"),
    ("def aside(x):\n        return x", "def aside(x):\n        return -x"),
    ("class Law(Base)", "class Law(Base, dict)"),
    ("b: float = 2.0", "b: float = 2.1"),
    ("self.a * x + self.b", "self.a * x - self.b"),
    ("c: float = 1.0", "c: float = 1.1"),
    ("around(5.0)", "around(6.0)"),
    ("x * n", "x / n"),
    ("functools.partial(helper, 2.0)", "functools.partial(helper, 2.5)"),
    ("functools.partial(helper, 2.0)", "functools.partial(inner, 2.0)"),
    ("jnp.cos(x)", "jnp.tan(x)"),
    ("y=1.5", "y=1.6"),
    ("z=0.5", "z=0.6"),
    ("u ** 2", "u ** 3"),
    ("jnp.linalg.norm", "jnp.linalg.det"),
    ("math.pi", "math.e"),
    ('"r"}', '"s"}'),
    ("ValueError", "TypeError"),
    ("len(got)", "sum(got)"),
    ('"a": [1.0', '"b": 0, "a": [1.0'),
    ("lambda x: 2.0 * x", "lambda x: 2.5 * x"),
    ("jax.grad(jax.vmap", "jax.jacfwd(jax.vmap"),
    ("2.0 * x))", "2.0 * x, out_axes=1))"),
    ("(x, y, z)", "(x, z, y)"),
]


def made(text, name="f"):
    space = {"__name__": "somebodys"}
    exec(textwrap.dedent(text), space)
    return space[name]


def said(thing):
    return "\n".join(words(thing, True))


@pytest.mark.parametrize("before, after", CHANGES)
def test_what_does_something_else_has_other_words(before, after):
    assert before in BASE
    assert said(made(BASE.replace(before, after, 1))) != said(made(BASE))


def test_the_same_text_has_the_same_words_wherever_it_stands_and_in_every_process():
    here = said(made(BASE))
    assert said(made("\n\n# a comment\n" + BASE)) == here
    program = "from tests.unit.test_identity import *; print(said(made(BASE)))"
    for seed in ("1", "2"):
        env = os.environ | {"PYTHONHASHSEED": seed}
        done = subprocess.run([sys.executable, "-c", program], env=env, capture_output=True, text=True)
        assert done.stdout.strip() == here.strip(), done.stderr


ASKS = {
    "numpy.random": "def f(x):\n    return x * np.random.normal()",
    "Generator": "rng = np.random.default_rng(0)\ndef f(x):\n    return x * rng.normal()",
    "numpy.load": "def f(x):\n    return np.load('table.npy')",
    "numpy.loadtxt": "def f(x):\n    return np.loadtxt('table.csv')",
    "a file": "def f(x):\n    return float(open('k').read())",
    "a path": "import pathlib\ndef f(x):\n    return pathlib.Path('k').read_text()",
    "a clock": "import time\ndef f(x):\n    return time.time()",
    "a date": "import datetime\ndef f(x):\n    return datetime.datetime.now().hour",
    "the environment": "import os\ndef f(x):\n    return os.environ['K']",
    "chance": "import random\ndef f(x):\n    return random.random()",
    "evaluation": "def f(x):\n    return eval('x')",
    "a name put together": "def f(x):\n    return getattr(x, 'y')",
    "what is imported within": "def f(x):\n    import time\n    return time.time()",
    "a counter": "n = 0\ndef f(x):\n    global n\n    n = n + 1\n    return n",
    "a scenario": "def f(x):\n    return carom.Scenario.load('mine.toml')",
    "a scenario, by its module": "def f(x):\n    return carom.scenario.names()",
    "a callback": "def f(x):\n    return jax.pure_callback(abs, x, x)",
    "what is printed": "def f(x):\n    print(x)\n    return x",
    "a helper that asks": "def g(x):\n    return open(x)\ndef f(x):\n    return g(x)",
    "a method that asks": "class A:\n    def g(self):\n        return open('k')\ndef f(x):\n    return A()",
    "an inner function that asks": "def f(x):\n    return (lambda: open('k'))()",
    "a default that is alive": "def f(x, y=iter([1, 2])):\n    return next(y)",
    "an attribute of its own": "def f(x):\n    return f.k\nf.k = 3",
    "a module as a whole": "def f(x):\n    return vars(np)",
    "a module that is handed on": "def f(x):\n    return g(np)\ndef g(m):\n    return m.random.normal()",
    "what is nowhere": "def f(x):\n    return nowhere",
    "an object of a class": "class A:\n    pass\na = A()\ndef f(x):\n    return a.k",
    "a rule for its derivative": "@jax.custom_jvp\ndef f(x):\n    return x",
    "settings of JAX": "def f(x):\n    return jax.config.jax_enable_x64",
    "notes that are taken": "seen = []\ndef f(x):\n    seen.append(x)\n    return x",
    "notes by another": "seen = {}\ndef g(x):\n    seen['x'] = x\ndef f(x):\n    return g(x)",
    "notes of a class": "class A:\n    s = []\n    def g(self, x):\n        self.s.append(x)\ndef f(x):\n    A().g(x)",
    "notes of an object": """
@dataclasses.dataclass
class A:
    seen: list
    def g(self, x):
        self.seen.append(x)
a = A([])
def f(x):
    return a.g(x)
""",
    "more than its fields": """
@dataclasses.dataclass
class A:
    k: float
    def __post_init__(self):
        self.more = 2 * self.k
a = A(1.0)
def f(x):
    return a.more
""",
    "more than a number": "class A(float):\n    pass\na = A(1.0)\na.more = 3\ndef f(x):\n    return a.more",
    "what goes by another's name": "@np.vectorize\ndef f(x):\n    return x",
    "a polynomial": "p = np.poly1d([1.0, 2.0])\ndef f(x):\n    return p(x)",
    "an array of objects": "a = np.array([None, 1], dtype=object)\ndef f(x):\n    return a",
}


@pytest.mark.parametrize("text", ASKS.values(), ids=ASKS)
def test_what_may_be_another_the_next_time_has_no_words(text):
    heads = "import dataclasses, functools\nimport jax, jax.numpy as jnp, numpy as np\nimport carom\n"
    with pytest.raises(Foreign):
        said(made(heads + text))


def test_numbers_that_are_traced_do_not_count_and_those_that_are_closed_over_do():
    class Own(eqx.Module):
        k: jax.Array
        name: str = eqx.field(static=True)

    assert list(words(Own(jnp.ones(2), "a"), False)) == list(words(Own(jnp.zeros(2), "a"), False))
    assert list(words(Own(jnp.ones(2), "a"), False)) != list(words(Own(jnp.ones(2), "b"), False))
    assert said(Own(jnp.ones(2), "a")) != said(Own(jnp.zeros(2), "a"))

    def look(k):
        with pytest.raises(Foreign, match="traced"):
            said(lambda x: k * x)
        return k

    jax.make_jaxpr(look)(np.ones(2))


def test_functions_and_classes_that_reach_each_other_end():
    text = """
    def even(n):
        return n == 0 or odd(n - 1)
    def odd(n):
        return n != 0 and even(n - 1)
    class A:
        def other(self):
            return B()
    class B(A):
        def other(self):
            return A()
    def f(x):
        return even(x), A().other()
    """
    assert said(made(text)) == said(made(text)) != said(made(text.replace("n != 0", "n != 1")))
