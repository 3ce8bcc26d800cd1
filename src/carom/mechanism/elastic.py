"""An elastic link: a uniform beam that bends in the plane."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import equinox as eqx
import jax.numpy as jnp
import numpy as np

from .. import beam, errors
from .._arguments import Count, EndsLike, Name, SectionLike, ShapesLike
from ..quantities import Given, Real
from ._bending import Flexible, Nodes, Reach, integrated, offset
from ._recipe import Recipe
from .bodies import AbstractBody

ROTARY = ("section", "link")
NODES = 8  # quadratures are filled up to multiples of this with nodes without mass


class Beam(AbstractBody):
    """A uniform beam along the x axis, hung by its left end, with assumed modes.

    - `length` [m] > 0, `section`: a `carom.beam.Section`
    - `ends`: left and right; 'simple' or 'clamped' on the left, also 'free' or 'guided' on the right; `modes`: how
      many; `theory`: 'timoshenko' or 'euler-bernoulli'. Or `shapes`, such as from `carom.beam.given_shapes`
    - `rotary`: the sections' rotary inertia turns with the 'section' (Timoshenko), or with the 'link' alone, as the
      elastic-chain paper prints it
    - `rotary_inertia` [kg m]: mass moment of inertia per length, if not the section's
    - `air_damping` [kg/(m s)], `material_damping` [Pa s] (Kelvin-Voigt), or `damping_ratio` of every mode
    - `foreshortening`: bring points back along the axis as the beam bends, to second order; needed where it spins fast

    The frame's x axis joins the ends of a beam with simple ends, and is the tangent at a clamped left end.
    """

    shape: ClassVar[str] = "beam"
    length: float = eqx.field(static=True)
    mass: Any
    data: Any = eqx.field(static=True)
    rotary: str = eqx.field(static=True)
    foreshortening: bool = eqx.field(static=True)
    recipe: Recipe = eqx.field(static=True)

    def __init__(
        self,
        length: Real | None = None,
        section: SectionLike | None = None,
        ends: EndsLike = ("simple", "simple"),
        modes: Count = 1,
        theory: Name = "timoshenko",
        shapes: ShapesLike | None = None,
        rotary: Name = "section",
        rotary_inertia: Real | None = None,
        air_damping: Real = 0.0,
        material_damping: Real = 0.0,
        damping_ratio: Real | Given | None = None,
        foreshortening: bool = False,
    ) -> None:
        errors.name_in("rotary inertia of Beam (by whose rate)", rotary, ROTARY)
        found = beam.modes(section, length, ends, modes, theory) if shapes is None else shapes
        self.data = beam.modal_data(
            found,
            air_damping=air_damping,
            material_damping=material_damping,
            damping_ratio=damping_ratio,
            rotary_inertia=rotary_inertia,
        )
        self.length, self.mass = self.data.length, self.data.mass
        self.rotary, self.foreshortening = rotary, foreshortening
        given = {
            "length": length,
            "section": section,
            "ends": ends,
            "modes": modes,
            "theory": theory,
            "rotary": rotary,
            "rotary_inertia": rotary_inertia,
            "air_damping": air_damping,
            "material_damping": material_damping,
            "damping_ratio": damping_ratio,
            "foreshortening": foreshortening,
        }
        self.recipe = Recipe(given if shapes is None else None)

    def centre(self) -> tuple[Any, Any]:
        return self.length / 2, 0.0

    def inertia_about_centre(self) -> Any:
        return self.mass * self.length**2 / 12 + self.data.rotary

    def end(self) -> tuple[Any, Any]:
        return self.length, 0.0

    def flexible(self) -> Flexible:
        d = self.data
        count = d.W.shape[1]
        slope = d.Theta if self.rotary == "section" else np.zeros_like(d.Theta)
        # Links with other ends then share one compiled program, though their modes need a few nodes more or less.
        spare = -len(d.nodes) % NODES
        nodes = (
            np.stack([d.nodes, np.zeros_like(d.nodes)], axis=1),
            d.weights,
            d.weights * d.rotary / d.mass,
            np.stack([np.zeros_like(d.W), d.W], axis=2),
            slope,
            d.H if self.foreshortening else np.zeros((len(d.nodes), count, count)),
        )
        filled = Nodes(*(errors.array(np.pad(x, [(0, spare), *[(0, 0)] * (x.ndim - 1)])) for x in nodes))
        return integrated(filled, d.stiffness, d.damping)

    def reach(self, x: Real, y: Real) -> Reach:
        place = errors.known((x, y))
        if place is None:
            raise errors.CaromError(
                "a point of a Beam is traced by JAX; its shapes are computed once; give plain numbers"
            )
        eta = np.clip(place[0], 0.0, self.length)
        W, slope, short = (f(np.asarray([eta]))[0] for f in self._functions())
        # Beyond the ends and beside the axis a point is fixed to its section.
        counts = 1.0 if self.foreshortening else 0.0
        on_axis = (np.stack([np.zeros_like(W), W], axis=1), slope, counts * short, counts)
        return offset(Reach(*(jnp.asarray(x, dtype=float) for x in on_axis)), place[0] - eta, place[1])

    def wave_numbers(self) -> Sequence[float]:
        return tuple(float(x) for x in getattr(self.data.shapes, "wave_number", ()))

    def _functions(self) -> tuple[Any, Any, Any]:
        s = self.data.shapes
        return s.deflection, s.rotation, s.foreshortening
