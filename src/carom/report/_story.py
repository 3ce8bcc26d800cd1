"""What happened, in sentences, and numbers as people read them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import pairwise

import numpy as np

from ..result._clip import Clip
from ..result.impacts import Impact
from ._rounding import sizes, without_rounding
from .samples import Struck

MOST_NAMED = 6  # contacts in a sentence
NBSP = "\u00a0"
SEAM = 1e-6  # share of the energy in play that may be missing between two stretches without a word
PREFIXES = {9: "G", 6: "M", 3: "k", 0: "", -3: "m", -6: "µ", -9: "n"}


def digits(value: float, count: int = 4) -> str:
    """A number with that many significant digits, as plain as it can be written."""
    if not np.isfinite(value):
        return "∞" if value > 0 else "-∞" if value < 0 else "–"
    if value == 0.0:
        return "0"
    power = _power(value, count)
    if -5 <= power < 7:
        return f"{value:.{max(count - 1 - power, 0)}f}"
    mantissa, exponent = f"{value:.{count - 1}e}".split("e")
    return f"{mantissa}e{int(exponent)}"


def _power(value: float, count: int) -> int:
    """Of ten, as the number is written with that many digits: 0.99999 is 1.000."""
    return int(f"{value:.{count - 1}e}".split("e")[1])


def prefix(largest: float, count: int = 4) -> tuple[float, str]:
    """Factor and prefix with which a number of this size, written with that many digits, is read best.

    >>> prefix(0.0277), prefix(0.99999)
    ((1000.0, 'm'), (1.0, ''))
    """
    if not np.isfinite(largest) or largest == 0.0:
        return 1.0, ""
    power = int(np.clip(3 * (_power(largest, count) // 3), -9, 9))
    return 10.0**-power, PREFIXES[power]


def quantity(value: float, unit: str, count: int = 3) -> str:
    """'27.7 kN', '144 µs'"""
    scale, letter = prefix(value, count)
    return f"{digits(value * scale, count)}\u00a0{letter}{unit}"


def unit_of(clip: Clip, contact: str) -> str:
    """Of a contact's indentation: 'm', or 'rad' at a joint's stop."""
    return next(c.pair.length_unit for c in clip.result.world.contacts if c.name == contact)


def plural(count: int, word: str) -> str:
    return f"{count} {word}{'' if count == 1 else 's'}"


def story(clips: Sequence[Clip], listed: Sequence[Struck]) -> list[str]:
    """How long, how many impacts, the hardest, what they took, how well the ledger closes, how it ended."""
    impacts = [s for s in listed if s.impact.struck]
    begin, end = min(clip.begin for clip in clips), max(clip.end for clip in clips)
    stretches = f" in {len(clips)} stretches" if len(clips) > 1 else ""
    numbered = [(n, s) for n, s in enumerate(impacts, start=1) if s.blow is None]  # as the table and the viewer count
    strikes, blows = [s for _, s in numbered], [s for s in impacts if s.blow is not None]
    out = [f"{digits(end - begin, 4).rstrip('0').rstrip('.')} s of motion{stretches}{_counted(strikes, blows)}."]
    out += [_blow(s) for s in blows]
    if strikes:
        out.append(_hardest(clips, numbered, sizes(clips, [s.impact for s in listed])))
        out.append(_taken([s for s in listed if s.blow is None]))
    out += _stood(clips)
    out += _seams(clips, blows)
    out += _ledger(clips)
    out += _ends(clips)
    return out


def warnings(clips: Sequence[Clip]) -> list[str]:
    """What a user should know, each sentence once."""
    return list(dict.fromkeys(sentence for clip in clips for sentence in clip.result.warnings))


def _blow(s: Struck) -> str:
    """A blow between two clips."""
    i = s.impact
    met, parted = (quantity(abs(v), "m/s") for v in (i.normal_velocity_before, i.normal_velocity_after))
    lost, had = quantity(i.energy_lost, "J"), quantity(i.kinetic_energy_before, "J")
    return (
        f"At {digits(s.start, 4)}\u00a0s {i.contact}: they met at {met}, an impulse of "
        f"{quantity(i.normal_impulse, 'N s')} brought that to {parted}, and {lost} of {had} kinetic energy was lost."
    )


def _counted(impacts: Sequence[Struck], blows: Sequence[Struck]) -> str:
    if not impacts:
        return f" with {plural(len(blows), 'blow')}" if blows else "; no contact strikes"
    counts = Counter(s.impact.contact for s in (*blows, *impacts))
    if len(counts) == 1:
        return f" with {plural(len(impacts), 'impact')} of '{next(iter(counts))}'"
    listed = ", ".join(f"'{name}' {count}" for name, count in counts.most_common(MOST_NAMED))
    rest = f", and {len(counts) - MOST_NAMED} more contacts" if len(counts) > MOST_NAMED else ""
    return f" with {plural(len(blows) + len(impacts), 'impact')}: {listed}{rest}"


def _hardest(clips: Sequence[Clip], numbered: Sequence[tuple[int, Struck]], largest: Mapping[str, float]) -> str:
    lasting = [(n, s) for n, s in numbered if s.end > s.start]
    key = (lambda pair: pair[1].impact.max_normal_force) if lasting else (lambda pair: pair[1].impact.normal_impulse)
    number, s = max(lasting or numbered, key=key)
    i, unit = s.impact, unit_of(clips[s.clip], s.impact.contact)
    push = "N" if unit == "m" else "N m"
    which = f"The hardest, number {number}, begins" if len(numbered) > 1 else "It begins"
    how = (
        f"lasts {quantity(i.duration, 's')}, pushes with up to {quantity(i.max_normal_force, push)}, indents by up to "
        f"{quantity(i.max_indentation, unit)}"
        if lasting
        else f"is instantaneous, with an impulse of {quantity(i.normal_impulse, push + ' s')}"
    )
    return f"{which} at {digits(s.start, 6)}\u00a0s, {how}; {_rebound(i, unit, largest)}."


def speeds(i: Impact, unit: str, largest: Mapping[str, float]) -> tuple[str, str]:
    """Before and after; rounding is 0."""
    both = (i.normal_velocity_before, i.normal_velocity_after)
    came, went = (quantity(abs(without_rounding(v, "m/s", largest)), f"{unit}/s") for v in both)
    return came, went


def _rebound(i: Impact, unit: str, largest: Mapping[str, float]) -> str:
    came, went = speeds(i, unit, largest)
    if i.normal_velocity_before == 0.0:
        return f"the normal speed after it is {went}"
    share = digits(without_rounding(i.restitution, "-", largest), 3)
    return f"the normal speed is {came} before and {went} after, a restitution of {share}"


def _taken(impacts: Sequence[Struck]) -> str:
    lost = sum(s.impact.energy_lost for s in impacts)
    subject, one = ("It", "s") if len(impacts) == 1 else ("The impacts together", "")
    return f"{subject} {f'take{one}' if lost >= 0 else f'add{one}'} {quantity(abs(lost), 'J')}."


def _stood(clips: Sequence[Clip]) -> list[str]:
    """Who stood, how often, for how much of the time."""
    whole = sum(clip.end - clip.begin for clip in clips)
    times: dict[str, list[float]] = {}
    for stance in (stance for clip in clips for stance in clip.result.stances):
        times.setdefault(stance.contact, []).append(stance.duration)
    told = [
        f"'{name}' {'once' if len(each) == 1 else f'{len(each)} times'}, for "
        f"{digits(100.0 * sum(each) / whole if whole else 100.0, 3)}\u00a0% of the time"
        for name, each in list(times.items())[:MOST_NAMED]
    ]
    rest = f"; and {len(times) - MOST_NAMED} more contacts" if len(times) > MOST_NAMED else ""
    return [f"Stances: {'; '.join(told)}{rest}."] if told else []


def _seams(clips: Sequence[Clip], told: Sequence[Struck]) -> list[str]:
    """What was lost between two stretches, unless it was told already."""
    out = []
    for first, second in pairwise(clips):
        if not (first.result.final.y.work and second.result.final.y.work):
            continue
        if any(s.start == second.begin for s in told):
            continue
        before, after = first.result.energy, second.result.energy
        lost = float(before.total[-1] - after.start)
        if abs(lost) > SEAM * max(before.in_play, after.in_play):
            verb = "is lost" if lost > 0 else "is gained"
            out.append(
                f"Where two stretches meet, at {digits(second.begin, 4)}\u00a0s, {quantity(abs(lost), 'J')} {verb}."
            )
    return out


def _ledger(clips: Sequence[Clip]) -> list[str]:
    kept = [clip.result.energy.max_error_percent for clip in clips if clip.result.final.y.work]
    if len(kept) < len(clips):
        return ["No energy ledger was kept."]
    worst = max(kept)
    return [f"The energy ledger closes to {f'{two_digits(worst)} % of the energy in play' if worst else 'rounding'}."]


def two_digits(value: float) -> str:
    """'5.9e-7'"""
    mantissa, exponent = f"{value:.1e}".split("e")
    return f"{mantissa}e{int(exponent)}" if value else "0"


def _ends(clips: Sequence[Clip]) -> list[str]:
    """Only what is not as it should be."""
    out = []
    for number, clip in enumerate(clips, start=1):
        if clip.result.outcome != "finished":
            which = f"Stretch {number}" if len(clips) > 1 else "The run"
            out.append(f"{which} ended at {digits(clip.end, 6)} s: {clip.result.outcome}.")
    return out or ["The run completed."]
