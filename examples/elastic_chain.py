"""Three elastic links joined in a free chain fall on the floor: the elastic-chain paper's experiment.

        O2 ------- O3            every link: l = 1 m, 1 kg; joints and ends O1 .. O4 can touch the floor
       /             \\
     O1               O4         released at rest, symmetric about x = 0, ends at 0.9 m
    ----------------------- floor

    .venv/bin/python examples/elastic_chain.py

prints the collisions of the four mode sets (s: simple, c: clamped end of a link) and of the rigid twin, with the error
of the energy ledger and of the symmetry, beside what the paper reports.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np

import carom

ENDS = {"s": "simple", "c": "clamped"}
MODE_SETS = {
    "ss-ss-ss": ("ss", "ss", "ss"),
    "cc-cc-cc": ("cc", "cc", "cc"),
    "sc-cc-cs": ("sc", "cc", "cs"),
    "cs-ss-sc": ("cs", "ss", "sc"),
}
PAPER = {  # collisions in 1.5 s, mean error of the energy [%]
    "ss-ss-ss": ("22", 0.18),
    "cc-cc-cc": ("-", 0.04),
    "sc-cc-cs": ("-", 0.06),
    "cs-ss-sc": ("-", 0.13),
}
START = {
    "angles": [30.0, -30.0, -30.0],
    "relative": True,
    "degrees": True,
    "base": (-(0.5 + np.sin(np.pi / 3)), 0.9),
}


def section(stiffer: float = 1.0) -> carom.beam.Section:
    return carom.beam.Section(
        area=3.75e-4,
        second_moment=4.883e-9,
        mass_per_length=1.0,
        youngs_modulus=2e11 * stiffer,
        shear_modulus=7.7e10 * stiffer,
        shear_factor=5 / 6,
    )


def link(ends: str, rotary: str, modes: int, stiffer: float) -> carom.Beam:
    return carom.Beam(
        1.0,
        section(stiffer),
        (ENDS[ends[0]], ENDS[ends[1]]),
        modes,
        rotary=rotary,
        rotary_inertia=2.9473e-5,  # of the moving links; the paper's modes are those of mu I / A
        air_damping=0.025,
        material_damping=125.0,
    )


def make_world(sets=MODE_SETS["ss-ss-ss"], rotary="link", modes=1, stiffer=1.0) -> carom.World:
    """The paper's world; `rotary='link'` is its equation (7) as printed, 'section' Timoshenko's. No sets: rigid."""
    bodies = [link(ends, rotary, modes, stiffer) for ends in sets] if sets else [rigid_link()] * 3
    links = [carom.Link(body, sites={"O1": (0.0, 0.0)} if k == 0 else {}) for k, body in enumerate(bodies)]
    chain = carom.Mechanism(links, base=carom.Free())
    law, friction = carom.HuGuo(stiffness=1.4e8, restitution=0.8), carom.Ambrosio(mu=0.1, slow=1e-4, fast=1e-3)
    sites = {"O1": "O1", "O2": "link1.tip", "O3": "link2.tip", "O4": "link3.tip"}
    floor = carom.Plane(height=0.0)
    contacts = [carom.Contact(chain.site(site), floor, law, friction, name=name) for name, site in sites.items()]
    return carom.World(chain, contacts=contacts, gravity=9.81)


def rigid_link() -> carom.Body:
    """The same link without bending."""
    return carom.Body(mass=1.0, inertia=1.0 / 12.0 + 2.9473e-5, com=(0.5, 0.0), tip=(1.0, 0.0))


def run(world: carom.World, rtol: float = 1e-8, until: float = 1.5, **options):
    settings = carom.Settings("dopri8", rtol, 1e-3 * rtol)
    return carom.simulate(world, world.state(**START), until=until, settings=settings, **options)


def asymmetry(result) -> float:
    """Largest distance [m] of a joint from the mirror image of its counterpart."""
    m = result.world.mechanism
    q = result.at(np.linspace(0.0, float(result.t[-1]), 301)).q
    names = ("O1", "link1.tip", "link2.tip", "link3.tip")
    where = jax.jit(jax.vmap(lambda row: jnp.stack([carom.dynamics.site_position(m, row, name) for name in names])))
    places = np.asarray(where(q))
    mirrored = places[:, ::-1] * np.array([-1.0, 1.0])
    return float(np.max(np.abs(places - mirrored)))


def main() -> None:
    print(
        "mode set     collisions  paper   largest error of the energy [%]  paper, mean   asymmetry [m]   deflection [m]"
    )
    for name, sets in {**MODE_SETS, "rigid": ()}.items():
        result = run(make_world(sets), rtol=1e-11)
        count, error = PAPER.get(name, ("-", float("nan")))
        bend = float(np.max(np.abs(result.q[:, 5:]))) if sets else 0.0
        print(
            f"{name:12} {len(result.impacts):10} {count:>6} {result.energy.max_error_percent:33.1e} {error:12.2f} "
            f"{asymmetry(result):15.1e} {bend:15.2e}"
        )
        times = [f"{i.contact} {i.t_start:.6f}" for i in result.impacts]
        for k in range(0, len(times), 6):
            print("    " + "   ".join(times[k : k + 6]))


if __name__ == "__main__":
    main()
