// The stretched time axis. `s` [s] is time on the show, `t` [s] simulated time: s -> t never falls, so that every impact
// can be given as much of the show as it needs. A blow of no duration holds the picture for a moment.

const WATCH = 1.6;  // [s] of show for one impact
const HOLD = 0.9;  // [s] of show for a blow of no duration
const SHOW = 60;  // [s] most show for all impacts together
const AROUND = 0.25;  // of an impact's duration before and after it
const SHORT = 0.25;  // [s] of show for a flight that is shorter than that
const MOST_HOLDS = 40;

function pauses(begin, end, impacts) {
  const lasting = impacts.filter((i) => i.end > i.begin), out = [];
  for (const i of lasting) {
    const around = AROUND * (i.end - i.begin), t0 = Math.max(i.begin - around, begin), t1 = Math.min(i.end + around, end);
    const last = out[out.length - 1];
    // Neighbours that almost touch are watched as one.
    if (last && t0 - last.t1 < Math.max(last.t1 - last.t0, t1 - t0)) {
      last.t1 = Math.max(last.t1, t1);
      last.impacts.push(i);
    } else out.push({ t0, t1, impacts: [i] });
  }
  const blows = impacts.filter((i) => i.end <= i.begin);
  const hardest = Math.max(...blows.map((i) => i.impulse), 0);
  const held = blows.filter((i) => i.impulse >= 0.01 * hardest).sort((a, b) => b.impulse - a.impulse).slice(0, MOST_HOLDS);
  for (const i of held) {
    const inside = out.some((w) => w.t0 <= i.begin && i.begin <= w.t1);
    const same = out.find((w) => w.t0 === i.begin && w.t1 === i.begin);
    if (same) same.impacts.push(i);
    else if (!inside) out.push({ t0: i.begin, t1: i.begin, impacts: [i] });
  }
  return out.sort((a, b) => a.t0 - b.t0);
}

class Clock {
  constructor(begin, end, impacts) {
    this.begin = begin;
    this.end = end;
    this.windows = pauses(begin, end, impacts);
    this.parts = [];
    let t = begin;
    for (const w of this.windows) {
      if (w.t0 > t) this.parts.push({ t0: t, t1: w.t0, window: null });
      this.parts.push({ t0: Math.max(w.t0, t), t1: w.t1, window: w });
      t = Math.max(w.t1, t);
    }
    if (t < end || !this.parts.length) this.parts.push({ t0: t, t1: end, window: null });
    this.stretch(1);
  }

  // 0: real time; 1: every impact as long as WATCH.
  stretch(amount) {
    const fair = Math.min(1, SHOW / (WATCH * Math.max(this.windows.length, 1)));
    this.amount = amount;
    let s = 0;
    for (const p of this.parts) {
      const real = p.t1 - p.t0;
      let full = real;
      if (p.window && real > 0) full = Math.max(real, fair * WATCH * Math.min(1 + 0.4 * (p.window.impacts.length - 1), 3));
      else if (p.window) full = fair * HOLD;
      else if (this.windows.length) full = Math.max(real, fair * SHORT);
      p.s0 = s;
      s += real > 0 ? real * Math.pow(full / real, amount) : full * amount;
      p.s1 = s;
      if (p.window) {
        p.window.s0 = p.s0;
        p.window.s1 = p.s1;
      }
    }
    this.length = Math.max(s, 1e-12);
    this.breaks = this.breaksOf();
  }

  // Where the pace changes by more than a half: there the axis is drawn broken, for no curve is continuous to the eye.
  breaksOf() {
    const out = [];
    for (let k = 1; k < this.parts.length; k++) {
      const a = this.parts[k - 1], b = this.parts[k], wide = [a, b].map((p) => p.s1 - p.s0);
      if (!(wide[0] > 0 && wide[1] > 0)) continue;
      const [before, after] = [a, b].map((p) => (p.s1 - p.s0) / (p.t1 - p.t0));
      if (before === after || (isFinite(before) && isFinite(after) && Math.max(before / after, after / before) < 1.5)) continue;
      out.push({ s: b.s0, t: b.t0, narrow: Math.min(...wide) });
    }
    return out;
  }

  partAt(s) {
    let low = 0, high = this.parts.length - 1;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.parts[middle].s1 > s) high = middle;
      else low = middle + 1;
    }
    return this.parts[low];
  }

  toT(s) {
    const p = this.partAt(s), span = p.s1 - p.s0;
    if (span <= 0 || p.t1 === p.t0) return p.t0;
    const share = clamp((s - p.s0) / span, 0, 1);
    return share === 1 ? p.t1 : p.t0 + share * (p.t1 - p.t0);
  }

  toS(t) {
    let low = 0, high = this.parts.length - 1;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.parts[middle].t1 >= t) high = middle;
      else low = middle + 1;
    }
    const p = this.parts[low], span = p.t1 - p.t0;
    return span > 0 ? p.s0 + clamp((t - p.t0) / span, 0, 1) * (p.s1 - p.s0) : p.s0;
  }

  // How much slower than life the show is here; infinite while it holds.
  pace(s) {
    const p = this.partAt(s);
    return (p.s1 - p.s0) / (p.t1 - p.t0);
  }
}
