"""Every shape against every other and against every surface: 10,000 poses each, by brute force, to 1e-10 of the size.

Ten draws of each pair, of a thousand poses: shapes of other proportions, in worlds of a metre, a micrometre, a
millimetre, thirty and three hundred metres, turned and shifted. Most poses are near contact, from 1e-9 of the size on,
and some overlap. Rates are compared with differences of brute force.
"""

import itertools

import numpy as np
import pytest
from brute_distances import Hull, apart, from_hull
from posed_grounds import CURVED, GROUNDS, ground, turned
from posed_shapes import (
    CLOSE,
    EACH,
    ENDS,
    GROUP,
    KINDS,
    PROVEN,
    SIZES,
    Tally,
    both,
    drawn,
    ellipse_again,
    poses,
    targets,
    toucher,
    two,
)

import carom
from carom.contact.pairs import pair_of
from carom.contact.pairs._expansion import pairs_between

pytestmark = pytest.mark.slow

REFUSED = [("point", "point"), ("point", "bar"), ("bar", "bar"), ("bar", "box")]  # nothing can be inside of a line
PAIRS = list(itertools.combinations_with_replacement(GROUP, 2))


def promised(a, b):
    """How deep [m] an overlap may be for its depth to be the least way out (docs/shapes.md)."""
    if isinstance(a, Hull) and isinstance(b, Hull):
        round_, other = sorted((a, b), key=lambda hull: len(hull.corners))
        within = len(round_.corners) == 1 and len(other.corners) > 2
        return 0.4 * other.thin if within else 0.9 * (a.radius + b.radius)
    return 0.4 * min(shape.thin for shape in (a, b))


def corner_by_corner(gap, a, b, q):
    """Errors of every contact of two hulls: each is a corner of one in the other, however deep."""
    one, two = (pose.out(hull.corners) for pose, hull in zip(both(q), (a, b), strict=True))
    own, other = from_hull(one, two)[0], from_hull(two, one)[0]
    truth = np.concatenate([own, other], axis=1) - a.radius - b.radius
    if gap.shape[1] < truth.shape[1]:
        truth = (own if one.shape[1] == 1 else other) - a.radius - b.radius
    return np.abs(gap - truth)


@pytest.mark.parametrize(("first", "second"), [pair for pair in PAIRS if pair not in REFUSED])
def test_two_shapes(first, second):
    tally, rng = Tally(f"{first} - {second}"), np.random.default_rng([PAIRS.index((first, second)), 7])
    for size in SIZES:
        (own, a), (other, b) = drawn(first, rng, size), drawn(second, rng, size)
        sites = (two(size).site(f"{x}.{x}.tip") for x in "ab")
        pairs = pairs_between("x", own(next(sites)), other(next(sites)), rigid=True)
        touched = toucher([pair for _, pair in pairs], (GROUP[first], GROUP[second]))
        q, v = poses(rng, size, 0.6)
        gap, n, _ = apart(a, b, *both(q), rounds=5)
        wanted = np.where(rng.random(EACH) < 0.3, gap, targets(rng, size, 1.0, promised(a, b)))
        q[:, 2:4] += (wanted - gap)[:, None] * n
        gap, _, left = apart(a, b, *both(q))
        tally.proof = max(tally.proof, np.max(np.abs(left)) / size)
        counted = (gap > 0.0) | (gap > -promised(a, b))
        found = tally.add(size, touched, lambda q, t, a=a, b=b: apart(a, b, *both(q))[0], gap, counted, q, v, 0.0)
        if isinstance(a, Hull) and isinstance(b, Hull):
            # Within a millionth of two edges the one counts on which a corner stands, not the nearest.
            off = corner_by_corner(found, a, b, q)
            inside = found + a.radius + b.radius
            assert np.max(off[(inside > 0.0) | (inside < -2e-6 * size)]) < CLOSE * size, tally.name
    tally.close()


def test_needles_over_wide_things():
    """In a few directions out of many hundred such a pair is seen to be apart: one way missed and it would overlap."""
    rng = np.random.default_rng(3)
    table = Hull(np.array([(-5.0, -1.0), (5.0, -1.0), (5.0, 0.0), (-5.0, 0.0)]), 0.0)
    wedge, bar = Hull(np.array([(-0.2, 0.0), (0.0, -0.01), (0.15, 0.0)]), 0.0), Hull(2.0 * ENDS, 0.0)
    for ratio, b in itertools.product((15.0, 100.0), (table, wedge, bar)):
        a, sites = ellipse_again(0.3, 0.3 / ratio, 0.2), [two(1.0).site(f"{x}.{x}.tip") for x in "ab"]
        other = carom.Capsule(sites[1], *b.corners) if b is bar else carom.Polygon(sites[1], b.corners)
        ((_, pair),) = pairs_between("x", carom.Ellipse(sites[0], 0.3, 0.3 / ratio, 0.2), other, rigid=True)
        q, v = poses(rng, 1.0, 4.0 if b is table else 0.6)
        gap, n, _ = apart(a, b, *both(q))
        q[:, 2:4] += (targets(rng, 1.0, 1.0, 0.0) - gap)[:, None] * n
        gap, _, left = apart(a, b, *both(q))
        found = toucher([pair], ("needle", len(b.corners)))(1.0, 0.0, q, v)[0][:, 0]
        assert np.max(np.abs(found - gap)) < CLOSE and np.max(np.abs(left)) < PROVEN and np.all(gap > 0.0)


def by_sites(kind, rng, size):
    """A round tip against the tip, the bar or the ring of another body: the pair, and both outlines."""
    (a, b), (r, other) = (two(size).site(f"{x}.{x}.tip") for x in "ab"), size * rng.uniform(0.01, 0.05, 2)
    own = Hull(np.zeros((1, 2)), r)
    if kind == "site":
        return pair_of("x", a, b, r, other), own, Hull(np.zeros((1, 2)), other)
    if kind == "segment":
        left, right = (two(size).site(f"b.{x}") for x in ("left", "right"))
        return pair_of("x", a, carom.Segment(left, right, other), r), own, Hull(size * ENDS, other)
    return pair_of("x", a, carom.Ring(b, size), r), own, None


@pytest.mark.parametrize("kind", ["site", "segment", "ring"])
def test_a_site_and_another(kind):
    tally, rng = Tally(f"site - {kind}"), np.random.default_rng(len(kind))
    for size in SIZES:
        pair, a, b = by_sites(kind, rng, size)

        def truth(q, t, size=size, a=a, b=b):
            if b is None:
                return size - a.radius - np.hypot(*(q[:, 2:4] - q[:, :2]).T)
            return apart(a, b, *both(q))[0]

        q, v = poses(rng, size, 0.95)
        if b is not None:
            gap, n, _ = apart(a, b, *both(q))
            q[:, 2:4] += (targets(rng, size, 1.0, 0.9 * (a.radius + b.radius)) - gap)[:, None] * n
        tally.add(size, toucher([pair], ("sites", kind)), truth, truth(q, 0.0), truth(q, 0.0) > -np.inf, q, v, 0.0)
    tally.close()


def sunk(land, shape):
    """How deep [m] it may be in a surface: corners are never below a curve, nor is the middle of a circle inside."""
    if land.flat:
        return np.inf
    if land.solid is not None:
        return promised(shape, land.solid)
    return 0.9 * shape.radius if isinstance(shape, Hull) else 0.2 * shape.thin


@pytest.mark.parametrize("under", GROUNDS)
@pytest.mark.parametrize("group", ["tip", *KINDS])
def test_a_shape_on_a_surface(group, under):
    for kind in ("site", "tip") if group == "tip" else KINDS[group]:
        if (kind, under) != ("bar", "step"):  # which is refused, see below
            on_surface(group, kind, under)


def on_surface(group, kind, under):
    tally, rng = Tally(f"{kind} on {under}"), np.random.default_rng([*f"{kind} on {under}".encode()])
    for size in SIZES:
        land, site, t = ground(under, rng, size), two(size).site("a.a.tip"), rng.uniform(0.0, 2.0)
        if group == "tip":
            shape = Hull(np.zeros((1, 2)), 0.0 if kind == "site" else 0.03 * size)
            pairs = [("", pair_of("x", site, land.surface, shape.radius))]
        else:
            own, shape = drawn(kind, rng, size, 3 if under in CURVED else 4, under in CURVED)
            pairs = pairs_between("x", own(site), land.surface, rigid=True)
        touched = toucher([pair for _, pair in pairs], (group, under))
        q, v = poses(rng, size, 0.6)
        frame = land.frame(t)
        q[:, :2] = turned(land.around(rng, size), frame.at, frame.angle)
        gap, n, _ = land.apart(shape, q, t)
        wanted = targets(rng, size, land.widest, min(sunk(land, shape), 0.1 * size))
        q[:, :2] += (wanted - gap)[:, None] * turned(n, 0.0, frame.angle)
        gap, _, left = land.apart(shape, q, t)
        tally.proof = max(tally.proof, np.nanmax(np.abs(left)) / size)
        counted = np.isfinite(left) & (gap > -sunk(land, shape)) & (gap < 1.01 * land.widest * size)
        tally.add(size, touched, lambda q, t, a=shape, b=land: b.apart(a, q, t)[0], gap, counted, q, v, t)
    tally.close()


def made(kind, whose="a", size=1.0):
    return drawn(kind, np.random.default_rng(1), size)[0](two(size).site(f"{whose}.{whose}.tip"))


@pytest.mark.parametrize(("first", "second"), REFUSED)
def test_what_has_no_thickness_is_refused(first, second):
    for a, b in ((first, second), (second, first)):
        with pytest.raises(carom.CaromError, match="without thickness"):
            pairs_between("x", made(a), made(b, "b"), rigid=True)


@pytest.mark.parametrize("under", ["step", "moving step"])
def test_a_bar_on_a_sharp_block_is_refused(under):
    land = ground("step", np.random.default_rng(1), 1.0).surface
    land = land if under == "step" else carom.Moving(land, velocity=(1.0, 0.0))
    with pytest.raises(carom.CaromError, match="without thickness"):
        pairs_between("x", made("bar"), land, rigid=True)


@pytest.mark.parametrize("kind", ["capsule", "box", "polygon"])
def test_edges_on_edges_take_no_compliant_law(kind):
    for against in (
        made("capsule", "b"),
        *(ground(x, np.random.default_rng(1), 1.0).surface for x in ("block", *CURVED)),
    ):
        with pytest.raises(carom.CaromError, match="compliant law"):
            pairs_between("x", made(kind), against, rigid=False)


def test_a_hollow_that_is_too_narrow_is_refused():
    shape = carom.Ellipse(two(1.0).site("a.a.tip"), 0.3, 0.02)
    ((_, pair),) = pairs_between("x", shape, carom.Circle((0.0, 0.0), 4.4, inside=True), rigid=True)
    with pytest.raises(carom.CaromError, match="touch twice"):
        pair.check(two(1.0))
