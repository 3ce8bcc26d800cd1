"""What the first screen answers: what happened, how hard, how sure."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import NamedTuple

from ..result._clip import Clip
from ._rounding import sizes, without_rounding
from ._story import NBSP, digits, plural, quantity, speeds, two_digits, unit_of
from .samples import Struck
from .tabled import Quantity


class Fact(NamedTuple):
    """A question, its answer in a few words, and what stands below it."""

    question: str
    answer: str
    more: str


def facts(clips: Sequence[Clip], listed: Sequence[Struck], quantities: Sequence[Quantity]) -> tuple[Fact, ...]:
    return _happened(clips, listed), _hard(clips, listed), _sure(clips, quantities)


def as_html(told: Sequence[Fact]) -> str:
    cells = (
        f"<div><dt>{escape(f.question)}</dt><dd><b>{escape(f.answer)}</b> <span>{escape(f.more)}</span></dd></div>"
        for f in told
    )
    return f'<dl class="facts">{"".join(cells)}</dl>'


def _happened(clips: Sequence[Clip], listed: Sequence[Struck]) -> Fact:
    whole = max(clip.end for clip in clips) - min(clip.begin for clip in clips)
    lasts = f"{digits(whole, 4).rstrip('0').rstrip('.') if '.' in digits(whole, 4) else digits(whole, 4)}{NBSP}s"
    strikes = [s for s in listed if s.impact.struck]
    stances = sum(len(clip.result.stances) for clip in clips)
    contacts = len({s.impact.contact for s in strikes})
    more = [f"at {plural(contacts, 'contact')}"] if contacts > 1 else []
    more += [plural(stances, "stance")] if stances else []
    more += [] if strikes or stances else ["no contact closes"]
    ended = [clip.result.outcome for clip in clips if clip.result.outcome != "finished"]
    more.append(f"ended early: {ended[0]}" if ended else "the run completed")
    answer = f"{plural(len(strikes), 'impact')} in {lasts}" if strikes else f"{lasts} of motion"
    return Fact("What happened", answer, "; ".join(more))


def _hard(clips: Sequence[Clip], listed: Sequence[Struck]) -> Fact:
    """The largest force of a strike, else the largest impulse, else what a stance carried."""
    strikes = [(n, s) for n, s in enumerate((s for s in listed if s.impact.struck), start=1)]
    lasting = [(n, s) for n, s in strikes if s.end > s.start]
    if not strikes:
        return _carried(clips)
    key = (lambda pair: pair[1].impact.max_normal_force) if lasting else (lambda pair: pair[1].impact.normal_impulse)
    number, s = max(lasting or strikes, key=key)
    i, unit = s.impact, "m" if s.blow is not None else unit_of(clips[s.clip], s.impact.contact)
    push = "N" if unit == "m" else f"N{NBSP}m"
    which = f"impact {number}: " if len(strikes) > 1 else ""
    largest = sizes(clips, [s.impact for s in listed])
    came, went = speeds(i, unit, largest)
    lost = without_rounding(i.energy_lost, "J", largest)
    met = f"{came} before, {went} after; {quantity(abs(lost), 'J')} {'lost' if lost >= 0 else 'gained'}"
    if not lasting:
        return Fact(
            "How hard", f"{quantity(i.normal_impulse, f'{push}{NBSP}s')} at most", f"{which}instantaneous; {met}"
        )
    lasts = f"{quantity(i.duration, 's')}, {quantity(i.max_indentation, unit)} deep"
    return Fact("How hard", f"{quantity(i.max_normal_force, push)} at most", f"{which}{lasts}; {met}")


def _carried(clips: Sequence[Clip]) -> Fact:
    stances = [(stance, clip) for clip in clips for stance in clip.result.stances]
    if not stances:
        return Fact("How hard", "no contact force", "nothing touches")
    stance, clip = max(stances, key=lambda pair: pair[0].max_normal_force)
    push = "N" if unit_of(clip, stance.contact) == "m" else f"N{NBSP}m"
    return Fact("How hard", f"{quantity(stance.max_normal_force, push)} at most", f"carried by '{stance.contact}'")


def _sure(clips: Sequence[Clip], quantities: Sequence[Quantity]) -> Fact:
    """The ledger, the penetration of rigid contacts, the tolerances, and what agrees with its source."""
    kept = [clip.result.energy.max_error_percent for clip in clips if clip.result.final.y.work]
    answer = "no energy ledger was kept"
    if len(kept) == len(clips):
        worst = max(kept)
        answer = f"energy closes to {two_digits(worst)}{NBSP}%" if worst else "energy closes to rounding"
    more = []
    rigid = [clip for clip in clips if any(contact.rigid for contact in clip.result.world.contacts)]
    if rigid:
        deepest = max(rigid, key=lambda clip: clip.result.penetration)
        units = {c.pair.length_unit for c in deepest.result.world.contacts if c.rigid}
        inside = deepest.result.penetration
        more.append(
            f"penetration {f'≤ {two_digits(inside)}{NBSP}' if inside else f'0{NBSP}'}{' or '.join(sorted(units))}"
        )
    made = dict.fromkeys((clip.result.made.rtol, clip.result.made.atol) for clip in clips)
    more.append(" and ".join(f"rtol {rtol:g}, atol {atol:g}" for rtol, atol in made))
    judged = [q for q in quantities if q.verdict]
    agree = sum(q.verdict == "agrees" for q in judged)
    more += (
        [f"{agree} of {plural(len(judged), 'number')} agree{'s' * (len(judged) == 1)} with the source"]
        if judged
        else []
    )
    cautions = len(dict.fromkeys(sentence for clip in clips for sentence in clip.result.warnings))
    more += [f"{plural(cautions, 'caution')} below"] if cautions else []
    return Fact("How sure", answer, "; ".join(more))
