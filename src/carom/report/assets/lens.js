// The magnifying glass: tip and surface where they touch, so large that the indentation is seen.

class Lens {
  constructor(run, canvas, text) {
    Object.assign(this, { run, canvas, text });
  }

  // `i`: the impact under the cursor or none; `next`: one that is to come.
  draw(t, i, next, share, sceneScale) {
    const { ctx, w, h } = fitted(this.canvas);
    Object.assign(this, { ctx, w, h });
    if (!i) return this.idle(t, next);
    const clip = this.run.clips[i.clip], c = i.contact >= 0 ? contactAt(clip.contacts[i.contact], frameAt(clip, t)) : null;
    if (c && (c.contact.unit !== "m" || Math.hypot(...i.way) < 0.5)) return this.say("A joint's stop: " + quantity(c.indentation, c.contact.unit, 1e-9) + " beyond it.");
    const turn = Math.PI / 2 - Math.atan2(i.way[1], i.way[0]);
    ctx.save();
    ctx.beginPath();
    ctx.rect(0, 0, w, h);
    ctx.clip();
    ctx.translate(w / 2, h * 0.52);
    ctx.rotate(turn);
    if (i.end > i.begin && i.depth > 0) this.dented(t, i, c, sceneScale);
    else this.struck(i, share);
    ctx.restore();
    if (i.end > i.begin && i.depth > 0) this.scaleBar(i);
  }

  idle(t, next) {
    if (next) this.say("Next: impact " + next.number + " in " + quantity(next.begin - t, "s", 1e-12) + ".");
    else this.say("No further impact.");
  }
  say(words) {
    const { ctx, w, h } = this;
    ctx.strokeStyle = tones.rule;
    ctx.lineWidth = 1.5;
    ctx.beginPath();
    ctx.arc(w / 2, h / 2, Math.min(w, h) * 0.2, 0, 2 * Math.PI);
    ctx.moveTo(w / 2 + Math.min(w, h) * 0.145, h / 2 + Math.min(w, h) * 0.145);
    ctx.lineTo(w / 2 + Math.min(w, h) * 0.26, h / 2 + Math.min(w, h) * 0.26);
    ctx.stroke();
    this.text.textContent = words;
  }

  scale(i) {
    return this.h / (5 * i.depth);  // pixels per metre
  }
  // Frame of the contact: x along the surface, y into the free side; the undented surface is y = 0.
  dented(t, i, c, sceneScale) {
    const ctx = this.ctx, scale = this.scale(i), reach = Math.hypot(this.w, this.h);
    const radius = clamp(c.contact.radius, 3 * i.depth, 9 * i.depth), tip = -c.indentation;
    const nose = (x) => radius - Math.sqrt(Math.max(radius * radius - x * x, 0));
    const unloading = t >= i.end || (c.rate < 0 && t > i.begin);
    const floor = (x) => {
      let y = Math.abs(x) < radius ? Math.min(0, tip + nose(x)) : 0;
      if (unloading && Math.abs(x) < radius) y = Math.min(y, -i.dent + nose(x));
      return y;
    };
    // The solid below.
    ctx.beginPath();
    ctx.moveTo(-reach, reach);
    for (let px = -reach; px <= reach; px += 1.5) ctx.lineTo(px, -floor(px / scale) * scale);
    ctx.lineTo(reach, reach);
    ctx.closePath();
    ctx.globalAlpha = 0.28;
    ctx.fillStyle = tones.ground;
    ctx.fill();
    ctx.globalAlpha = 1;
    ctx.strokeStyle = tones.ground;
    ctx.lineWidth = 1.5;
    ctx.stroke();
    // The tip above.
    ctx.beginPath();
    ctx.arc(0, -(tip + radius) * scale, radius * scale, 0, 2 * Math.PI);
    ctx.globalAlpha = 0.85;
    ctx.fillStyle = tones["link-fill"];
    ctx.fill();
    ctx.globalAlpha = 1;
    ctx.strokeStyle = tones.link;
    ctx.stroke();
    // Where the surface was.
    ctx.strokeStyle = tones.faint;
    ctx.lineWidth = 1;
    ctx.setLineDash([4, 4]);
    ctx.beginPath();
    ctx.moveTo(-reach, 0);
    ctx.lineTo(reach, 0);
    ctx.stroke();
    ctx.setLineDash([]);
    const size = Math.hypot(c.normal, c.friction);
    if (size > 0 && i.peak > 0) {
      const long = (0.42 * this.h * size) / i.peak;
      arrow(ctx, 0, -tip * scale, (long * c.friction) / size * this.hand(i), (-long * c.normal) / size, tones.force, 3);
    }
    const shape = Math.abs(radius - c.contact.radius) > 1e-9 ? "; schematic tip" : "";
    this.text.textContent = "×\u202f" + grouped(Number((scale / sceneScale).toPrecision(2))) + " the picture" + shape;
  }
  // Is the tangent to the right of the normal? Not in a mirrored stretch.
  hand(i) {
    return i.way[1] * i.along[0] - i.way[0] * i.along[1] > 0 ? 1 : -1;
  }

  // A blow without duration: before, then after.
  struck(i, share) {
    const ctx = this.ctx, size = Math.min(this.w, this.h), reach = Math.hypot(this.w, this.h), ground = 0.16 * size;
    ctx.globalAlpha = 0.28;
    ctx.fillStyle = tones.ground;
    ctx.strokeStyle = tones.ground;
    ctx.lineWidth = 1.5;
    ctx.beginPath();
    if (i.contact < 0) ctx.arc(0, ground + 0.13 * size, 0.13 * size, 0, 2 * Math.PI);  // two points meet, and no surface
    else ctx.rect(-reach, ground, 2 * reach, reach);
    ctx.fill();
    ctx.globalAlpha = 1;
    ctx.stroke();
    ctx.beginPath();
    ctx.arc(0, ground - 0.13 * size, 0.13 * size, 0, 2 * Math.PI);
    ctx.fillStyle = tones["link-fill"];
    ctx.fill();
    ctx.strokeStyle = tones.link;
    ctx.stroke();
    const top = Math.max(Math.hypot(...i.before), Math.hypot(...i.after), 1e-12), long = (0.42 * size) / top, hand = this.hand(i);
    const faint = (on) => (ctx.globalAlpha = on ? 1 : 0.25), b = i.before, a = i.after;
    faint(share < 0.5);
    arrow(ctx, -0.25 * size - b[1] * long * hand, ground - 0.13 * size + b[0] * long, b[1] * long * hand, -b[0] * long, tones.speed, 2.5);
    faint(share >= 0.5);
    arrow(ctx, 0.25 * size, ground - 0.13 * size, a[1] * long * hand, -a[0] * long, tones.speed, 2.5);
    if (share >= 0.5) arrow(ctx, 0, ground, 0, -0.5 * size, tones.force, 3.5);
    ctx.globalAlpha = 1;
    this.text.textContent = "Normal velocity " + quantity(b[0], "m/s") + " before, " + quantity(a[0], "m/s") + " after; impulse "
      + quantity(i.impulse, "N\u202fs") + ".";
  }

  scaleBar(i) {
    const ctx = this.ctx, length = niceStep(30 / this.scale(i)), long = length * this.scale(i), x = 9, y = this.h - 9, power = powerOf(length);
    ctx.strokeStyle = tones.ink;
    ctx.lineWidth = 1.2;
    ctx.beginPath();
    ctx.moveTo(x, y - 4);
    ctx.lineTo(x, y);
    ctx.lineTo(x + long, y);
    ctx.lineTo(x + long, y - 4);
    ctx.stroke();
    write(ctx, Math.round(length / Math.pow(10, power)) + "\u202f" + PREFIX[power] + "m", x + long + 6, y + 1, tones.ink, 11);
  }
}
