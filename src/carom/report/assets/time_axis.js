// The time axis with its stretched windows: the whole run.

const RIGHT = 10;
let LEFT = 54;  // room for the numbers of the curves
const CONTACT_TONES = ["force", "elastic", "restitution", "stick", "plastic", "slide"];
const OTHERS = "other";  // the tone of all contacts after the first five, where there are more than six

// Stretches of time in which a contact is in one phase, of a strike or of a stance.
function phaseSpans(run) {
  const out = [];
  for (const clip of run.clips)
    for (const c of clip.contacts)
      for (let k = 0; k < c.phase.length;) {
        let end = k;
        while (end + 1 < c.phase.length && c.phase[end + 1] === c.phase[k]) end++;
        const phase = c.phases[c.phase[k]], t1 = clip.t[Math.min(end + 1, clip.t.length - 1)];
        const middle = (clip.t[k] + t1) / 2, stands = run.stances.some((s) => s.name === c.name && s.begin <= middle && middle <= s.end);
        if (phase.tone !== "open" && t1 > clip.t[k]) out.push({ t0: clip.t[k], t1, phase, stands, tone: toneOf(phase), lane: run.ranks.get(c.name) });
        k = end + 1;
      }
  return out;
}

// A line for every contact; where there are many, one tone for all but the first five.
function contactLines(run, read) {
  const many = run.names.length > MOST_TOLD, drawn = [...run.names].sort((a, b) => run.ranks.get(b) - run.ranks.get(a));
  const lines = (many ? drawn : run.names).map((name) => {
    const rank = run.ranks.get(name), other = many && rank === MOST_TOLD - 1;
    return { name: other ? run.names.length - MOST_TOLD + 1 + " others" : name, tone: other ? OTHERS : CONTACT_TONES[rank], read: read(name) };
  });
  return many ? lines : apart(run, lines);
}

// Curves that lie upon each other are one line with all of their names: nobody could tell them apart.
const ALIKE = 1e-4;  // of the largest value
function apart(run, lines) {
  let most = 0;
  for (const line of lines) for (const clip of run.clips) for (const v of line.read(clip) || []) most = Math.max(most, Math.abs(v));
  const alike = (a, b) => run.clips.every((clip) => {
    const u = a.read(clip), v = b.read(clip);
    return !u || !v ? u === v : u.every((value, k) => Math.abs(value - v[k]) <= ALIKE * most);
  });
  const out = [];
  for (const line of lines) {
    const first = out.find((other) => alike(other, line));
    if (first) first.name += ", " + line.name;
    else out.push({ ...line });
  }
  return out;
}

class TimeAxis {
  constructor(run, clock, axis, curves) {
    Object.assign(this, { run, clock, axis, curves });
    this.spans = phaseSpans(run);
    this.holds = new Map(clock.windows.filter((w) => w.t0 === w.t1).map((w) => [w.t0, w]));
    this.range = [0, clock.length];
    this.panels = this.choosePanels();
    this.stale = true;
  }

  // Frames that stand at a blow show what comes after it: they belong behind its pause.
  showTime(t) {
    const hold = this.holds.get(t);
    return hold ? hold.s1 : this.clock.toS(t);
  }

  choosePanels() {
    const out = [], run = this.run, lines = (read) => contactLines(run, read);
    const of = (field) => (name) => (clip) => (clip.contacts.find((c) => c.name === name) || {})[field];
    const units = (field) => [...new Set(run.clips.flatMap((clip) => clip.contacts.map((c) => c[field])))];
    if (run.names.length && run.maxForce > 0) out.push({ title: "normal force", units: units("forceUnit"), lines: lines(of("normal")), floor: 0 });
    if (run.maxImpulse > 0) out.push({ title: "impulse", units: ["N\u202fs"], lines: [], blows: true, floor: 0 });
    if (run.deep) out.push({ title: "indentation", units: units("unit"), lines: lines(of("indentation")), floor: -0.12 });
    const energy = [["kinetic", "kinetic"], ["potential", "potential"]];
    if (run.clips.every((c) => c.energy.ledger)) energy.push(["taken", "taken"]);
    out.push({ title: "energy", units: ["J"], lines: energy.map(([name, tone]) => ({ name, tone, read: (clip) => clip.energy[name] })) });
    return out;
  }
  // Least and largest value between two instants.
  limits(p, t0 = -Infinity, t1 = Infinity) {
    let low = Infinity, high = -Infinity;
    if (p.blows) [low, high] = [0, this.run.maxImpulse];
    for (const clip of this.run.clips)
      for (const line of p.lines) {
        const values = line.read(clip) || [];
        for (let k = 0; k < values.length; k++) {
          if (clip.t[k] < t0 || clip.t[k] > t1) continue;
          if (values[k] < low) low = values[k];
          if (values[k] > high) high = values[k];
        }
      }
    if (!(high > low)) [low, high] = isFinite(low) ? [low, low + 1] : [0, 1];
    // In flight the indentation is the distance, metres where the impact has micrometres: it is cut off below.
    if (p.floor !== undefined) low = Math.max(low, p.floor * high);
    const air = 0.06 * (high - low);
    Object.assign(p, { low: p.floor === 0 ? Math.min(low, 0) : low - (p.floor === undefined ? air : 0), high: high + air });
  }

  // -- the axis: the whole run ------------------------------------------------------------------------------------------

  drawAxis(s) {
    const { ctx, w } = fitted(this.axis), x = (v) => LEFT + (v / this.clock.length) * (w - LEFT - RIGHT), top = 20, tall = 18;
    ctx.fillStyle = tones.card;
    ctx.fillRect(LEFT, top, w - LEFT - RIGHT, tall);
    for (const win of this.clock.windows) {
      ctx.fillStyle = tones.rule;
      ctx.fillRect(x(win.s0), top, Math.max(x(win.s1) - x(win.s0), 1.5), tall);
    }
    this.paintPhases(ctx, x, 0, this.clock.length, top, tall, 1);
    ctx.strokeStyle = tones.rule;
    ctx.lineWidth = 1;
    ctx.strokeRect(LEFT + 0.5, top + 0.5, w - LEFT - RIGHT - 1, tall - 1);
    for (const i of this.run.impacts) if (i.end <= i.begin) this.diamond(ctx, x(this.middle(i)), top + tall / 2, 4);
    this.breakUp(ctx, x, 0, this.clock.length, top, tall);
    this.numbers(ctx, x, top - 6, w);
    this.drawTicks(ctx, 0, this.clock.length, x, top + tall, w, false);
    if (this.range[1] - this.range[0] < 0.999 * this.clock.length) {
      ctx.strokeStyle = tones.accent;
      ctx.lineWidth = 1.5;
      ctx.strokeRect(x(this.range[0]), top - 2, x(this.range[1]) - x(this.range[0]), tall + 4);
    }
    ctx.strokeStyle = ctx.fillStyle = tones.accent;
    ctx.lineWidth = 2;
    ctx.beginPath();
    ctx.moveTo(x(s), top - 4);
    ctx.lineTo(x(s), top + tall + 4);
    ctx.stroke();
    ctx.beginPath();
    ctx.arc(x(s), top + tall / 2, 5.5, 0, 2 * Math.PI);
    ctx.fill();
    ctx.strokeStyle = tones.card;
    ctx.lineWidth = 1.5;
    ctx.stroke();
  }
  // Numbers of the impacts; neighbours that have no room of their own share one label, such as 7–15.
  numbers(ctx, x, y, w) {
    ctx.font = "11px " + tones.font;
    const groups = [];
    for (const win of this.clock.windows) {
      const all = win.impacts.map((i) => i.number);
      groups.push({ first: Math.min(...all), last: Math.max(...all), a: x(win.s0), b: x(win.s1), win });
    }
    const text = (g) => (g.first === g.last ? String(g.first) : g.first + "\u2013" + g.last);
    const half = (g) => ctx.measureText(text(g)).width / 2 + 3, at = (g) => (g.a + g.b) / 2;
    for (let k = 0; k + 1 < groups.length;) {
      const [g, next] = [groups[k], groups[k + 1]];
      if (at(g) + half(g) <= at(next) - half(next)) k++;
      else {
        groups.splice(k, 2, { first: Math.min(g.first, next.first), last: Math.max(g.last, next.last), a: g.a, b: next.b });
        k = Math.max(k - 1, 0);
      }
    }
    for (const g of groups) {
      const pace = g.win && g.win.t1 > g.win.t0 ? (g.win.s1 - g.win.s0) / (g.win.t1 - g.win.t0) : 0;
      const slow = pace > 1.5 ? text(g) + "\u2002slowed 1\u202f:\u202f" + grouped(Number(pace.toPrecision(2))) : text(g);
      const fits = ctx.measureText(slow).width < g.b - g.a;
      write(ctx, fits ? slow : text(g), clamp(at(g), half(g), w - half(g)), y, tones.soft, 11, "center");
    }
  }
  // Half of the gap [px] that a break leaves; less where windows are narrow, for the gap must not eat them.
  gap(mark, scale) {
    return Math.min(0.12 * mark.narrow * scale, 3.5);
  }
  // A gap wherever the pace changes, with a slanted stroke on each of its sides: nothing runs through it.
  breakUp(ctx, x, from, to, top, tall) {
    const scale = (x(to) - x(from)) / (to - from);
    ctx.lineWidth = 1;
    for (const mark of this.clock.breaks) {
      if (mark.s < from || mark.s > to) continue;
      const at = x(mark.s), half = this.gap(mark, scale);
      ctx.fillStyle = tones.paper;
      ctx.fillRect(at - half, top - 1, 2 * half, tall + 2);
      if (half < 1.2) continue;
      ctx.strokeStyle = tones.soft;
      ctx.beginPath();
      for (const y of [top, top + tall]) for (const side of [-half, half]) {
        ctx.moveTo(at + side - 1.5, y + 4);
        ctx.lineTo(at + side + 1.5, y - 4);
      }
      ctx.stroke();
    }
  }
  middle(i) {
    const win = this.clock.windows.find((v) => v.impacts.includes(i));
    if (win && win.impacts.length === 1) return (win.s0 + win.s1) / 2;
    return (this.clock.toS(i.begin) + this.clock.toS(i.end)) / 2;
  }
  diamond(ctx, x, y, r) {
    ctx.fillStyle = tones.force;
    ctx.beginPath();
    ctx.moveTo(x, y - r);
    ctx.lineTo(x + r * 0.8, y);
    ctx.lineTo(x, y + r);
    ctx.lineTo(x - r * 0.8, y);
    ctx.fill();
  }
  // In lanes, one for each contact while there are few. A strike fills its lane, a stance the lower third of it.
  paintPhases(ctx, x, from, to, top, tall, alpha, lanes = clamp(this.run.names.length, 1, MOST_TOLD)) {
    const each = tall / lanes;
    ctx.globalAlpha = alpha;
    for (const span of this.spans) {
      const a = this.clock.toS(span.t0), b = this.clock.toS(span.t1);
      if (b < from || a > to) continue;
      const high = span.stands && alpha === 1 ? each / 3 : each;
      ctx.globalAlpha = span.stands ? 0.6 * alpha : alpha;
      ctx.fillStyle = tones[span.tone];
      ctx.fillRect(x(Math.max(a, from)), top + (span.lane % lanes) * each + each - high, Math.max(x(Math.min(b, to)) - x(Math.max(a, from)), 0.75), high);
    }
    ctx.globalAlpha = 1;
  }

  // Seconds where time runs, milliseconds or microseconds since the touch within a window that is wide enough.
  drawTicks(ctx, from, to, x, y, w, inside) {
    const scale = (x(to) - x(from)) / (to - from), labels = [], fine = clamp(3 - Math.floor(Math.log10(this.run.end - this.run.begin || 1)), 3, 9);
    const step = niceStep(58 / scale), places = clamp(-Math.floor(Math.log10(step)), 0, 9);
    for (const p of this.clock.parts) {
      if (p.s1 < from || p.s0 > to) continue;
      const wide = (p.s1 - p.s0) * scale;
      const own = p.window && inside && wide > 120 && p.t1 > p.t0;
      if (own) this.windowTicks(p, wide, labels);
      else if (!p.window && p.t1 > p.t0) {
        for (let k = Math.ceil(p.t0 / step - 1e-9); k * step <= p.t1 + 1e-12; k++)
          if (!this.heldAt(k * step)) labels.push({ t: k * step, text: minus((k * step).toFixed(places)) + "\u202fs", first: 0 });
      }
      if (p.window && !own) labels.push({ t: p.window.impacts[0].begin, s: p.t0 === p.t1 ? (p.s0 + p.s1) / 2 : undefined, text: minus(p.window.impacts[0].begin.toFixed(fine)) + "\u202fs", first: -1 });
    }
    ctx.strokeStyle = tones.faint;
    ctx.lineWidth = 1;
    this.edges(ctx, from, to, x, y, scale);
    labels.sort((a, b) => a.first - b.first);
    const taken = [];
    for (const l of labels) {
      const at = x(l.s === undefined ? this.clock.toS(l.t) : l.s);
      if (at < x(from) - 0.5 || at > x(to) + 0.5) continue;
      ctx.font = "11px " + tones.font;
      const half = ctx.measureText(l.text).width / 2 + 4, place = clamp(at, half - 2, w - half + 2);
      if (taken.some(([a, b]) => place + half > a && place - half < b)) continue;
      taken.push([place - half, place + half]);
      if (l.s === undefined) {
        ctx.beginPath();
        ctx.moveTo(at, y);
        ctx.lineTo(at, y + 5);
        ctx.stroke();
      }
      write(ctx, l.text, place, y + 17, inside && l.first < 0 ? tones.ink : tones.soft, 11, "center");
    }
  }
  heldAt(t) {
    return this.clock.windows.some((win) => win.t0 === win.t1 && Math.abs(win.t0 - t) < 1e-9 * (1 + Math.abs(t)));
  }
  // A tick on each side of every break, which no label may crowd out.
  edges(ctx, from, to, x, y, scale) {
    ctx.beginPath();
    for (const mark of this.clock.breaks) {
      if (mark.s < from || mark.s > to) continue;
      const half = this.gap(mark, scale);
      for (const at of [x(mark.s) - half, x(mark.s) + half]) {
        ctx.moveTo(at, y);
        ctx.lineTo(at, y + 5);
      }
    }
    ctx.stroke();
  }
  windowTicks(p, wide, labels) {
    const zero = p.window.impacts[0].begin, span = p.t1 - p.t0, step = niceStep((span * 62) / wide), power = powerOf(Math.max(step, span / 9));
    const unit = "\u202f" + PREFIX[power] + "s", size = Math.pow(10, power), places = clamp(-Math.floor(Math.log10(step / size) + 1e-9), 0, 3);
    for (let k = Math.ceil((p.t0 - zero) / step); zero + k * step <= p.t1; k++)
      labels.push({ t: zero + k * step, text: k === 0 ? "touch" : (k > 0 ? "+" : "") + minus(((k * step) / size).toFixed(places)) + unit, first: k === 0 ? -2 : -1 });
  }
}
