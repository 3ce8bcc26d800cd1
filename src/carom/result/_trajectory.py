"""A run as a table that other programs read: an xarray Dataset, and a NetCDF file.

Every variable has its unit and meaning in its attributes, and every dimension its names as a coordinate:

    result.trajectory["angle"].sel(link="link2")
    result.save("run.nc"); xarray.open_dataset("run.nc")
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .. import errors
from ..mechanism import Topology
from ..quantities import Times
from . import _signals as signals
from ._dense import states
from ._files import written
from ._going_on import CARRIED, lasting, numbers_of
from ._matlab import matlab
from ._netcdf import netcdf

if TYPE_CHECKING:
    import xarray

    from .result import Result

AXES = ["x", "y"]
Variables = dict[str, tuple[tuple[str, ...], np.ndarray, dict[str, str]]]


class Table(NamedTuple):
    """Columns over instants [s], each with its dimensions and what it is; and the names along the other dimensions."""

    times: np.ndarray
    variables: Variables
    names: dict[str, list[str]]
    attributes: dict[str, str]


def table(result: Result, times: Times | None = None) -> Table:
    """What happened at these instants [s]; by default 2000 over the run, more within impacts and around events."""
    times = signals.times_of(result) if times is None else np.atleast_1d(np.asarray(times, dtype=float))
    found: Variables = {}
    names: dict[str, list[str]] = {"link": list(result.world.mechanism.topology.names), "axis": AXES}
    for part in (_motion, _extra, _sites, _contacts, _control, _energies, _momentum):
        variables, coordinates = part(result, times)
        found |= variables
        names |= coordinates
    return Table(times, found, names, _attributes(result))


def trajectory(result: Result, times: Times | None = None) -> xarray.Dataset:
    """The same, for those who go on in Python."""
    try:
        import xarray
    except ImportError:
        raise errors.CaromError(
            "trajectory needs xarray, which is not installed; pip install 'carom[results]'"
        ) from None
    instants, found, names, said = table(result, times)
    return xarray.Dataset(found, {"time": ("time", instants, {"units": "s", "long_name": "time"}), **names}, said)


def save(result: Result, path: str | Path, samples: int | None = None) -> Path:
    """Write the trajectory as a NetCDF file, or one of MATLAB; under its name there is never half a file.

    `samples`: number of evenly spaced instants over the run; those around events and inside impacts come on top.
    """
    path = Path(path)
    if path.suffix not in (".nc", ".mat"):
        raise errors.CaromError(
            f"path of save is '{path}'; it must end in .nc, for a NetCDF file, or in .mat, for one of MATLAB"
        )
    if path.is_dir() or not path.parent.is_dir():
        why = "is a folder" if path.is_dir() else f"is in '{path.parent}', which is not a folder"
        raise errors.CaromError(f"path of save is '{path}'; it {why}; give a file in an existing folder")
    found = table(result, None if samples is None else signals.times_of(result, samples))
    end = numbers_of(lasting(result.world, result.final))
    said = _said("1", "what the run carried at its end, from which another one can go on")
    found.variables["end"] = ((CARRIED,), np.array(list(end.values())), said)
    found.names[CARRIED] = list(end)
    content = netcdf(found) if path.suffix == ".nc" else matlab(found)
    with written(path) as half:
        half.write_bytes(content)
    return path


def _attributes(result: Result) -> dict[str, str]:
    return {
        "title": f"motion of {', '.join(result.world.mechanism.topology.tree_names)}",
        "source": f"carom {result.made.version}",
        "computed_by": str(result.made),
        "outcome": result.outcome,
        "angles": "absolute, from the world's x axis, counter-clockwise positive",
    }


def _said(units: str, meaning: str) -> dict[str, str]:
    return {"units": units, "long_name": meaning}


def _turned(top: Topology, values: np.ndarray) -> np.ndarray:
    """Angles of all links (or rates); one that slides has that of its parent."""
    carriers = np.asarray(top.carriers)
    return np.where(carriers >= 0, values[:, top.base_dof + np.maximum(carriers, 0)], 0.0)


def _motion(result: Result, times: np.ndarray) -> tuple[Variables, dict[str, list[str]]]:
    """Coordinates and velocities: angles, free bases, bending."""
    top, at = result.world.mechanism.topology, states(result, times)
    out: Variables = {
        "angle": (("time", "link"), _turned(top, at.q), _said("rad", "angle of the link")),
        "rate": (("time", "link"), _turned(top, at.v), _said("rad/s", "rate of the link's angle")),
    }
    names: dict[str, list[str]] = {}
    if top.sliding:
        own = [top.angle_index(k) for k in top.slid]
        names["slider"] = [top.names[k] for k in top.slid]
        out["slide"] = (("time", "slider"), at.q[:, own], _said("m", "displacement of the link along its parent"))
        out["slide_rate"] = (("time", "slider"), at.v[:, own], _said("m/s", "rate of the displacement"))
    if top.base_dof:
        names["base"] = [name for name, free in zip(top.tree_names, top.free, strict=True) if free]
        where = ("time", "base", "axis")
        shape = (len(times), -1, 2)
        place, speed = at.q[:, : top.base_dof].reshape(shape), at.v[:, : top.base_dof].reshape(shape)
        out["base_position"] = (where, place, _said("m", "position of the free base"))
        out["base_velocity"] = (where, speed, _said("m/s", "velocity of the free base"))
    if top.elastic:
        first = top.base_dof + top.links
        names["mode"] = list(top.labels[first:])
        out["bending"] = (("time", "mode"), at.q[:, first:], _said("m", "modal coordinate"))
        out["bending_rate"] = (("time", "mode"), at.v[:, first:], _said("m/s", "rate of the modal coordinate"))
    return out, names


def _extra(result: Result, times: np.ndarray) -> tuple[Variables, dict[str, list[str]]]:
    """Extra states, each in its unit."""
    told = result.world.extra
    if not told:
        return {}, {}
    values = np.stack(list(result.extra(times).values()), axis=1)
    units = {quantity.unit or "1" for quantity in told}
    each = ", ".join(f"{quantity.name} [{quantity.unit or '1'}]" for quantity in told)
    said = _said(units.pop() if len(units) == 1 else each, "extra state")
    out: Variables = {"extra": (("time", "state"), values, said)}
    return out, {"state": [quantity.name for quantity in told]}


def _sites(result: Result, times: np.ndarray) -> tuple[Variables, dict[str, list[str]]]:
    found, where = signals.all_site_signals(result, times), ("time", "site", "axis")
    place = np.stack([s.position for s in found.values()], axis=1)
    speed = np.stack([s.velocity for s in found.values()], axis=1)
    out: Variables = {
        "site_position": (where, place, _said("m", "position of the site")),
        "site_velocity": (where, speed, _said("m/s", "velocity of the site")),
    }
    return out, {"site": list(found)}


def _contacts(result: Result, times: np.ndarray) -> tuple[Variables, dict[str, list[str]]]:
    found = signals.contact_signals(result, times)
    if not found:
        return {}, {}
    stops = [s.unit == "rad" for s in found.values()]

    def unit(length: str, angle: str) -> str:
        """Joint stops turn where other contacts push."""
        if all(stops):
            return angle
        return f"{length} ({angle} at joint stops)" if any(stops) else length

    def column(field: str, units: str, meaning: str) -> Any:
        values = np.stack([getattr(s, field) for s in found.values()], axis=1)
        return ("time", "contact"), values, _said(units, meaning)

    force = unit("N", "N m")
    out: Variables = {
        "indentation": column("indentation", unit("m", "rad"), "indentation of the contact, negative while apart"),
        "normal_force": column("normal", force, "normal force on the mechanism"),
        "friction_force": column("friction", force, "friction force on the mechanism, along (n_y, -n_x)"),
        "sliding": column("sliding", "m/s", "sliding velocity, along (n_y, -n_x)"),
        "phase": column("phase", "1", "phase of the contact"),
    }
    return out, {"contact": list(found)}


def _control(result: Result, times: np.ndarray) -> tuple[Variables, dict[str, list[str]]]:
    out: Variables = {}
    names: dict[str, list[str]] = {}
    found = signals.effort_signals(result, times)
    forces = {f"{name} on {tree}": push for name, e in found.items() for tree, push in e.pushes.items()}
    if found:
        names["controller"] = list(found)
        values = np.stack([e.torques for e in found.values()], axis=1)
        unit = "N m (N on sliders)" if result.world.mechanism.topology.sliding else "N m"
        out["torque"] = (("time", "controller", "link"), values, _said(unit, "torque of the parent on the link"))
    if forces:
        names["thruster"] = list(forces)
        values = np.stack(list(forces.values()), axis=1)
        out["base_force"] = (("time", "thruster", "axis"), values, _said("N", "force of a controller on a base"))
    return out, names


def _energies(result: Result, times: np.ndarray) -> tuple[Variables, dict[str, list[str]]]:
    e = signals.energy_signals(result, times)
    out: Variables = {
        "kinetic_energy": (("time", "link"), e.kinetic, _said("J", "kinetic energy of the link")),
        "potential_energy": (
            ("time",),
            e.potential,
            _said("J", "potential energy: weight, springs of joints, bending"),
        ),
    }
    if e.error is None:
        return out, {}
    works = np.stack(list(e.works.values()), axis=1)
    out["work"] = (("time", "source"), works, _said("J", "work done since the start"))
    out["ledger_error"] = (("time",), e.error, _said("J", "energy that the ledger cannot account for"))
    return out, {"source": list(e.works)}


def _momentum(result: Result, times: np.ndarray) -> tuple[Variables, dict[str, list[str]]]:
    p = signals.momentum_signals(result, times)
    out: Variables = {
        "linear_momentum": (("time", "axis"), p.linear, _said("kg m/s", "linear momentum of the whole system")),
        "angular_momentum": (("time",), p.angular, _said("kg m^2/s", "angular momentum about the world's origin")),
    }
    return out, {}
