// The curves over the time axis: the range that is looked at.

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
    ctx.moveTo(at, 4);
    ctx.lineTo(at, h - 22);
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
      if (p.blows) this.stems(ctx, p, k, w, h);
      ctx.restore();
      this.heading(ctx, p, top, w);
    });
    this.drawTicks(ctx, from, to, x, h - 24, w, true);
  }
  heading(ctx, p, top, w) {
    const size = PREFIX[powerOf(Math.max(Math.abs(p.low), Math.abs(p.high)))], unit = p.units.map((u) => size + u).join(", ");
    write(ctx, p.title, LEFT, top - 7, tones.ink, 12, "left", 600);
    let at = LEFT + ctx.measureText(p.title).width + 6;
    write(ctx, "[" + unit + "]", at, top - 7, tones.faint, 12);
    at += ctx.measureText("[" + unit + "]").width + 14;
    if (p.lines.length < 2) return;
    for (const line of p.lines) {
      const name = line.name.length > 16 ? line.name.slice(0, 15) + "\u2026" : line.name;
      if (at + 30 + ctx.measureText(name).width > w) break;
      ctx.fillStyle = tones[line.tone];
      ctx.fillRect(at, top - 12, 12, 3);
      write(ctx, name, at + 16, top - 7, tones.soft, 12);
      at += 16 + ctx.measureText(name).width + 12;
    }
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
  curve(ctx, p, line, k, w, h) {
    const { top, tall } = this.frame(k, h), first = this.clock.toT(this.range[0]), last = this.clock.toT(this.range[1]);
    ctx.strokeStyle = tones[line.tone];
    ctx.lineWidth = 1.6;
    ctx.lineJoin = "round";
    let before = null;  // where the line of the clip before ends, if a blow joins the two
    this.run.clips.forEach((clip, c) => {
      const values = line.read(clip), n = clip.t.length, next = this.run.clips[c + 1], from = before;
      before = null;
      if (!values) return;
      ctx.beginPath();
      let drawn = false, last_y = 0;
      for (let f = 0; f < n; f++) {
        if ((f + 1 < n && clip.t[f + 1] < first) || (f > 0 && clip.t[f - 1] > last)) continue;
        const hold = this.holds.get(clip.t[f]), middle = hold && this.x((hold.s0 + hold.s1) / 2, w);
        const ends = hold && f === n - 1 && next && next.t[0] === clip.t[f];
        const x = ends ? middle : this.x(this.showTime(clip.t[f]), w), y = top + tall * (1 - (clamp(values[f], p.low - 1e9 * (p.high - p.low), 1e30) - p.low) / (p.high - p.low));
        const now = clamp(y, top - 40, top + tall + 40);
        if (f === 0 && hold && from !== null) {
          ctx.moveTo(middle, from);
          drawn = true;
          last_y = from;
        }
        if (drawn && hold && !ends) {  // a jump in the middle of the pause
          ctx.lineTo(middle, last_y);
          ctx.lineTo(middle, now);
        }
        if (drawn) ctx.lineTo(x, now);
        else ctx.moveTo(x, now);
        drawn = true;
        last_y = now;
        if (ends) before = now;
      }
      ctx.stroke();
    });
  }
  // Blows of no duration have no force, but an impulse: stems with their own scale.
  stems(ctx, p, k, w, h) {
    const { top } = this.frame(k, h), base = this.y(p, 0, k, h);
    const blows = this.run.impacts.filter((v) => v.end <= v.begin), places = blows.map((v) => this.x(this.middle(v), w));
    blows.forEach((i, n) => {
      const x = places[n], next = Math.min(places[n + 1] > x + 1 ? places[n + 1] : w - RIGHT, w - RIGHT);
      if (x < LEFT || x > w - RIGHT) return;
      const y = base - (base - top - 8) * (i.impulse / this.run.maxImpulse);
      ctx.strokeStyle = tones.force;
      ctx.lineWidth = 1.5;
      ctx.beginPath();
      ctx.moveTo(x, base);
      ctx.lineTo(x, y);
      ctx.stroke();
      this.diamond(ctx, x, y, 4);
      const text = quantity(i.impulse, "N\u202fs");
      ctx.font = "11px " + tones.font;
      if (x + 8 + ctx.measureText(text).width < next) write(ctx, text, x + 7, clamp(y + 4, top + 10, base - 3), tones.force, 11);
    });
  }
}
