"""Shapes in files, whole-body contact by name, and what is refused."""

import jax.numpy as jnp
import pytest

import carom

SQUARE = [(-0.1, -0.1), (0.1, -0.1), (0.1, 0.1), (-0.1, 0.1)]
FLOOR = carom.Plane(height=0.0)


def boxes():
    def body(name):
        return carom.Mechanism([carom.Link(carom.Body(1.0, 0.1), name=name)], base=carom.Free())

    return carom.side_by_side(a=body("a"), b=body("b"))


def chain():
    rods = [carom.Link(carom.Rod(0.5, 1.0), name=name) for name in ("thigh", "shank", "foot")]
    return carom.Mechanism(rods, base=carom.Free())


REFUSED = [
    (lambda: carom.Polygon("a", SQUARE[::-1]), "run clockwise"),
    (lambda: carom.Polygon("a", [*SQUARE[:2], (0.0, -0.05), SQUARE[3]]), "must be convex"),
    (lambda: carom.Polygon("a", [(0, 0), (1, 0), (2, 0), (1, 1)]), "must be convex"),
    (lambda: carom.Polygon("a", [(1, 0), (-0.8, 0.6), (0.3, -1), (0.3, 1), (-0.8, -0.6)]), "cross each other"),
    (lambda: carom.Polygon("a", SQUARE[:2]), "at least 3"),
    (lambda: carom.Block(SQUARE[::-1]), "corners of Block run clockwise"),
    (lambda: carom.Block([*SQUARE[:2], (0.0, -0.05), SQUARE[3]]), "corners[2] of Block does not turn to the left"),
    (lambda: carom.Block([(x + 1e6, y) for x, y in SQUARE[::-1]]), "corners of Block run clockwise"),
    (lambda: carom.Block(SQUARE[:2]), "corners of Block are 2; a polygon has at least 3"),
    (lambda: carom.Block(SQUARE, -1.0), "rounding of Block is -1"),
    (lambda: carom.Block([(0.0, 0.0), (1.0, 0.0), (float("nan"), 1.0)]), "corners[2] of Block"),
    (lambda: met(carom.Polygon("a.a.tip", SQUARE), carom.Block(SQUARE), carom.Hertz(1e6)), "count twice"),
    (lambda: met(carom.Capsule("a.a.tip", (0, 0), (1, 0)), carom.Block(SQUARE), 0.5), "a bar without thickness"),
    (lambda: carom.Polygon("a", SQUARE, -0.1), "rounding of Polygon at 'a' is -0.1"),
    (lambda: carom.Capsule("a", (0.1, 0.0), (0.1, 0.0)), "begins and ends at one point"),
    (lambda: carom.Ellipse("a", 0.0, 1.0), "a of Ellipse at 'a' is 0; it must be greater than 0"),
    (lambda: carom.Oval("a", lambda phi: 0.1 + 0.05 * jnp.cos(3.0 * phi)), "not smooth and convex"),
    (lambda: carom.Oval("a", lambda phi: 1.0 + 0.01 * phi), "it must be periodic"),
    (lambda: carom.Ellipse(3, 1.0, 1.0), "site of Ellipse is 3"),
    (lambda: carom.ClearanceJoint("a.a.tip", "b.b.tip", 0.02, -0.001, 0.5), "clearance of ClearanceJoint"),
    (lambda: carom.Contact(carom.Round("a.a.tip", 0.1), FLOOR, 0.5, radius=0.1), "shapes have their own size"),
    (lambda: met(carom.Polygon("a.a.tip", SQUARE), carom.Polygon("b.b.tip", SQUARE), carom.Hertz(1e6)), "count twice"),
    (lambda: met(carom.Round("a.a.tip"), carom.Round("b.b.tip"), 0.5), "without thickness"),
    (lambda: met(carom.Round("a.a.tip", 0.1), carom.Round("a.a.tip", 0.1), 0.5), "two shapes of one link"),
    (lambda: met(carom.Round("a.tip", 0.1), FLOOR, 0.5), "there is no site 'a.tip'"),
    (lambda: met(carom.Round("a.a.tip", 0.1), FLOOR, None), "it must be a compliant law"),
    (lambda: met(carom.Round("a.a.tip", 0.1), FLOOR, 0.5, carom.Dahl(0.3, 1e4)), "a rigid contact needs a law that"),
    (lambda: met(carom.Polygon("a.a.tip", SQUARE), carom.Graph(jnp.sin, bend=1.0), carom.Hertz(1e6)), "may bulge"),
    (lambda: met(carom.Ellipse("a.a.tip", 0.3, 0.1), carom.Circle((0, 0), 0.5, inside=True), 0.5), "touch twice"),
    (lambda: carom.World(boxes(), ground=carom.Ground(FLOOR, 0.5)), "Ground has no shape for link 'a.a'"),
    (lambda: carom.World(chain(), ground=carom.Ground(FLOOR, 0.5, exclude=["toe"])), "there is no link that Ground"),
    (lambda: carom.World(chain(), ground=FLOOR), "it must be a carom.Ground"),
    (lambda: carom.Ground(3, 0.5), "surface of Ground is a int"),
    (lambda: carom.Among([carom.Round("a"), 3], 0.5), "shapes of Among holds a int"),
]


def met(first, against, normal, friction=None):
    return carom.World(boxes(), contacts=carom.Contact(first, against, normal, friction, name="x"))


@pytest.mark.parametrize(("make", "sentence"), REFUSED)
def test_mistakes_are_answered_by_a_sentence(make, sentence):
    with pytest.raises(carom.CaromError) as told:
        make()
    assert sentence in str(told.value)


def names(world):
    return [contact.name for contact in world.contacts]


def test_ground_gives_every_link_its_contacts():
    ground = carom.Ground(FLOOR, carom.Newton(0.2))
    ends = ["ground thigh corner 1", "ground thigh corner 2", "ground shank", "ground foot"]
    assert names(carom.World(chain(), ground=ground)) == ends
    shod = carom.Ground(
        [FLOOR, carom.Wall(3.0, "left")], 0.2, shapes=[carom.Ellipse("foot.tip", 0.1, 0.05)], exclude=["thigh"]
    )
    found = names(carom.World(chain(), ground=shod))
    assert found == ["ground 1 foot", "ground 1 shank", "ground 2 foot", "ground 2 shank"]


def test_all_shapes_meet_but_those_of_neighbours_and_what_is_excluded():
    shapes = [carom.Round(f"{name}.tip", 0.05) for name in ("thigh", "shank", "foot")]
    assert names(carom.World(chain(), contacts=carom.Among(shapes, 0.5))) == ["among thigh - foot"]
    apart = carom.Among(shapes, 0.5, exclude=[("foot", "thigh")])
    assert names(carom.World(chain(), contacts=apart)) == []


def test_a_world_with_shapes_is_written_and_read_back(tmp_path):
    contacts = [
        carom.Contact(carom.Polygon("a.a.tip", SQUARE, 0.01), FLOOR, carom.Newton(0.5), name="floor"),
        carom.Contact(
            carom.Capsule("b.b.tip", (0, 0), (0.1, 0), 0.02), carom.Ellipse("a.a.tip", 0.2, 0.1), 0.5, name="hit"
        ),
        carom.Contact(carom.Round("b.b.tip", 0.1), FLOOR, carom.Newton(0.5), carom.Coulomb(0.3), name="ball"),
        carom.Contact(carom.Polygon("b.b.tip", SQUARE), carom.Block([(5, 0), (6, 0), (6, 1)]), 0.5, name="step"),
        carom.Contact(carom.Ellipse("a.a.tip", 0.2, 0.1), carom.Block([(5, 0), (6, 0), (6, 1)]), 0.5, name="egg"),
    ]
    world = carom.World(boxes(), contacts=contacts)
    start = world.state(base=[(0.0, 1.0), (3.0, 1.0)])
    carom.Scenario.of(world, start, until=1.0, name="shapes").save(tmp_path / "shapes.toml")
    again = carom.Scenario.load(tmp_path / "shapes.toml")
    assert sorted(again.contacts) == ["ball", "egg", "floor", "hit", "step"]
    assert str(again.world()) == str(world)


def test_ground_in_a_file():
    text = """
        format = 2
        name = "legs"
        [mechanisms.robot]
        base = "free"
        links.thigh = { body = { kind = "rod", length = 0.5, mass = 1.0 } }
        links.shank = { body = { kind = "rod", length = 0.5, mass = 1.0 } }
        [surfaces.floor]
        kind = "plane"
        height = 0.0
        [ground]
        surface = "floor"
        normal = { law = "newton", restitution = 0.2 }
        shapes = [{ kind = "ellipse", site = "shank.tip", a = 0.2, b = 0.1 }]
        [run]
        until = 1.0
    """
    world = carom.Scenario.read(text).world()
    assert names(world) == ["ground shank", "ground thigh corner 1", "ground thigh corner 2"]
