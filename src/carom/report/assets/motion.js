// The run at any instant: frames are found by time, and what lies between them is interpolated.

const MOST_TOLD = 6;  // contacts that have a colour and a lane of their own

const FAR = 8;  // own sizes: what travels farther is followed by the picture

// Around all links in a frame: left, bottom, right, top.
function boxOf(clip, k) {
  const box = [Infinity, Infinity, -Infinity, -Infinity];
  for (const l of clip.links) {
    const from = l.moving === false ? 0 : 2 * l.n * k, r = l.radius;
    for (let i = from; i < from + 2 * l.n; i += 2) {
      box[0] = Math.min(box[0], l.xy[i] - r);
      box[1] = Math.min(box[1], l.xy[i + 1] - r);
      box[2] = Math.max(box[2], l.xy[i] + r);
      box[3] = Math.max(box[3], l.xy[i + 1] + r);
    }
  }
  return box;
}

class Run {
  constructor(packed) {
    Object.assign(this, packed);
    this.clips = packed.clips.map(unpack);
    const contacts = this.clips.flatMap((c) => c.contacts);
    this.names = [...new Set(contacts.map((c) => c.name))];
    // Largest values; loops, since a spread of a long array overflows the stack.
    this.maxForce = 0;
    this.maxDepth = 0;
    for (const c of contacts) {
      for (let k = 0; k < c.normal.length; k++) {
        this.maxForce = Math.max(this.maxForce, Math.hypot(c.force[2 * k], c.force[2 * k + 1]), Math.abs(c.normal[k]));
        this.maxDepth = Math.max(this.maxDepth, c.indentation[k]);
      }
    }
    for (const i of this.impacts) this.maxForce = Math.max(this.maxForce, i.peak);
    this.maxImpulse = this.maxSpeed = this.maxRate = 0;
    this.maxEnergy = { kinetic: 0, potential: 0, taken: 0 };
    for (const i of this.impacts) {
      if (i.end <= i.begin) this.maxImpulse = Math.max(this.maxImpulse, Math.abs(i.impulse));
      this.maxSpeed = Math.max(this.maxSpeed, Math.hypot(...i.before), Math.hypot(...i.after));
      this.maxRate = Math.max(this.maxRate, Math.abs(i.before[0]), Math.abs(i.after[0]));
    }
    for (const c of contacts) for (const v of c.rate) this.maxRate = Math.max(this.maxRate, Math.abs(v));
    for (const c of this.clips) for (const name in this.maxEnergy) for (const v of c.energy[name]) this.maxEnergy[name] = Math.max(this.maxEnergy[name], Math.abs(v));
    const inPlay = Math.max(...Object.values(this.maxEnergy));  // what is far smaller than all of it is rounding
    for (const name in this.maxEnergy) if (this.maxEnergy[name] < 1e-9 * inPlay) this.maxEnergy[name] = inPlay;
    this.stances = packed.stances || [];
    this.ranks = this.ranked();
    this.deep = this.maxDepth > 1e-9;
    this.way = this.travelled();
  }

  // A mechanism that travels far beyond its own size along the ground: from where to where, between which heights, and
  // how large it is; null otherwise. What a single body passes on its way tells more than the body.
  travelled() {
    if (this.clips.every((clip) => clip.links.length < 2)) return null;
    const all = [Infinity, Infinity, -Infinity, -Infinity];
    let size = 0;
    for (const clip of this.clips) {
      for (let k = 0; k < clip.t.length; k++) {
        const [left, bottom, right, top] = boxOf(clip, k);
        size = Math.max(size, right - left);
        [left, bottom].forEach((v, i) => (all[i] = Math.min(all[i], v)));
        [right, top].forEach((v, i) => (all[2 + i] = Math.max(all[2 + i], v)));
      }
    }
    size = Math.max(size, all[3] - all[1]);
    return size > 0 && all[2] - all[0] > FAR * size ? { left: all[0], right: all[2], bottom: all[1], top: all[3], size } : null;
  }

  // What the picture shows at an instant: everything, or as high as the whole way and two and a half sizes wide.
  seen(clip, f) {
    const way = this.way;
    if (!way) return this.box;
    const a = boxOf(clip, f.k), b = boxOf(clip, f.next), half = 1.25 * way.size, air = 0.15 * way.size;
    const middle = clamp(mix(a[0] + a[2], b[0] + b[2], f.w) / 2, way.left + half, way.right - half);
    return [middle - half, way.bottom - air, middle + half, way.top + air];
  }

  // Contacts by the force or the impulse that they had: the first five are told apart, the others are one group.
  ranked() {
    const most = new Map(this.names.map((name) => [name, [0, 0]]));
    for (const clip of this.clips)
      for (const c of clip.contacts) for (const v of c.normal) most.get(c.name)[0] = Math.max(most.get(c.name)[0], Math.abs(v));
    for (const i of this.impacts) if (most.has(i.name)) most.get(i.name)[1] = Math.max(most.get(i.name)[1], Math.abs(i.impulse));
    const order = this.names.length > MOST_TOLD
      ? [...this.names].sort((a, b) => most.get(b)[0] - most.get(a)[0] || most.get(b)[1] - most.get(a)[1]) : this.names;
    return new Map(order.map((name, k) => [name, this.names.length > MOST_TOLD ? Math.min(k, MOST_TOLD - 1) : k]));
  }

  clipAt(t) {
    let k = 0;
    while (k + 1 < this.clips.length && this.clips[k + 1].t[0] <= t) k++;
    return this.clips[k];
  }
}

function unpack(clip) {
  const lines = (l) => ({ ...l, xy: floats(l.xy) });
  return {
    t: doubles(clip.t),
    links: clip.links.map(lines),
    pins: lines(clip.pins),
    bases: clip.bases,
    rounds: clip.rounds.map(lines),
    springs: clip.springs.map(lines),
    tips: clip.tips.map(lines),
    surfaces: clip.surfaces.map(lines),
    contacts: clip.contacts.map((c) => ({
      ...c,
      indentation: floats(c.indentation), rate: floats(c.rate), sliding: floats(c.sliding), normal: floats(c.normal),
      friction: floats(c.friction), point: floats(c.point), force: floats(c.force), way: floats(c.way), phase: bytes(c.phase),
    })),
    energy: {
      ledger: clip.energy.ledger, kinetic: floats(clip.energy.kinetic), potential: floats(clip.energy.potential),
      taken: floats(clip.energy.taken),
    },
  };
}

// The frame at or before t, and how far it is to the next.
function frameAt(clip, t) {
  const times = clip.t;
  let low = 0, high = times.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (times[middle] <= t) low = middle;
    else high = middle - 1;
  }
  const next = Math.min(low + 1, times.length - 1), span = times[next] - times[low];
  return { k: low, next, w: span > 0 ? clamp((t - times[low]) / span, 0, 1) : 0 };
}
const valueAt = (array, f) => mix(array[f.k], array[f.next], f.w);
const pairAt = (array, f) => [mix(array[2 * f.k], array[2 * f.next], f.w), mix(array[2 * f.k + 1], array[2 * f.next + 1], f.w)];

// All points of a line at an instant.
function pointsAt(line, f) {
  if (line.moving === false) return pairs(line.xy, 0, line.n);
  const out = [], a = 2 * line.n * f.k, b = 2 * line.n * f.next;
  for (let i = 0; i < line.n; i++)
    out.push([mix(line.xy[a + 2 * i], line.xy[b + 2 * i], f.w), mix(line.xy[a + 2 * i + 1], line.xy[b + 2 * i + 1], f.w)]);
  return out;
}
function pairs(xy, from, count) {
  const out = [];
  for (let i = 0; i < count; i++) out.push([xy[from + 2 * i], xy[from + 2 * i + 1]]);
  return out;
}

// A contact at an instant. Phases do not blend: that of the frame before holds.
function contactAt(contact, f) {
  return {
    contact,
    indentation: valueAt(contact.indentation, f), rate: valueAt(contact.rate, f), sliding: valueAt(contact.sliding, f),
    normal: valueAt(contact.normal, f), friction: valueAt(contact.friction, f),
    point: pairAt(contact.point, f), force: pairAt(contact.force, f), way: pairAt(contact.way, f),
    phase: contact.phases[contact.phase[f.k]],
  };
}
