"""Measures the house: long modules and functions, types left open, imports that go up, names that occur twice.

.venv/bin/python tools/house.py            # a table; --list shows what is behind each number
"""

from __future__ import annotations

import ast
import functools
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "src" / "carom"
LONGEST_MODULE, LONGEST_FUNCTION = 300, 60

# From the ground up: a package imports from its own floor's left neighbours and from the floors below.
LADDER = (
    ("_lazily", "quantities", "_arguments", "errors", "_cache", "_progress", "forms", "registry", "native"),
    ("beam",),
    ("mechanism",),
    ("dynamics", "derivation"),
    ("hybrid",),
    ("signal", "contact", "control", "element"),
    ("captures", "crawl"),
    ("result",),
    ("_simulation",),
    ("study", "optimal"),
    ("figures", "report", "_citation"),
    ("scenario",),
    ("experiment",),
    ("studio",),
    ("cli", "__main__"),
)
FLOOR = {name: floor for floor, names in enumerate(LADDER) for name in names}


def modules(*folders: str) -> Iterator[tuple[Path, ast.Module]]:
    for folder in folders:
        for path in sorted((ROOT / folder).rglob("*.py")):
            yield path, parsed(path)


@functools.cache
def parsed(path: Path) -> ast.Module:
    """A tree for all who look at it, none of whom changes it."""
    return ast.parse(path.read_text())


def functions(tree: ast.AST) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    return (n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef))


def long_modules() -> list[str]:
    paths = [path for path, _ in modules("src", "tests", "verify", "benchmarks")]
    paths += sorted((PACKAGE / "report" / "assets").glob("*.js"))
    sizes = {path: len(path.read_text().splitlines()) for path in paths}
    return [f"{path.relative_to(ROOT)} ({n})" for path, n in sizes.items() if n > LONGEST_MODULE]


def long_functions() -> list[str]:
    out = []
    for path, tree in modules("src", "tests", "verify", "benchmarks"):
        for f in functions(tree):
            size = (f.end_lineno or f.lineno) - f.lineno + 1
            if size > LONGEST_FUNCTION:
                out.append(f"{path.relative_to(ROOT)}:{f.lineno} {f.name} ({size})")
    return out


def open_types() -> tuple[int, int]:
    """(parameters annotated as Any alone, all parameters) of the package."""
    found = total = 0
    for _, tree in modules("src/carom"):
        for f in functions(tree):
            given = [a for a in (*f.args.posonlyargs, *f.args.args, *f.args.kwonlyargs) if a.arg not in ("self", "cls")]
            total += len(given)
            found += sum(isinstance(a.annotation, ast.Name) and a.annotation.id == "Any" for a in given)
    return found, total


def floor_of(path: Path) -> str:
    inside = path.relative_to(PACKAGE).with_suffix("").parts
    return inside[0] if len(inside) > 1 or inside[0] != "__init__" else "carom"


def imports(path: Path, tree: ast.Module) -> Iterator[tuple[str, bool]]:
    """(package that is imported from, whether at once) of a module; types alone do not count."""
    base = list(path.relative_to(PACKAGE).with_suffix("").parts[:-1])

    def visit(node: ast.AST, lazy: bool) -> Iterator[tuple[str, bool]]:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.If) and "TYPE_CHECKING" in ast.dump(child.test):
                continue
            if isinstance(child, ast.ImportFrom) and child.level:
                above = base[: len(base) - child.level + 1]
                full = above + (child.module.split(".") if child.module else [])
                for name in [full[0]] if full else [a.name for a in child.names]:
                    yield name, not lazy
            yield from visit(child, lazy or isinstance(child, ast.FunctionDef))

    return visit(tree, False)


def upward(at_once: bool) -> list[str]:
    """Imports from a floor above, or from a neighbour on the same floor that stands to the right."""
    out = []
    for path, tree in modules("src/carom"):
        own = floor_of(path)
        for name, now in imports(path, tree):
            if now != at_once or name == own or own not in FLOOR or name not in FLOOR:
                continue
            row = LADDER[FLOOR[own]]
            beside = FLOOR[name] == FLOOR[own] and row.index(name) > row.index(own)
            if FLOOR[name] > FLOOR[own] or beside:
                out.append(f"{path.relative_to(PACKAGE)} -> {name}")
    return sorted(set(out))


# Lists of things that have a file each; what stands in one is found by its name. `__init__` files are lists too.
LISTS = (
    "registry.py",
    "contact/catalogue.py",
    *(
        f"scenario/{kind}.py"
        for kind in ("model", "contact_tables", "control_tables", "surface_tables", "world_tables")
    ),
)


def imported_modules(path: Path, tree: ast.Module) -> Iterator[Path]:
    """Modules of the package that a module imports from, when it is itself imported or for types."""
    base = path.parent
    for node in [each for top in tree.body for each in (top.body if isinstance(top, ast.If) else [top])]:
        if isinstance(node, ast.ImportFrom) and node.level:
            folder = base
            for _ in range(node.level - 1):
                folder = folder.parent
            folder = folder.joinpath(*(node.module.split(".") if node.module else []))
            yield folder.with_suffix(".py")
            yield from (folder / f"{alias.name}.py" for alias in node.names)


def unmarked_modules() -> list[str]:
    """Modules that no list names, no package exports from and no document shows, but whose names have no underscore."""
    named = {
        found
        for path, tree in modules("src/carom")
        if path.name == "__init__.py" or str(path.relative_to(PACKAGE)) in LISTS
        for found in imported_modules(path, tree)
    }
    shown = "".join(path.read_text() for path in (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))))
    listed = "".join((PACKAGE / name).read_text() for name in LISTS)
    out = []
    for path, _ in modules("src/carom"):
        dotted = "carom." + ".".join(path.relative_to(PACKAGE).with_suffix("").parts)
        stem = path.stem
        told = dotted in shown or any(f".{stem}{end}" in listed for end in '."') or stem in ("forms", "registry")
        if path not in named and not stem.startswith("_") and not told:
            out.append(str(path.relative_to(PACKAGE)))
    return out


def basenames() -> list[str]:
    count = Counter(path.name for path, _ in modules("src/carom") if not path.name.startswith("__"))
    return [f"{name} ({n})" for name, n in count.items() if n > 1]


# What derives from these is told what to do, and not asked what it is: a class of a user's own would not be found.
KINDS = (
    "AbstractAutomaton",
    "AbstractMember",
    "AbstractNormalLaw",
    "AbstractFriction",
    "AbstractImpactLaw",
    "AbstractSurface",
    "AbstractPair",
    "AbstractSwitch",
    "AbstractTrajectory",
    "AbstractTorques",
    "AbstractBody",
)


def kinds() -> dict[str, Path]:
    """Classes of these kinds, by name, with the file that each stands in."""
    found: dict[str, tuple[Path, set[str]]] = {}
    for path, tree in modules("src/carom"):
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef):
                found[node.name] = (path, {n for base in node.bases for n in named_in(base)})
    out: dict[str, Path] = {}
    while new := {n: path for n, (path, bases) in found.items() if n not in out and (n in KINDS or bases & set(out))}:
        out |= new
    return out


def named_in(node: ast.AST) -> set[str]:
    inside = list(ast.walk(node))
    return {n.id for n in inside if isinstance(n, ast.Name)} | {n.attr for n in inside if isinstance(n, ast.Attribute)}


def input_checks(tree: ast.Module) -> set[ast.AST]:
    """What stands inside of an `if` that ends in a refusal: checking of input."""
    checks = [n for n in ast.walk(tree) if isinstance(n, ast.If) and isinstance(n.body[-1], ast.Raise)]
    return {inner for check in checks for inner in ast.walk(check)}


def asked_classes() -> list[str]:
    """Where a class is asked for: by `isinstance` outside of its own file, or by `type(x) is`, or by its name.

    Abstract classes say of what kind an argument is, which the packages that own them may ask; input is checked
    anywhere.
    """
    known, out = kinds(), []
    for path, tree in modules("src/carom"):
        checks = input_checks(tree)
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "isinstance":
                for name in sorted(named_in(node.args[1]) & set(known)):
                    home = known[name]
                    own = floor_of(home) == floor_of(path) if name.startswith("Abstract") else home == path
                    if not own and node not in checks:
                        out.append(f"{path.relative_to(PACKAGE)}:{node.lineno} {name}")
            if isinstance(node, ast.Compare) and any(is_type(x) for x in (node.left, *node.comparators)):
                out.append(f"{path.relative_to(PACKAGE)}:{node.lineno} type")
    return out


def is_type(node: ast.AST) -> bool:
    """`type(x)`, or its name."""
    inner = node.value if isinstance(node, ast.Attribute) and node.attr == "__name__" else node
    if not (isinstance(inner, ast.Call) and isinstance(inner.func, ast.Name)):
        return False
    return inner.func.id == "type" and len(inner.args) == 1


TAKEN_APART = ("startswith", "endswith", "removeprefix", "removesuffix")


def parsed_words() -> list[str]:
    """Names that are taken apart: `startswith` and its like on what automata and measures are called."""
    out = []
    for path, tree in modules("src/carom"):
        if floor_of(path) in ("result", "report", "figures", "_simulation", "study", "experiment", "cli"):
            for node in ast.walk(tree):
                if isinstance(node, ast.Attribute) and node.attr in TAKEN_APART:
                    out.append(f"{path.relative_to(PACKAGE)}:{node.lineno}")
    return out


def members_of_an_automaton() -> list[str]:
    """What an automaton can give: its fields, properties and methods."""
    tree = ast.parse((PACKAGE / "hybrid" / "automaton.py").read_text())
    (base,) = (n for n in tree.body if isinstance(n, ast.ClassDef) and n.name == "AbstractAutomaton")
    fields = [n.target.id for n in base.body if isinstance(n, ast.AnnAssign) and isinstance(n.target, ast.Name)]
    return fields + [n.name for n in base.body if isinstance(n, ast.FunctionDef)]


# Of the house before it was rebuilt; what did not exist then has no number.
BEFORE = {
    f"modules over {LONGEST_MODULE} lines": "31",
    f"functions over {LONGEST_FUNCTION} lines": "6",
    "basenames that recur": "21",
    "classes asked for outside of their package": "52",
    "names taken apart": "4",
    "members of an automaton": "26",
    "parameters of type Any": "1869 of 4453",
}


def main() -> None:
    shown = "--list" in sys.argv
    found, total = open_types()
    rows = {
        f"modules over {LONGEST_MODULE} lines": long_modules(),
        f"functions over {LONGEST_FUNCTION} lines": long_functions(),
        "imports upwards, at once": upward(True),
        "imports upwards, when called": upward(False),
        "basenames that recur": basenames(),
        "classes asked for outside of their package": asked_classes(),
        "names taken apart": parsed_words(),
        "members of an automaton": members_of_an_automaton(),
        "private modules without an underscore": unmarked_modules(),
    }
    print(f"{'':44} {'before':>12} {'now':>12}")
    for name, items in rows.items():
        print(f"{name:44} {BEFORE.get(name, ''):>12} {len(items):12d}")
        for item in items if shown else ():
            print(f"    {item}")
    print(f"{'parameters of type Any':44} {BEFORE['parameters of type Any']:>12} {f'{found} of {total}':>12}")


if __name__ == "__main__":
    main()
