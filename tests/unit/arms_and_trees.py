"""Arms and trees with every kind of body, base and joint."""

import carom

LINKS = (
    carom.Link(carom.Rod(length=0.7, mass=1.3), joint=carom.Joint(stiffness=3.0, rest=0.4, damping=0.2)),
    carom.Link(carom.Rod(length=0.5, mass=0.9), joint=carom.Joint(damping=0.7)),
    carom.Link(carom.Rod(length=1.1, mass=0.4), joint=carom.Joint(stiffness=1.7)),
    carom.Link(carom.Rod(length=0.3, mass=2.1)),
)
HUB = carom.Link(carom.Disk(radius=0.35, mass=12.0), name="hub")
PLATE = carom.Body(mass=0.8, inertia=0.05, com=(0.31, -0.12), tip=(0.62, 0.2))
BEAM = carom.Body(mass=1.8, inertia=0.25, com=(0.4, 0.0), tip=(1.0, 0.0))


def arm(links: int, base: str) -> carom.Mechanism:
    if base == "fixed":
        return carom.Mechanism(LINKS[:links], base=carom.Fixed(0.3, -0.2))
    body = [HUB] if base == "free body" else []
    return carom.Mechanism([*body, *LINKS[:links]], base=carom.Free())


def tree() -> carom.Mechanism:
    """Every kind of body, three branches, joints at tips, at origins and elsewhere, one of them on the base itself."""
    spring = carom.Joint(stiffness=0.6, rest=-0.2, damping=0.3)
    return carom.Mechanism(
        [
            carom.Link(PLATE, name="plate", joint=spring),
            carom.Link(carom.PointMass(mass=0.4, length=0.8), name="bob", joint=spring),
            carom.Link(carom.Rod(length=0.5, mass=0.6), name="rod", parent="plate", at=(-0.1, 0.15), joint=spring),
            carom.Link(BEAM, name="beam", parent="rod"),
            carom.Link(carom.Disk(radius=0.2, mass=3.0), name="wheel", parent="beam"),
            carom.Link(carom.Rod(length=0.9, mass=1.1), name="side", parent="plate", at=(0.0, 0.0)),
            carom.Link(carom.Rod(length=0.4, mass=0.2), name="other", parent=carom.BASE),
        ],
        base=carom.Free(),
    )


def gantry() -> carom.Mechanism:
    """A cart on a slope, a leg on it, a telescope in two steps along the leg."""
    spring = carom.Slider(axis=(0.9, -0.4), stiffness=2.0, rest=0.1, damping=0.3, rotor_inertia=0.01, gear=7.0)
    return carom.Mechanism(
        [
            carom.Link(PLATE, name="cart", joint=carom.Slider(axis=(0.6, 0.8), damping=0.2)),
            carom.Link(
                carom.Rod(length=0.5, mass=0.6),
                name="leg",
                joint=carom.Joint(stiffness=0.6, rotor_inertia=0.02, gear=5.0),
            ),
            carom.Link(carom.Rod(length=0.5, mass=0.6), name="sleeve", at=(0.2, 0.1), joint=spring),
            carom.Link(BEAM, name="rod", joint=carom.Slider()),
        ]
    )


def pair() -> carom.Mechanism:
    """Two free trees and a fixed one in between, side by side."""
    return carom.side_by_side(ship=arm(1, "free body"), arm=arm(2, "fixed"), target=arm(1, "free point"))
