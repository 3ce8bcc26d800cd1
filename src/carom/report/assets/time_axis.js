// The time axis with its stretched windows: the whole run.

const RIGHT = 10;
let LEFT = 54;  // room for the numbers of the curves
const CONTACT_TONES = ["force", "elastic", "restitution", "stick", "plastic", "slide"];

// Stretches of time in which a contact is in one phase.
function phaseSpans(run) {
  const out = [];
  for (const clip of run.clips)
    for (const c of clip.contacts)
      for (let k = 0; k < c.phase.length;) {
        let end = k;
        while (end + 1 < c.phase.length && c.phase[end + 1] === c.phase[k]) end++;
        const phase = c.phases[c.phase[k]], t1 = clip.t[Math.min(end + 1, clip.t.length - 1)];
        if (phase.tone !== "open" && t1 > clip.t[k]) out.push({ t0: clip.t[k], t1, phase, tone: toneOf(phase), lane: run.names.indexOf(c.name) });
        k = end + 1;
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
    const out = [], run = this.run, lines = (read) => run.names.map((name, k) => ({ name, tone: CONTACT_TONES[k % CONTACT_TONES.length], read: read(name) }));
    const of = (field) => (name) => (clip) => (clip.contacts.find((c) => c.name === name) || {})[field];
    const units = (field) => [...new Set(run.clips.flatMap((clip) => clip.contacts.map((c) => c[field])))];
    if (run.names.length && (run.maxForce > 0 || run.maxImpulse > 0))
      out.push({ title: "normal force", units: units("forceUnit"), lines: lines(of("normal")), blows: true, floor: 0 });
    if (run.deep) out.push({ title: "indentation", units: units("unit"), lines: lines(of("indentation")), floor: -0.12 });
    const energy = [["kinetic", "kinetic"], ["potential", "potential"]];
    if (run.clips.every((c) => c.energy.ledger)) energy.push(["taken", "taken"]);
    out.push({ title: "energy", units: ["J"], lines: energy.map(([name, tone]) => ({ name, tone, read: (clip) => clip.energy[name] })) });
    return out;
  }
  // Least and largest value between two instants.
  limits(p, t0 = -Infinity, t1 = Infinity) {
    let low = Infinity, high = -Infinity;
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
    let free = -1e9;
    for (const win of this.clock.windows) {
      const at = x((win.s0 + win.s1) / 2), numbers = win.impacts.map((i) => i.number), first = Math.min(...numbers), last = Math.max(...numbers);
      const text = first === last ? String(first) : first + "\u2013" + last;
      ctx.font = "11px " + tones.font;
      const half = ctx.measureText(text).width / 2;
      if (at - half < free) continue;
      write(ctx, text, at, top - 6, tones.soft, 11, "center");
      free = at + half + 5;
    }
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
  // In lanes, one for each contact while there are few.
  paintPhases(ctx, x, from, to, top, tall, alpha, lanes = clamp(this.run.names.length, 1, 6)) {
    const each = tall / lanes;
    ctx.globalAlpha = alpha;
    for (const span of this.spans) {
      const a = this.clock.toS(span.t0), b = this.clock.toS(span.t1);
      if (b < from || a > to) continue;
      ctx.fillStyle = tones[span.tone];
      ctx.fillRect(x(Math.max(a, from)), top + (span.lane % lanes) * each, Math.max(x(Math.min(b, to)) - x(Math.max(a, from)), 0.75), each);
    }
    ctx.globalAlpha = 1;
  }

  // Seconds where time runs, milliseconds or microseconds since the touch within a window that is wide enough.
  drawTicks(ctx, from, to, x, y, w, inside) {
    const scale = (x(to) - x(from)) / (to - from), labels = [];
    const step = niceStep(58 / scale), places = clamp(-Math.floor(Math.log10(step)), 0, 9);
    for (const p of this.clock.parts) {
      if (p.s1 < from || p.s0 > to) continue;
      const wide = (p.s1 - p.s0) * scale;
      const own = p.window && inside && wide > 120 && p.t1 > p.t0;
      if (own) this.windowTicks(p, wide, labels);
      else if (!p.window && p.t1 > p.t0) {
        for (let k = Math.ceil(p.t0 / step - 1e-9); k * step <= p.t1 + 1e-12; k++)
          labels.push({ t: k * step, text: minus((k * step).toFixed(places)) + "\u202fs", first: 0 });
      }
      if (p.window && !own) labels.push({ t: p.window.impacts[0].begin, text: p.window.impacts[0].begin.toFixed(3) + "\u202fs", first: -1 });
    }
    ctx.strokeStyle = tones.faint;
    ctx.lineWidth = 1;
    labels.sort((a, b) => a.first - b.first);
    const taken = [];
    for (const l of labels) {
      const at = x(this.clock.toS(l.t));
      if (at < x(from) - 0.5 || at > x(to) + 0.5) continue;
      ctx.font = "11px " + tones.font;
      const half = ctx.measureText(l.text).width / 2 + 4, place = clamp(at, half - 2, w - half + 2);
      if (taken.some(([a, b]) => place + half > a && place - half < b)) continue;
      taken.push([place - half, place + half]);
      ctx.beginPath();
      ctx.moveTo(at, y);
      ctx.lineTo(at, y + 5);
      ctx.stroke();
      write(ctx, l.text, place, y + 17, inside && l.first < 0 ? tones.ink : tones.soft, 11, "center");
    }
  }
  windowTicks(p, wide, labels) {
    const zero = p.window.impacts[0].begin, span = p.t1 - p.t0, step = niceStep((span * 62) / wide), power = powerOf(Math.max(step, span / 9));
    const unit = "\u202f" + PREFIX[power] + "s", size = Math.pow(10, power), places = clamp(-Math.floor(Math.log10(step / size) + 1e-9), 0, 3);
    for (let k = Math.ceil((p.t0 - zero) / step); zero + k * step <= p.t1; k++)
      labels.push({ t: zero + k * step, text: k === 0 ? "touch" : (k > 0 ? "+" : "") + minus(((k * step) / size).toFixed(places)) + unit, first: k === 0 ? -2 : -1 });
  }
}
