"""A two-link arm on paper and in motion: its equations, its table, and one second of free fall from rest.

y
|        o tip
|       /   theta_2 = 45 deg
|      o
|     /     theta_1 = 60 deg
+----o-------- x
"""

import diffrax
import jax.numpy as jnp
import numpy as np

import carom
from carom import dynamics

rod = carom.Rod(length=1.0, mass=1.0)
arm = carom.Arm([rod, rod])
print(carom.equations(arm), arm, sep="\n\n", end="\n\n")


def motion(t, state, arm):
    q, v = state
    return v, dynamics.forward_dynamics(arm, q, v)


def energy(q, v):
    return dynamics.kinetic_energy(arm, q, v) + dynamics.potential_energy(arm, q)


start = arm.coordinates([60.0, 45.0], degrees=True)
times = jnp.linspace(0.0, 1.0, 11)
solution = diffrax.diffeqsolve(
    diffrax.ODETerm(motion),
    diffrax.Dopri8(),
    t0=0.0,
    t1=1.0,
    dt0=None,
    y0=(start, jnp.zeros(arm.dof)),
    args=arm,
    saveat=diffrax.SaveAt(ts=times),
    # Steps end at the printed times, because interpolation inside a step is coarser than the step.
    stepsize_controller=diffrax.ClipStepSizeController(diffrax.PIDController(rtol=1e-10, atol=1e-10), step_ts=times),
)

print("Falling from rest")
print("  t [s]  theta_1 [deg]  theta_2 [deg]   tip x [m]   tip y [m]  energy error [J]")
for t, q, v in zip(times, *solution.ys, strict=True):
    row = (*arm.angles(q, degrees=True), *dynamics.site_position(arm, q, arm.tip))
    error = energy(q, v) - energy(start, jnp.zeros(arm.dof))
    print("  {:5.2f}  {:13.4f}  {:13.4f}  {:10.6f}  {:10.6f}  {:16.1e}".format(*np.array([t, *row, error])))
