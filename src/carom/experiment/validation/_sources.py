"""Where records come from, and whether what was found is what the numbers of the page were made from."""

from __future__ import annotations

import dataclasses
import hashlib
from pathlib import Path

from ...errors import CaromError


@dataclasses.dataclass(frozen=True)
class Source:
    """A public repository, the commit that was read, and where its data stand in it."""

    repository: str  # owner/name on GitHub
    commit: str
    licence: str
    what: str

    @property
    def folder(self) -> str:
        return self.repository.partition("/")[2]

    @property
    def obtain(self) -> str:
        """How to get it."""
        return (
            f"git clone https://github.com/{self.repository} && git -C {self.folder} checkout {self.commit[:10]} "
            "gives it"
        )


PLANAR = Source(
    "mcubelab/planar-impact-dataset",
    "f24a7e3b31ad0b53652d6b2a6b26a702cc4362da",
    "none stated",
    "drops of an ellipse on a flat floor, velocities before and after",
)
PENDULUM = Source(
    "dynamicslab/MultiArm-Pendulum",
    "e99a7e13fe2adc8fc647321a156b6cb59a48a698",
    "MIT",
    "angles of a double and a triple pendulum that swing freely, every millisecond",
)
BALLS = Source(
    "giiulia/LabI-Dynamics-Thermodynamics",
    "f529e75910f75da65d71a044126830c03c607ff3",
    "none stated",
    "instants at which dropped balls were heard to bounce",
)


def place_of(source: Source, folder: str | Path, inside: str) -> Path:
    """`inside` of a clone: in `folder` itself, or in a folder of the repository's name there."""
    folder = Path(folder)
    for root in (folder, folder / source.folder):
        if (root / inside).exists():
            return root / inside
    raise CaromError(f"{folder} has no '{inside}' of {source.repository}; {source.obtain}")


def read_bytes(source: Source, path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as trouble:
        why = (trouble.strerror or type(trouble).__name__).lower()
        raise CaromError(f"{path} cannot be read: {why}; {source.obtain}") from None


def check_hash(source: Source, name: str, found: str, expected: str) -> None:
    """Numbers that were printed belong to one version of the data."""
    if found != expected:
        raise CaromError(
            f"{name} of {source.repository} is another version than the one that was studied (SHA-256 {found[:12]}, "
            "not "
            f"{expected[:12]}); {source.obtain}; check=False reads it as it is"
        )


def digest(*parts: bytes) -> str:
    """SHA-256 of what was read."""
    whole = hashlib.sha256()
    for part in parts:
        whole.update(part)
    return whole.hexdigest()
