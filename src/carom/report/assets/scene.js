// The picture: mechanism, surfaces, forces, trace.

// Forces from newtons to kilonewtons side by side: lengths grow with the logarithm.
function forceLength(force, run, most) {
  if (!(force > 0) || !(run.maxForce > 0)) return 0;
  const small = run.maxForce / 2000;
  return 9 + (most - 9) * Math.log1p(force / small) / Math.log1p(run.maxForce / small);
}

class Scene {
  constructor(run, canvas) {
    this.run = run;
    this.canvas = canvas;
    this.zoom = 1;
  }

  draw(t, show) {
    const { ctx, w, h } = fitted(this.canvas), clip = this.run.clipAt(t), f = frameAt(clip, t);
    Object.assign(this, { ctx, w, h, clip, f });
    this.aim();
    this.taken = [{ x0: 0, x1: w, y0: h - 42, y1: h }];  // where no label may stand: the scales are there
    this.crowded = 0;
    for (const s of clip.surfaces) this.surface(pointsAt(s, f));
    this.trace();
    for (const b of clip.bases) this.base(this.px(b));
    for (const s of clip.springs) this.spring(pointsAt(s, f).map((p) => this.px(p)));
    for (const l of clip.links) this.link(l);
    for (const r of clip.rounds) this.round(r);
    for (const p of pointsAt(clip.pins, f)) this.pin(this.px(p));
    for (const c of clip.contacts) this.force(contactAt(c, f));
    if (show.blow) this.blow(show.blow, show.share);
    this.scaleBar();
    this.legend(show.blow);
    if (this.crowded) write(ctx, "and " + this.crowded + " more numbers that have no room", w - 12, 18, tones.soft, 12, "right");
  }

  // A place for a text near (x, y) where no other stands: there, above it or below it; null if there is none.
  room(text, x, y, align, size) {
    this.ctx.font = "600 " + size + "px " + tones.font;
    const wide = this.ctx.measureText(text).width, left = clamp(align === "right" ? x - wide : x, 6, Math.max(this.w - 6 - wide, 6));
    for (let k = 0; k < 9; k++) {
      const shift = (k % 2 ? -1 : 1) * Math.ceil(k / 2) * (size + 4), base = clamp(y + shift, size + 2, this.h - 6);
      const box = { x0: left - 2, x1: left + wide + 2, y0: base - size, y1: base + 3, text };
      if (this.taken.some((o) => box.x0 < o.x1 && box.x1 > o.x0 && box.y0 < o.y1 && box.y1 > o.y0)) continue;
      this.taken.push(box);
      return [left, base];
    }
    this.crowded++;
    return null;
  }

  // Fit the box; zooming moves towards what touches, or the tip.
  aim() {
    const [left, bottom, right, top] = this.run.seen(this.clip, this.f), air = 14;
    // A page in a frame is drawn once before it has a size: what has no room is drawn small, not inside out.
    const room = (pixels) => Math.max(pixels, 1);
    const fit = Math.min(room(this.w - 2 * air) / (right - left), room(this.h - 2 * air - 34) / (top - bottom));
    const focus = this.focus();
    const share = 1 - 1 / this.zoom;
    this.scale = fit * this.zoom;
    this.centre = [mix((left + right) / 2, focus[0], share), mix((bottom + top) / 2, focus[1], share)];
  }
  focus() {
    let best = null, most = 0;
    for (const c of this.clip.contacts) {
      const now = Math.abs(valueAt(c.normal, this.f));
      if (now > most) [best, most] = [pairAt(c.point, this.f), now];
    }
    return best || pointsAt(this.clip.tips[0], this.f)[0];
  }
  px(p) {
    return [this.w / 2 + (p[0] - this.centre[0]) * this.scale, this.h / 2 - 14 - (p[1] - this.centre[1]) * this.scale];
  }
  path(points) {
    this.ctx.beginPath();
    points.forEach((p, i) => (i ? this.ctx.lineTo(p[0], p[1]) : this.ctx.moveTo(p[0], p[1])));
  }

  // A line with hatching on its solid side, which is the right one.
  surface(points) {
    const ctx = this.ctx, line = points.map((p) => this.px(p));
    ctx.strokeStyle = tones.ground;
    ctx.lineWidth = 1.5;
    ctx.lineJoin = "round";
    this.path(line);
    ctx.stroke();
    ctx.lineWidth = 1;
    ctx.globalAlpha = 0.45;
    ctx.beginPath();
    const pitch = 9, reach = Math.hypot(this.w, this.h) / 2 + 20;
    let begun = 0;
    for (let i = 0; i + 1 < line.length; i++) {
      const [ax, ay] = line[i], dx = line[i + 1][0] - ax, dy = line[i + 1][1] - ay, size = Math.hypot(dx, dy);
      if (size > 0) {
        const ux = dx / size, uy = dy / size, near = (this.w / 2 - ax) * ux + (this.h / 2 - ay) * uy;
        const from = Math.max(0, near - reach), to = Math.min(size, near + reach);
        for (let k = Math.ceil((begun + from) / pitch); k * pitch < begun + to; k++) {
          const at = k * pitch - begun, x = ax + at * ux, y = ay + at * uy;
          ctx.moveTo(x, y);
          ctx.lineTo(x - 6 * ux - 7 * uy, y - 6 * uy + 7 * ux);
        }
      }
      begun += size;
    }
    ctx.stroke();
    ctx.globalAlpha = 1;
  }

  // The way of the tips up to now, fading.
  trace() {
    const ctx = this.ctx, t = this.clip.t, last = this.f.k, from = t[last] - 1.5;
    ctx.strokeStyle = tones.trace;
    ctx.lineWidth = 1.4;
    ctx.lineJoin = "round";
    for (const tip of this.clip.tips) {
      const at = (k) => this.px([tip.xy[2 * k], tip.xy[2 * k + 1]]);
      for (let k = last; k > 0 && t[k] > from;) {
        const stop = Math.max(k - 8, 0);
        ctx.globalAlpha = 0.75 * clamp((t[k] - from) / 1.5, 0, 1);
        ctx.beginPath();
        ctx.moveTo(...(k === last ? this.px(pointsAt(tip, this.f)[0]) : at(k)));
        for (let j = k; j >= stop; j--) ctx.lineTo(...at(j));
        ctx.stroke();
        k = stop;
      }
    }
    ctx.globalAlpha = 1;
  }

  base([x, y]) {
    const ctx = this.ctx;
    ctx.strokeStyle = tones.ground;
    ctx.lineWidth = 1.5;
    this.path([[x - 9, y + 14], [x, y], [x + 9, y + 14]]);
    ctx.stroke();
    this.path([[x - 15, y + 14], [x + 15, y + 14]]);
    ctx.stroke();
    ctx.lineWidth = 1;
    for (let k = -12; k <= 15; k += 6) {
      this.path([[x + k, y + 14], [x + k - 5, y + 20]]);
      ctx.stroke();
    }
  }

  link(l) {
    const ctx = this.ctx, points = pointsAt(l, this.f).map((p) => this.px(p)), r = l.radius * this.scale;
    ctx.lineCap = ctx.lineJoin = "round";
    if (l.kind === "disk" || r > 0) {
      ctx.beginPath();
      ctx.arc(points[0][0], points[0][1], r, 0, 2 * Math.PI);
      ctx.globalAlpha = 0.35;
      ctx.fillStyle = tones["link-fill"];
      ctx.fill();
      ctx.globalAlpha = 1;
      ctx.strokeStyle = tones.link;
      ctx.lineWidth = 1.6;
      if (l.kind !== "disk") ctx.setLineDash([5, 4]);  // a body whose shape is not known
      ctx.stroke();
      ctx.setLineDash([]);
      this.path(points);
      ctx.stroke();
      return;
    }
    const wide = l.kind === "beam" ? 4 : l.kind === "point" ? 2 : 8;
    this.path(points);
    ctx.strokeStyle = tones.link;
    ctx.lineWidth = wide;
    ctx.stroke();
    if (wide > 4) {
      ctx.strokeStyle = tones["link-fill"];
      ctx.lineWidth = wide - 3;
      ctx.stroke();
    }
    if (l.kind === "point") this.dot(points[points.length - 1], 7, tones.link);
  }
  dot([x, y], r, tone) {
    this.ctx.beginPath();
    this.ctx.arc(x, y, r, 0, 2 * Math.PI);
    this.ctx.fillStyle = tone;
    this.ctx.fill();
  }
  pin(p) {
    this.dot(p, 4.2, tones.link);
    this.dot(p, 2.5, tones.pin);
  }

  round(r) {
    const ctx = this.ctx, points = pointsAt(r, this.f).map((p) => this.px(p)), size = r.radius * this.scale;
    ctx.strokeStyle = tones.link;
    ctx.lineWidth = 1.2;
    if (r.kind === "outline") {
      this.path(points);
      ctx.stroke();
    } else if (r.kind === "bar") {
      ctx.lineCap = "round";
      ctx.lineWidth = Math.max(2 * size, 2);
      ctx.globalAlpha = 0.5;
      this.path(points);
      ctx.stroke();
      ctx.globalAlpha = 1;
    } else if (size > 3) {
      ctx.beginPath();
      ctx.arc(points[0][0], points[0][1], size, 0, 2 * Math.PI);
      ctx.stroke();
    } else this.dot(points[0], 3, tones.ink);
  }

  spring([a, b]) {
    const dx = b[0] - a[0], dy = b[1] - a[1], points = [a];
    for (let k = 1; k < 24; k++) {
      const side = k < 4 || k > 20 ? 0 : (k % 2 ? 5 : -5), size = Math.hypot(dx, dy) || 1;
      points.push([a[0] + (dx * k) / 24 - (side * dy) / size, a[1] + (dy * k) / 24 + (side * dx) / size]);
    }
    this.ctx.strokeStyle = tones.soft;
    this.ctx.lineWidth = 1.4;
    this.path([...points, b]);
    this.ctx.stroke();
  }

  // No label on an arrow that stands upright or lies flat; a slanted one leaves room on both of its sides.
  keepClear(x, y, dx, dy) {
    const box = { x0: Math.min(x, x + dx) - 4, x1: Math.max(x, x + dx) + 4, y0: Math.min(y, y + dy) - 2, y1: Math.max(y, y + dy) + 2 };
    if (Math.min(box.x1 - box.x0, box.y1 - box.y0) < 24) this.taken.push(box);
  }
  get longest() {
    return Math.min(0.3 * this.h, 0.24 * this.w, 130);
  }
  force(c) {
    const [fx, fy] = c.force, size = Math.hypot(fx, fy);
    if (size <= 1e-7 * this.run.maxForce || size === 0) return;
    const long = forceLength(size, this.run, this.longest), [x, y] = this.px(c.point);
    const dx = (long * fx) / size, dy = (-long * fy) / size;
    arrow(this.ctx, x, y, dx, dy, tones.force, 3);
    this.keepClear(x, y, dx, dy);
    this.label(quantity(size, c.contact.forceUnit), x + dx, y + dy, dx, dy);
  }
  // An instantaneous blow: the velocity before, then the impulse and the velocity after.
  blow(i, share) {
    if (Math.hypot(...i.way) < 0.5) return;  // a joint's stop has no direction in the plane
    const [x, y] = this.px(i.point), now = share < 0.5 ? i.before : i.after;
    const v = [now[0] * i.way[0] + now[1] * i.along[0], now[0] * i.way[1] + now[1] * i.along[1]];
    const long = 0.6 * this.longest / Math.max(this.run.maxSpeed, 1e-12);
    if (share >= 0.5) {
      const size = this.longest * Math.abs(i.impulse) / Math.max(this.run.maxImpulse, 1e-300);
      const p = [i.impulse * i.way[0] + i.rub * i.along[0], i.impulse * i.way[1] + i.rub * i.along[1]];
      const all = Math.hypot(...p) || 1, dx = (size * p[0]) / all, dy = (-size * p[1]) / all;
      this.ctx.globalAlpha = clamp(2.2 - 2 * (share - 0.5) * 2, 0.25, 1);
      arrow(this.ctx, x, y, dx, dy, tones.force, 4);
      this.label(quantity(all, "N\u202fs"), x + dx, y + dy, dx, dy);
      this.ctx.globalAlpha = 1;
    }
    const side = 16;
    // What comes ends at the contact, what goes begins there.
    const from = share < 0.5 ? [x + side - v[0] * long, y + v[1] * long] : [x + side, y];
    arrow(this.ctx, ...from, v[0] * long, -v[1] * long, tones.speed, 2.5);
    this.keepClear(...from, v[0] * long, -v[1] * long);
    const speed = Math.hypot(...v), text = (share < 0.5 ? "before " : "after ") + quantity(speed, "m/s", 1e-9 * this.run.maxSpeed);
    const place = this.room(text, x + side + 12, y - 10, "left", 12.5);
    if (place) write(this.ctx, text, place[0], place[1], tones.speed, 12.5, "left", 600);
  }
  label(text, x, y, dx, dy) {
    const size = Math.hypot(dx, dy) || 1, tall = Math.abs(dy) > Math.abs(dx);
    const lx = clamp(x + (tall ? 8 : (8 * dx) / size), 6, this.w - 6), ly = clamp(y + (tall ? (dy < 0 ? 4 : 8) : -6), 14, this.h - 8);
    this.ctx.font = "600 13px " + tones.font;
    const right = lx + this.ctx.measureText(text).width > this.w - 6 || (!tall && dx < 0);
    const place = this.room(text, right ? lx - (tall ? 16 : 0) : lx, ly, right ? "right" : "left", 13);
    if (place) write(this.ctx, text, place[0], place[1], tones.force, 13, "left", 600);
  }

  scaleBar() {
    const length = niceStep((this.w < 500 ? 30 : 56) / this.scale), long = length * this.scale, x = 14, y = this.h - 14, ctx = this.ctx;
    ctx.strokeStyle = tones.soft;
    ctx.lineWidth = 1.2;
    this.path([[x, y - 4], [x, y], [x + long, y], [x + long, y - 4]]);
    ctx.stroke();
    const power = powerOf(length);
    write(ctx, Number((length / Math.pow(10, power)).toPrecision(3)) + "\u202f" + PREFIX[power] + "m", x + long + 7, y + 1, tones.soft, 12);
  }

  // How long an arrow of which force is; those of a blow are linear.
  legend(blow) {
    if (blow) write(this.ctx, "arrows of velocity and of impulse: linear", this.w - 14, this.h - 30, tones.soft, 11, "right");
    if (!(this.run.maxForce > 0)) return;
    if (!blow) write(this.ctx, "force, logarithmic scale", this.w - 14, this.h - 30, tones.soft, 11, "right");
    const top = Math.floor(Math.log10(this.run.maxForce)), y = this.h - 14;
    let x = this.w - 14;
    const count = this.w < 500 ? 2 : 3;
    for (let k = 0; k < count; k++) {
      const force = Math.pow(10, top - (count === 2 ? 2 * k : k)), long = forceLength(force, this.run, this.longest);
      const power = powerOf(force), text = Math.round(force / Math.pow(10, power)) + "\u202f" + PREFIX[power] + "N";
      write(this.ctx, text, x, y + 4, tones.soft, 12, "right");
      x -= this.ctx.measureText(text).width + 6;
      arrow(this.ctx, x - long, y, long, 0, tones.force, 2.2);
      x -= long + 18;
    }
  }
}
