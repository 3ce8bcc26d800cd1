"""Which pair a user means."""

from __future__ import annotations

from ... import errors
from ..._arguments import AgainstLike, TouchingLike
from ...mechanism import Site
from ...quantities import Real
from ..surfaces import AbstractSurface
from .disk_on_disk import DiskOnDisk, Ring
from .pair import AbstractPair
from .site_on_segment import Segment, SiteOnSegment
from .site_on_surface import SiteOnSurface


def pair_of(
    owner: str, site: TouchingLike, against: AgainstLike, radius: Real = 0.0, other_radius: Real = 0.0
) -> AbstractPair:
    """The pair that a user means by (site, surface), (site, site), (site, segment), (site, ring) or (pair, None)."""
    if isinstance(site, AbstractPair):
        return _ready(owner, site, against, radius, other_radius)
    if not isinstance(site, Site):
        raise errors.CaromError(
            f"site of {owner} is {site!r}; it must come from a mechanism, such as arm.tip or arm.site('...'), or be a "
            "carom.JointLimit"
        )
    owner = f"{owner} at '{site.name}'"
    errors.number(owner, "radius", radius, least=0.0)
    own = errors.array(radius)
    if isinstance(against, Site):
        errors.number(owner, "other_radius", other_radius, least=0.0)
        _refuse_one_link(owner, site, against)
        return DiskOnDisk(site, against, own, errors.array(other_radius))
    if not isinstance(against, AbstractSurface | Segment | Ring):
        raise errors.CaromError(
            f"{owner} is against a {type(against).__name__}; it must be a surface such as carom.Plane(height=0.0), or "
            "a site, carom.Segment or carom.Ring of another link"
        )
    _refuse_radius(owner, "other_radius", other_radius, f"a {type(against).__name__} has its own size")
    if isinstance(against, Segment):
        _refuse_one_link(owner, site, against.start)
        _refuse_thin(owner, radius, against.radius)
        return SiteOnSegment(site, against, own)
    if isinstance(against, Ring):
        _refuse_one_link(owner, site, against.site)
        _refuse_tight(owner, radius, against.radius)
        return DiskOnDisk(site, against.site, own, against.radius, inside=True)
    return SiteOnSurface(site, against, own)


def _ready(owner: str, pair: AbstractPair, against: AgainstLike, radius: Real, other_radius: Real) -> AbstractPair:
    if against is not None:
        raise errors.CaromError(
            f"{owner} of '{pair.name}' is against a {type(against).__name__}; a {type(pair).__name__} already says "
            "what touches what; leave `against` at None"
        )
    for field, value in (("radius", radius), ("other_radius", other_radius)):
        _refuse_radius(f"{owner} of '{pair.name}'", field, value, f"a {type(pair).__name__} has its own size")
    return pair


def _refuse_radius(owner: str, field: str, value: Real, why: str) -> None:
    errors.number(owner, field, value)
    known = errors.known(value)
    if known is None or known != 0.0:
        raise errors.CaromError(f"{field} of {owner} is {value!r}; {why}; leave it out")


def _refuse_one_link(owner: str, site: Site, other: Site) -> None:
    if site.link == other.link:
        raise errors.CaromError(
            f"{owner} meets '{other.name}', a site of the same link; they cannot meet; take one of another link"
        )


def _refuse_thin(owner: str, radius: Real, thickness: Real) -> None:
    errors.refuse_if(
        radius + thickness <= 0.0,
        lambda: (
            f"radius of {owner} is 0 and so is that of its Segment; the distance to a line has no sign; give one of "
            "them a radius > 0, such as half the bar's thickness"
        ),
    )


def _refuse_tight(owner: str, radius: Real, hole: Real) -> None:
    errors.refuse_if(
        radius >= hole,
        lambda: (
            f"radius of {owner} is {float(radius):g} and that of its Ring {float(hole):g}; what runs inside must be "
            "smaller; for two disks side by side give the site and other_radius"
        ),
    )
