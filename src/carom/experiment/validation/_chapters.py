"""Chapters of the page of the records, in Markdown: how a record was read, what was found in it, and tables."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from ...study.fitting import Comparison, Fit
from ._bounce_study import KNOWN_DRAG, BounceStudy
from ._ellipse_study import SPLITS, EllipseStudy
from ._pendulum_study import BEGINNING, HORIZON, PendulumStudy
from ._sources import BALLS, PENDULUM, PLANAR, Source


def table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    head = list(head)
    lines = [head, ["---"] * len(head), *map(list, rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def source_words(source: Source) -> str:
    return (
        f"`{source.repository}` at `{source.commit[:10]}` (licence: {source.licence}): {source.what}. To get it:\n\n"
        f"    git clone https://github.com/{source.repository}\n"
        f"    git -C {source.folder} checkout {source.commit[:10]}"
    )


def estimates(fit: Fit | None) -> str:
    """Numbers with their standard errors."""
    if fit is None:
        return ""
    return ", ".join(
        f"{n} not determined" if np.isnan(x) else f"{n} = {x:.4g} ± {fit.standard_error[n]:.2g}"
        for n, x in fit.estimate.items()
    )


def compared(found: Comparison, scale: float = 1.0, unit: str = "") -> str:
    """A comparison as a table."""
    least = min(law.aic for law in found.laws.values())
    rows = [
        (
            name,
            f"{scale * law.error:.3f}{unit}" if not law.trouble else law.trouble,
            f"{scale * law.interval[0]:.3f} to {scale * law.interval[1]:.3f}",
            f"{100 * law.wins:.0f} %",
            f"+{law.aic - least:.1f}",
            estimates(law.fit),
        )
        for name, law in found.laws.items()
    ]
    return table(("law", "held-out error", "95 %", "wins", "AIC", "fitted to all, ± standard error"), rows)


def ellipse_chapter(s: EllipseStudy, figure: str) -> str:
    t = s.traps
    best, plain = next(iter(s.split.laws.items())), s.split.laws["Poisson"]
    parts = [
        "## Drops of an ellipse",
        source_words(PLANAR),
        f"{len(s.impacts.before)} blows of an ellipse of 36.4 g, semi-axes 35 and 25 mm, radius of gyration 19.2 mm. "
        "Errors are those of the change of velocity over that change, in the norm of kinetic energy, averaged over "
        "blows.",
        "**Traps.** Three, all checked on the data when this page is written:",
        f"- The heights are {t.height:.3f} times those at which the ellipse touches the floor; the lever arms in d are "
        f"{t.lever:.3f} times as long as they should be. So d and n are right, and y is of an ellipse twice as large.\n"
        f"- No impulse through the contact point explains {100 * t.floor['as stored']:.1f} % of the change of "
        "velocity as "
        f"stored, {100 * t.floor['omega reversed']:.0f} % with omega reversed, and "
        f"{100 * t.floor['vx reversed']:.1f} % with "
        "vx reversed: vx and omega are mirrored against each other. The last number is what measurement leaves to "
        "any law.\n"
        "- The published predictions were made from the velocities as stored; the second column has the tangential "
        "part of "
        "their change of velocity reversed.",
        table(
            ("published prediction", "error as stored", "mirrored"),
            ((n, f"{100 * a:.1f} %", f"{100 * b:.1f} %") for n, (a, b) in s.published.items()),
        ),
        "Two numbers, chosen for the least mean error of all blows, and what the same choice on "
        f"{s.split.rows - s.split.held_out} blows leaves on the other {s.split.held_out} (mean, and spread, of "
        f"{SPLITS} random splits):",
        table(
            ("law, with Coulomb", "e", "mu", "error", "held out"),
            (
                (n, f"{e:.3f}", f"{mu:.3f}", f"{100 * x:.2f} %", _spread(s.held_out[n]))
                for n, (e, mu, x) in s.best.items()
            ),
        ),
        f"**A third number.** Fitted by least squares to {s.split.rows - s.split.held_out} blows, judged on the other "
        f"{s.split.held_out}:",
        compared(s.split, 100.0, " %"),
        f"The best is `{best[0]}`: {100 * best[1].error:.2f} % where Poisson with two numbers has "
        f"{100 * plain.error:.2f} %; it wins {100 * best[1].wins:.0f} % of the resamples. In the table: e(approach) "
        "is a "
        "power of the approach speed, (v / 2.6 m/s)^-p; e(sliding) is e - c v², with the sliding speed v before the "
        "blow; "
        "mu(sliding) is mu + b v; tangential restitution gives back beta of the impulse that sticks; the arm of "
        "contact "
        "moves the point by so many metres against the sliding.",
        f"![Restitution falls with the sliding speed; errors of laws and of published predictions]({figure})",
        f"All blows as one batch of `carom.contact.rubbing_blow`: {s.speed[0]:,.0f} blows per second of processor time "
        f"({s.speed[1]} in a batch, one core).",
    ]
    return "\n\n".join(parts)


def _spread(errors: np.ndarray) -> str:
    return f"{100 * errors.mean():.2f} % ({100 * errors.min():.2f} to {100 * errors.max():.2f})"


def bounce_chapter(s: BounceStudy, figure: str) -> str:
    parts = [
        "## Bouncing balls, heard",
        source_words(BALLS),
        f"{sum(s.records.values())} records in 67 files: "
        + ", ".join(f"{ball} {n}" for ball, n in s.records.items())
        + ". A row is the ratio of an interval between bounces to the one before.",
        "**Traps.** Instants stand under different names of sheets; some sheets hold four records. The last events "
        "of a "
        "record are often none: bounces that were too quiet are missing, echoes are counted; intervals are used up "
        "to the "
        "first ratio that is off by 0.06. The printed table in the same repository (`data.py`) has slips, an interval "
        "twice and one of another record; the files are read.",
    ]
    for ball, found in s.compared.items():
        _, ratios = s.rows[ball]
        parts += [
            f"### {ball.capitalize()}: {len(ratios)} ratios",
            _rising(s, ball),
            compared(found, 100.0, " %"),
            _apart(s, ball),
        ]
    few = [ball for ball in s.records if ball not in s.compared]
    if few:
        parts.append(f"Too few rows to compare laws on: {', '.join(few)}.")
    known = s.compared["table tennis"].laws["constant e, drag"].fit if "table tennis" in s.compared else None
    if known is not None:
        parts.append(
            "**What it says.** For the light ball a constant restitution in vacuum is refuted. Restitution that falls "
            "with speed does better, and air better still: the laws with drag win every resample, with the lower AIC "
            f"by far. With drag and one restitution: {estimates(known)} (drag over mass, in 1/m). A regulation "
            f"ball of 2.7 g and 40 mm with the textbook's drag coefficient, 0.47, has {KNOWN_DRAG:.3f} 1/m, which was "
            "not used in the fit. Whether restitution depends on speed beside that, held-out errors do not tell. The "
            "heavy balls feel no air that these records could show, and one number is enough for them."
        )
    parts.append(f"![Ratios of intervals against the interval, by ball, with three laws]({figure})")
    return "\n\n".join(parts)


def _rising(s: BounceStudy, ball: str) -> str:
    before, ratios = s.rows[ball]
    order = np.argsort(before)
    tenth = max(len(order) // 10, 1)
    slow, fast = np.median(ratios[order[:tenth]]), np.median(ratios[order[-tenth:]])
    words = f"The ratio is {fast:.3f} for the longest tenth of the intervals and {slow:.3f} for the shortest."
    echo = s.echo.get(ball)
    return words if echo is None else f"{words} Correlation of neighbouring residuals: {echo:+.2f}."


def _apart(s: BounceStudy, ball: str) -> str:
    """Can drag and restitution be told apart here?"""
    fit = s.compared[ball].laws["linear e, drag"].fit
    if fit is None:
        return ""
    if fit.undetermined:
        return f"Drag and restitution fitted together: {'; '.join(fit.undetermined)}."
    return (
        f"Drag and a restitution that falls with speed, fitted together, are correlated by {s.apart[ball]:+.3f}: "
        "this record tells their sum better than either."
    )


def pendulum_chapter(s: PendulumStudy, figure: str) -> str:
    def row(name: str, errors: np.ndarray, inside: str, lasts: np.ndarray) -> list[str]:
        return [name, *(f"{x:.4f}" for x in errors), inside, f"{np.median(lasts):.1f} ({lasts.min():.1f})"]

    rows = [row("published parameters", s.published, "", s.lasts["published"])]
    rows += [row(n, f.errors, f"{f.inside:.4f}", s.lasts[n]) for n, f in s.fitted.items()]
    head = (
        "joints",
        *(f"held out {k + 1} [rad]" for k in range(4)),
        "fitted [rad]",
        "within 0.1 rad [s]: median (least)",
    )
    begun = {"published parameters": s.begun} | {n: f.begun for n, f in s.fitted.items()}
    best = min(s.fitted, key=lambda n: float(np.sum(s.fitted[n].errors)))
    parts = [
        "## Pendulums of two and three arms",
        source_words(PENDULUM),
        "Free swings with the cart held, 26 pieces of 2.7 s to fit on and 4 held out, from large swings to small ones. "
        "Fitted from the first sample of each piece: the first arm's centre of mass, both inertias, "
        "and what the joints have. What else there is stays as published: with the second arm's centre fitted, too, "
        "`carom.fit` says that the data cannot tell the parameters apart. Errors are root mean squares of both "
        "angles, every 20 ms.",
        "**Traps.** Angles are counted from upright and clockwise. Rates were smoothed before they were stored: at the "
        "beginning of the pieces that were held out they differ by "
        + ", ".join(f"{x:.3f}" for x in s.off)
        + f" rad/s from those that the angles of the first {BEGINNING:g} s say. That is most of the fourth piece's "
        "error, which no parameter mends; the second table begins with the rates that the angles say. Only ratios of "
        "masses, inertias and friction show.",
        "From the first sample as it was stored:",
        table(head, rows),
        f"From the stored angles, with the rates that the angles of the first {BEGINNING:g} s say:",
        table(head[:5], ([name, *(f"{x:.4f}" for x in errors)] for name, errors in begun.items())),
        f"Held out, the best joints are *{best}*: dry friction (Coulomb's, exact, `carom.Joint(friction=...)`) beside "
        "viscous damping.",
        table(("joints", "numbers, ± standard error"), ((n, estimates(f.fit)) for n, f in s.fitted.items())),
        "Triple pendulum, published parameters: "
        + ", ".join(f"{x:.4f}" for x in s.triple)
        + f" rad on the pieces held out; a prediction stays within 0.1 rad for {np.median(s.triple_lasts):.1f} s "
        f"(median; least {s.triple_lasts.min():.1f} s). Predictions are followed for {HORIZON:g} s.",
        f"![A piece that was held out, errors of predictions, and how long predictions last]({figure})",
    ]
    return "\n\n".join(parts)
