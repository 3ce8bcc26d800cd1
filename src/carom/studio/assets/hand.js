// The picture of the studio: the run before as a ghost, and links that a hand can take.

const REACH = 16;  // [px] from a link within which it is taken

class StudioScene extends Scene {
  constructor(run, canvas, side) {
    super(run, canvas);
    this.side = side;
  }
  draw(t, show) {
    super.draw(t, show);
    if (this.side.ghost) this.ghost(this.side.ghost, t);
    if (this.side.held) this.mark(this.side.held);
  }
  // Where the run before had its links at this time.
  ghost(run, t) {
    const ctx = this.ctx, clip = run.clipAt(clamp(t, run.begin, run.end)), f = frameAt(clip, clamp(t, run.begin, run.end));
    ctx.save();
    ctx.strokeStyle = tones.faint;
    ctx.lineWidth = 1.6;
    ctx.setLineDash([5, 4]);
    for (const l of clip.links) {
      const points = pointsAt(l, f).map((p) => this.px(p));
      if (l.radius > 0) {
        ctx.beginPath();
        ctx.arc(points[0][0], points[0][1], l.radius * this.scale, 0, 2 * Math.PI);
        ctx.stroke();
      }
      this.path(points);
      ctx.stroke();
    }
    ctx.restore();
  }
  mark(link) {
    const l = this.clip.links[link];
    if (!l) return;
    this.ctx.save();
    this.ctx.strokeStyle = tones.accent;
    this.ctx.lineWidth = 2.5;
    this.path(pointsAt(l, this.f).map((p) => this.px(p)));
    this.ctx.stroke();
    this.ctx.restore();
  }
  // From a place on the canvas to the world.
  world(x, y) {
    const [left, top] = this.px([0, 0]);
    return [(x - left) / this.scale, (top - y) / this.scale];
  }
  // The handle under a place: the nearest link that can be moved.
  handleAt(x, y, handles) {
    let best = null, least = Infinity;
    for (const h of handles) {
      const l = this.clip.links[h.link];
      if (!l) continue;
      const points = pointsAt(l, this.f).map((p) => this.px(p));
      let d = Infinity;
      for (let k = 0; k + 1 < points.length; k++) d = Math.min(d, away(x, y, points[k], points[k + 1]));
      if (l.radius > 0) d = Math.max(0, Math.hypot(x - points[0][0], y - points[0][1]) - l.radius * this.scale);
      // Of a free body the first joint moves it, the rest turns it; a disk is moved.
      const near = Math.hypot(x - points[0][0], y - points[0][1]);
      if (h.kind === "move") d = l.radius > 0 ? d - 1e-3 : near > REACH ? Infinity : near - 1e-3;
      if (d < least) [best, least] = [h, d];
    }
    return least <= REACH ? best : null;
  }
}
function away(x, y, a, b) {
  const dx = b[0] - a[0], dy = b[1] - a[1], size = dx * dx + dy * dy;
  const k = size > 0 ? clamp(((x - a[0]) * dx + (y - a[1]) * dy) / size, 0, 1) : 0;
  return Math.hypot(x - a[0] - k * dx, y - a[1] - k * dy);
}

// Dragging on a side's picture: `atStart()` says whether the start is what is seen, `toStart()` goes there.
function takeable(side, atStart, toStart, set, value) {
  let held = null;
  const place = (e) => {
    const box = side.canvas.getBoundingClientRect();
    return [e.clientX - box.left, e.clientY - box.top];
  };
  side.canvas.addEventListener("pointerdown", (e) => {
    if (!side.scene || !side.handles || !side.handles.length) return;
    if (!atStart()) {
      toStart();
      return;
    }
    const [x, y] = place(e), h = side.scene.handleAt(x, y, side.handles);
    if (!h) return;
    const paths = h.paths || [h.path], from = side.scene.world(x, y);
    const begin = paths.map(value);
    if (begin.some((v) => v === null)) return;
    held = { h, paths, begin, from, id: e.pointerId, turned: 0, before: h.at && Math.atan2(from[1] - h.at[1], from[0] - h.at[0]) };
    side.held = h.link;
    side.canvas.setPointerCapture(e.pointerId);
    e.preventDefault();
  });
  side.canvas.addEventListener("pointermove", (e) => {
    if (!held || e.pointerId !== held.id) {
      if (side.scene && side.handles && side.scene.clip) side.canvas.style.cursor = atStart() && side.scene.handleAt(...place(e), side.handles) ? "grab" : "";
      return;
    }
    const p = side.scene.world(...place(e)), { h, begin, from } = held;
    if (h.kind === "turn") {
      const now = Math.atan2(p[1] - h.at[1], p[0] - h.at[0]);
      let step = now - held.before;
      step -= 2 * Math.PI * Math.round(step / (2 * Math.PI));
      held.before = now;
      held.turned += step;
      set(h.path, Number((begin[0] + h.per * held.turned).toPrecision(5)), false);
    } else if (h.kind === "slide") set(h.path, Number((begin[0] + (p[0] - from[0]) * h.way[0] + (p[1] - from[1]) * h.way[1]).toPrecision(5)), false);
    else held.paths.forEach((path, k) => set(path, Number((begin[k] + p[k] - from[k]).toPrecision(5)), false));
  });
  const drop = (e) => {
    if (!held || e.pointerId !== held.id) return;
    const path = held.paths[0];
    held = null;
    side.held = null;
    set(path, value(path), true);
  };
  for (const end of ["pointerup", "pointercancel"]) side.canvas.addEventListener(end, drop);
}
