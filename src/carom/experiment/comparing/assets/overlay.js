// Curves of several runs over one time axis, on which impacts are stretched: a break where the pace changes.

const LINE_TONES = ["accent", "force", "restitution", "stick", "plastic", "slide"];
const AXIS_TALL = 40, PANEL_HEAD = 22, GAP = 2;

class Overlay {
  constructor(canvas) {
    this.canvas = canvas;
    this.panels = [];
    this.stale = true;
    this.left = 58;
    this.right = 10;
  }

  // `panels`: [{ title, unit, lines: [{ label, tone, dash, t, y }] }]
  show(clock, panels) {
    this.clock = clock;
    this.panels = panels;
    for (const p of panels) this.limits(p);
    this.canvas.style.height = Math.max(panels.length, 1) * 7.2 + 2.6 + "rem";
    this.stale = true;
  }
  limits(p) {
    let low = Infinity, high = -Infinity;
    for (const line of p.lines)
      for (let k = 0; k < line.y.length; k++) {
        if (line.y[k] < low) low = line.y[k];
        if (line.y[k] > high) high = line.y[k];
      }
    if (!isFinite(low)) [low, high] = [0, 1];
    if (/^indentation/.test(p.title)) low = Math.max(low, -0.12 * Math.max(high, 0) || low);  // in flight it is the distance
    const size = Math.max(Math.abs(low), Math.abs(high));
    if (high - low <= 1e-9 * size || high === low) [low, high] = [low - (0.5 * size || 0.5), high + (0.5 * size || 0.5)];
    const air = 0.06 * (high - low);
    Object.assign(p, { low: low - air, high: high + air });
  }

  x(s, w) {
    return this.left + (s / this.clock.length) * (w - this.left - this.right);
  }
  sAt(x, w) {
    return clamp((x - this.left) / (w - this.left - this.right), 0, 1) * this.clock.length;
  }
  frame(k, h) {
    const each = (h - AXIS_TALL) / Math.max(this.panels.length, 1);
    return { top: k * each + PANEL_HEAD, tall: each - PANEL_HEAD - 8 };
  }
  y(p, v, f) {
    return f.top + f.tall * (1 - (v - p.low) / (p.high - p.low));
  }

  draw(s) {
    const { ctx, w, h, ratio } = fitted(this.canvas);
    this.left = w < 500 ? 46 : 58;
    if (this.stale || !this.layer || this.layer.width !== this.canvas.width || this.layer.height !== this.canvas.height) {
      this.layer = document.createElement("canvas");
      this.layer.width = this.canvas.width;
      this.layer.height = this.canvas.height;
      const back = this.layer.getContext("2d");
      back.setTransform(ratio, 0, 0, ratio, 0, 0);
      this.paint(back, w, h);
      this.stale = false;
    }
    ctx.setTransform(1, 0, 0, 1, 0, 0);
    ctx.drawImage(this.layer, 0, 0);
    ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
    const at = this.x(s, w);
    ctx.strokeStyle = ctx.fillStyle = tones.ink;
    ctx.lineWidth = 1.5;
    ctx.beginPath();
    this.panels.forEach((p, k) => {  // not through the headings
      const f = this.frame(k, h);
      ctx.moveTo(at, f.top);
      ctx.lineTo(at, f.top + f.tall);
    });
    ctx.stroke();
    ctx.beginPath();
    ctx.arc(at, h - AXIS_TALL + 4, 5, 0, 2 * Math.PI);
    ctx.fill();
  }

  paint(ctx, w, h) {
    this.panels.forEach((p, k) => {
      const f = this.frame(k, h);
      ctx.fillStyle = tones.card;
      ctx.fillRect(this.left, f.top, w - this.left - this.right, f.tall);
      this.shade(ctx, f.top, f.tall, w);
      this.grid(ctx, p, f, w);
      for (const line of p.lines) this.curve(ctx, p, line, f, w);
      this.heading(ctx, p, f, w);
    });
    this.axis(ctx, w, h);
  }
  shade(ctx, top, tall, w) {
    ctx.globalAlpha = 0.55;
    ctx.fillStyle = tones.rule;
    for (const win of this.clock.windows) ctx.fillRect(this.x(win.s0, w), top, Math.max(this.x(win.s1, w) - this.x(win.s0, w), 1), tall);
    ctx.globalAlpha = 1;
  }
  heading(ctx, p, f, w) {
    const size = PREFIX[powerOf(Math.max(Math.abs(p.low), Math.abs(p.high)))], unit = p.unit ? "[" + (p.unit === "°" ? "" : size) + p.unit + "]" : "";
    write(ctx, p.title, this.left, f.top - 7, tones.ink, 12, "left", 600);
    let at = this.left + ctx.measureText(p.title).width + 6;
    write(ctx, unit, at, f.top - 7, tones.soft, 12);
    at += ctx.measureText(unit).width + 14;
    if (p.lines.length < 2) return;
    for (const line of p.lines) {
      const name = line.label.length > 26 ? line.label.slice(0, 25) + "\u2026" : line.label;
      if (at + 28 + ctx.measureText(name).width > w) break;
      this.stroke(ctx, line);
      ctx.beginPath();
      ctx.moveTo(at, f.top - 11);
      ctx.lineTo(at + 16, f.top - 11);
      ctx.stroke();
      ctx.setLineDash([]);
      write(ctx, name, at + 21, f.top - 7, tones.soft, 12);
      at += 21 + ctx.measureText(name).width + 14;
    }
  }
  stroke(ctx, line) {
    ctx.strokeStyle = tones[line.tone];
    ctx.lineWidth = line.dash ? 1.3 : line.tone === LINE_TONES[0] ? 2.6 : 1.4;  // of two that agree, both are seen
    ctx.setLineDash(line.dash ? [5, 4] : []);
  }
  grid(ctx, p, f, w) {
    const step = niceStep(((p.high - p.low) * 22) / f.tall), degrees = p.unit === "°";
    const size = degrees ? 1 : Math.pow(10, powerOf(Math.max(Math.abs(p.low), Math.abs(p.high)))), places = clamp(-Math.floor(Math.log10(step / size) + 1e-9), 0, 4);
    ctx.lineWidth = 1;
    for (let n = Math.ceil(p.low / step); n * step <= p.high; n++) {
      const y = Math.round(this.y(p, n * step, f)) + 0.5;
      ctx.strokeStyle = n === 0 ? tones.faint : tones.rule;
      ctx.beginPath();
      ctx.moveTo(this.left, y);
      ctx.lineTo(w - this.right, y);
      ctx.stroke();
      write(ctx, minus(((n * step) / size).toFixed(places)), this.left - 7, y + 3.5, tones.soft, 11, "right");
    }
  }

  // A stretch of one pace at a time: no line goes over a break.
  curve(ctx, p, line, f, w) {
    const { t, y } = line, end = t.length - 1;
    if (end < 0) return;
    ctx.save();
    for (const part of this.clock.parts) {
      const span = part.t1 - part.t0, x0 = this.x(part.s0, w), x1 = this.x(part.s1, w);
      if (!(span > 0) || t[end] < part.t0 || t[0] > part.t1) continue;
      ctx.save();
      ctx.beginPath();
      ctx.rect(x0 + (part.s0 > 0 ? GAP : 0), f.top - 1, Math.max(x1 - x0 - GAP, 0.5), f.tall + 2);
      ctx.clip();
      this.stroke(ctx, line);
      ctx.lineJoin = "round";
      ctx.beginPath();
      let k = Math.max(this.before(t, part.t0), 0), drawn = false;
      for (; k <= end; k++) {
        const held = t[k] === part.t1 && k < end && this.clock.windows.some((v) => v.t0 === v.t1 && v.t0 === part.t1);
        if (held) break;  // what is there comes after the blow
        const x = x0 + ((t[k] - part.t0) / span) * (x1 - x0), v = clamp(this.y(p, y[k], f), f.top - 40, f.top + f.tall + 40);
        if (drawn) ctx.lineTo(x, v);
        else ctx.moveTo(x, v);
        drawn = true;
        if (t[k] > part.t1) break;
      }
      ctx.stroke();
      ctx.restore();
    }
    ctx.restore();
    ctx.setLineDash([]);
  }
  // The last frame at or before t.
  before(t, at) {
    let low = 0, high = t.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (t[middle] <= at) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  // The axis: ticks at even times, breaks where the pace changes, and how long a stretched impact lasts.
  axis(ctx, w, h) {
    const y = h - AXIS_TALL + 4;
    ctx.strokeStyle = tones.faint;
    ctx.lineWidth = 1;
    ctx.beginPath();
    ctx.moveTo(this.left, y);
    ctx.lineTo(w - this.right, y);
    ctx.stroke();
    let free = -1e9;
    const total = this.clock.end - this.clock.begin, step = niceStep(total / Math.max((w - this.left) / 90, 2));
    const places = clamp(-Math.floor(Math.log10(step) + 1e-9), 0, 9);
    for (let n = Math.ceil(this.clock.begin / step - 1e-9); n * step <= this.clock.end + 1e-9 * total; n++) {
      const x = this.x(this.clock.toS(n * step), w);
      this.tick(ctx, x, y, 5);
      free = this.word(ctx, minus((n * step).toFixed(places)) + (n * step + step > this.clock.end ? " s" : ""), x, y + 17, free, w);
    }
    free = -1e9;
    for (const win of this.clock.windows) {
      const x0 = this.x(win.s0, w), x1 = this.x(win.s1, w);
      if (win.t1 > win.t0 && this.clock.amount > 0.02) for (const x of [x0, x1]) this.zigzag(ctx, x, y);
      const lasts = win.t1 > win.t0 ? quantity(win.t1 - win.t0, "s", 0, 2) : "blow";
      free = this.word(ctx, lasts, (x0 + x1) / 2, y + 32, free, w, Math.max(x1 - x0, 34));
    }
  }
  tick(ctx, x, y, tall) {
    ctx.beginPath();
    ctx.moveTo(x, y);
    ctx.lineTo(x, y + tall);
    ctx.stroke();
  }
  zigzag(ctx, x, y) {
    ctx.save();
    ctx.strokeStyle = tones.soft;
    ctx.beginPath();
    ctx.moveTo(x - 2, y - 5);
    ctx.lineTo(x + 2, y - 1);
    ctx.lineTo(x - 2, y + 1);
    ctx.lineTo(x + 2, y + 5);
    ctx.stroke();
    ctx.restore();
  }
  // Words that would stand on others are left out.
  word(ctx, text, x, y, free, w, most = 1e9) {
    ctx.font = "400 11px " + tones.font;
    const half = ctx.measureText(text).width / 2, at = clamp(x, half + 2, w - half - 2);
    if (at - half < free || 2 * half > most) return free;
    write(ctx, text, at, y, tones.soft, 11, "center");
    return at + half + 8;
  }
}
