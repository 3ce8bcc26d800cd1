// The curves over the time axis: the range that is looked at.

// Lines that lie upon each other are still seen: those above let the ones below through.
const DASHES = [[], [8, 4], [3, 3], [10, 3, 2, 3], [5, 2], [2, 5]];

class Scope extends TimeAxis {
  drawCurves(s, t) {
    const { ctx, w, h, ratio } = fitted(this.curves);
    if (this.stale || !this.layer || this.layer.width !== this.curves.width || this.layer.height !== this.curves.height) {
      this.layer = document.createElement("canvas");
      this.layer.width = this.curves.width;
      this.layer.height = this.curves.height;
      const back = this.layer.getContext("2d");
      back.setTransform(ratio, 0, 0, ratio, 0, 0);
      this.paint(back, w, h);
      this.stale = false;
    }
    ctx.setTransform(1, 0, 0, 1, 0, 0);
    ctx.drawImage(this.layer, 0, 0);
    ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
    const at = this.x(s, w);
    if (at < LEFT - 1 || at > w - RIGHT + 1) return;
    ctx.strokeStyle = tones.accent;
    ctx.lineWidth = 1.5;
    ctx.beginPath();
    this.panels.forEach((p, k) => {  // not through the headings
      const { top, tall } = this.frame(k, h);
      ctx.moveTo(at, top - 2);
      ctx.lineTo(at, top + tall + 4);
    });
    ctx.stroke();
    const clip = this.run.clipAt(t), f = frameAt(clip, t);
    this.panels.forEach((p, k) => {
      for (const line of p.lines) {
        const values = line.read(clip);
        if (!values) continue;
        const v = valueAt(values, f);
        if (v < p.low || v > p.high) continue;
        ctx.beginPath();
        ctx.arc(at, this.y(p, v, k, h), 3.2, 0, 2 * Math.PI);
        ctx.fillStyle = tones[line.tone];
        ctx.fill();
        ctx.strokeStyle = tones.card;
        ctx.lineWidth = 1;
        ctx.stroke();
      }
    });
  }
  x(s, w) {
    return LEFT + ((s - this.range[0]) / (this.range[1] - this.range[0])) * (w - LEFT - RIGHT);
  }
  frame(k, h) {
    const each = (h - 24) / this.panels.length;
    return { top: k * each + 22, tall: each - 28 };
  }
  y(p, v, k, h) {
    const { top, tall } = this.frame(k, h);
    return top + tall * (1 - (clamp(v, p.low, p.high) - p.low) / (p.high - p.low));
  }

  paint(ctx, w, h) {
    const [from, to] = this.range, x = (s) => this.x(s, w);
    // One impact alone has its own scale.
    const part = this.clock.partAt((from + to) / 2), close = to - from < 0.999 * this.clock.length && part.window && part.t1 > part.t0;
    for (const p of this.panels) this.limits(p, ...(close ? [part.t0, part.t1] : []));
    this.panels.forEach((p, k) => {
      const { top, tall } = this.frame(k, h);
      ctx.save();
      ctx.beginPath();
      ctx.rect(LEFT, top, w - LEFT - RIGHT, tall);
      ctx.clip();
      ctx.fillStyle = tones.card;
      ctx.fillRect(LEFT, top, w - LEFT - RIGHT, tall);
      ctx.globalAlpha = 0.5;
      for (const win of this.clock.windows) {
        ctx.fillStyle = tones.rule;
        ctx.fillRect(x(win.s0), top, x(win.s1) - x(win.s0), tall);
      }
      ctx.globalAlpha = 1;
      this.paintPhases(ctx, x, from, to, top, tall, this.run.names.length > 1 ? 0.1 : 0.16, 1);
      ctx.restore();
      this.grid(ctx, p, k, w, h);
      ctx.save();
      ctx.beginPath();
      ctx.rect(LEFT, top - 1, w - LEFT - RIGHT, tall + 2);
      ctx.clip();
      for (const line of p.lines) this.curve(ctx, p, line, k, w, h);
      ctx.restore();
      this.breakUp(ctx, x, from, to, top, tall);
      if (p.blows) this.stems(ctx, p, k, w, h);
      this.heading(ctx, p, top, w);
    });
    this.drawTicks(ctx, from, to, x, h - 24, w, true);
  }
  heading(ctx, p, top, w) {
    const size = PREFIX[powerOf(Math.max(Math.abs(p.low), Math.abs(p.high)))], unit = p.units.map((u) => size + u).join(", ");
    write(ctx, p.title, LEFT, top - 7, tones.ink, 12, "left", 600);
    let at = LEFT + ctx.measureText(p.title).width + 6;
    write(ctx, "[" + unit + "]", at, top - 7, tones.soft, 12);
    at += ctx.measureText("[" + unit + "]").width + 14;
    if (p.lines.length < 2) return;
    const told = new Map(p.lines.map((line) => [line.name, line]));
    for (const line of [...told.values()].sort((a, b) => (a.tone === OTHERS) - (b.tone === OTHERS))) {
      const short = line.name.length > 16 ? line.name.slice(0, 15) + "\u2026" : line.name;
      const name = [...told.keys()].filter((other) => other.startsWith(short.slice(0, -1))).length > 1 ? line.name : short;
      if (at + 36 + ctx.measureText(name).width > w) break;
      ctx.fillStyle = tones[line.tone];
      this.sample(ctx, at, top - 10.5, DASHES[p.lines.indexOf(line) % DASHES.length], tones[line.tone]);
      write(ctx, name, at + 22, top - 7, tones.soft, 12);
      at += 22 + ctx.measureText(name).width + 12;
    }
  }
  sample(ctx, x, y, dashes, tone) {
    ctx.strokeStyle = tone;
    ctx.lineWidth = 2;
    ctx.setLineDash(dashes);
    ctx.beginPath();
    ctx.moveTo(x, y);
    ctx.lineTo(x + 18, y);
    ctx.stroke();
    ctx.setLineDash([]);
  }
  grid(ctx, p, k, w, h) {
    const { top, tall } = this.frame(k, h), step = niceStep(((p.high - p.low) * 20) / tall);
    const size = Math.pow(10, powerOf(Math.max(Math.abs(p.low), Math.abs(p.high)))), places = clamp(-Math.floor(Math.log10(step / size) + 1e-9), 0, 4);
    ctx.lineWidth = 1;
    for (let n = Math.ceil(p.low / step); n * step <= p.high; n++) {
      const y = Math.round(this.y(p, n * step, k, h)) + 0.5;
      ctx.strokeStyle = n === 0 ? tones.faint : tones.rule;
      ctx.beginPath();
      ctx.moveTo(LEFT, y);
      ctx.lineTo(w - RIGHT, y);
      ctx.stroke();
      if (y > top + 2 || n === 0) write(ctx, minus(((n * step) / size).toFixed(places)), LEFT - 7, y + 3.5, tones.soft, 11, "right");
    }
  }
  // Part by part of the axis: a line ends where the pace changes, and begins anew behind the break.
  curve(ctx, p, line, k, w, h) {
    const { top, tall } = this.frame(k, h), [from, to] = this.range, scale = (w - LEFT - RIGHT) / (to - from);
    const up = (v) => clamp(top + tall * (1 - (v - p.low) / (p.high - p.low)), top - 40, top + tall + 40);
    const broken = new Map(this.clock.breaks.map((mark) => [mark.s, this.gap(mark, scale)]));
    ctx.strokeStyle = tones[line.tone];
    ctx.lineWidth = 1.6;
    ctx.lineJoin = "round";
    ctx.setLineDash(DASHES[p.lines.indexOf(line) % DASHES.length]);
    for (const part of this.clock.parts) {
      if (part.s1 < from || part.s0 > to || part.s1 <= part.s0) continue;
      const a = this.x(part.s0, w) + (broken.get(part.s0) || 0), b = this.x(part.s1, w) - (broken.get(part.s1) || 0);
      ctx.save();
      ctx.beginPath();
      ctx.rect(a, top - 1, b - a, tall + 2);
      ctx.clip();
      if (part.t0 === part.t1) this.levels(ctx, line, part, up, w);
      else for (const clip of this.run.clips) this.stretchOf(ctx, line, clip, part, up, w);
      ctx.restore();
    }
    ctx.setLineDash([]);
  }
  stretchOf(ctx, line, clip, part, up, w) {
    const values = line.read(clip), n = clip.t.length;
    if (!values || clip.t[0] > part.t1 || clip.t[n - 1] < part.t0) return;
    const last = this.holds.has(part.t1) ? (t) => t < part.t1 : (t) => t <= part.t1;  // what a blow did comes behind its pause
    const pace = (part.s1 - part.s0) / (part.t1 - part.t0);
    ctx.beginPath();
    let f = Math.max(frameAt(clip, part.t0).k - (this.holds.has(part.t0) ? 0 : 1), 0), drawn = false, ended = false;
    for (; f < n && !ended; f++) {
      if (!last(clip.t[f])) {
        if (this.holds.has(part.t1)) break;
        ended = true;
      }
      if (clip.t[f] < part.t0 && this.holds.has(part.t0)) continue;
      const x = this.x(part.s0 + (clip.t[f] - part.t0) * pace, w);
      if (drawn) ctx.lineTo(x, up(values[f]));
      else ctx.moveTo(x, up(values[f]));
      drawn = true;
    }
    ctx.stroke();
  }
  // Where time stands still there is no curve: what was before the blow and what is after it, dotted, not joined.
  levels(ctx, line, part, up, w) {
    const middle = (part.s0 + part.s1) / 2, [before, after] = this.sides(line, part.t0);
    ctx.setLineDash([2, 4]);
    for (const [value, a, b] of [[before, part.s0, middle], [after, middle, part.s1]]) {
      if (value === undefined) continue;
      ctx.beginPath();
      ctx.moveTo(this.x(a, w), up(value));
      ctx.lineTo(this.x(b, w), up(value));
      ctx.stroke();
    }
  }
  sides(line, t) {
    let before, after;
    this.run.clips.forEach((clip, c) => {
      const values = line.read(clip), n = clip.t.length, next = this.run.clips[c + 1];
      if (!values || clip.t[0] > t || clip.t[n - 1] < t) return;
      const ends = clip.t[n - 1] === t && next && next.t[0] === t;
      let f = frameAt(clip, t).k;
      if (ends) before = values[n - 1];
      else {
        after = values[f];
        while (f > 0 && clip.t[f] >= t) f--;
        if (clip.t[f] < t) before = values[f];
      }
    });
    return [before, after];
  }
  // Blows of no duration have no force, but an impulse.
  stems(ctx, p, k, w, h) {
    const { top } = this.frame(k, h), base = this.y(p, 0, k, h);
    const blows = this.run.impacts.filter((v) => v.end <= v.begin).map((i) => ({ i, x: this.x(this.middle(i), w) }));
    const seen = blows.filter((b) => b.x >= LEFT && b.x <= w - RIGHT).sort((a, b) => a.x - b.x);
    seen.forEach((b, n) => {
      const y = this.y(p, b.i.impulse, k, h);
      ctx.strokeStyle = tones.force;
      ctx.lineWidth = 1.5;
      ctx.beginPath();
      ctx.moveTo(b.x, base);
      ctx.lineTo(b.x, y);
      ctx.stroke();
      this.diamond(ctx, b.x, y, 4);
      // A number where nothing stands before the next one; of several at one place, how many they are.
      const near = seen.filter((other) => Math.abs(other.x - b.x) < 9), next = seen.find((other) => other.x > b.x + 9);
      const window = this.clock.windows.find((v) => v.impacts.includes(b.i)), end = window ? this.x(window.s1, w) : w - RIGHT;
      if (near[0] !== b) return;
      const text = near.length > 1 ? near.length + " blows" : inUnit(b.i.impulse, this.run.maxImpulse, "N\u202fs");
      ctx.font = "11px " + tones.font;
      const wide = ctx.measureText(text).width, tip = Math.min(...near.map((other) => this.y(p, other.i.impulse, k, h)));
      if (b.x + 14 + wide < Math.min(next ? next.x : w - RIGHT, w - RIGHT, near.length > 1 ? Infinity : end)) write(ctx, text, b.x + 8, clamp(tip + 4, top + 10, base - 3), tones.force, 11);
    });
  }
}
