// Several runs side by side, in step: one clock moves them all.

function el(tag, props = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(props)) {
    if (name in made && name !== "list") made[name] = value;
    else made.setAttribute(name, value);
  }
  made.append(...children);
  return made;
}

// A drawing in a button: the fonts of many machines lack the signs.
const ICONS = { play: "M8 5v14l11-7z", pause: "M8 5v14M16 5v14", previous: "M6 5v14M19 5 9 12l10 7z", next: "M18 5v14M5 5l10 7-10 7z" };
function icon(name) {
  const box = document.createElementNS("http://www.w3.org/2000/svg", "svg"), path = document.createElementNS("http://www.w3.org/2000/svg", "path");
  box.setAttribute("viewBox", "0 0 24 24");
  box.setAttribute("aria-hidden", "true");
  path.setAttribute("d", ICONS[name]);
  path.setAttribute("class", name);
  box.append(path);
  return box;
}

// Every signal of a run by its name: { unit, t, y }.
function signalsOf(run) {
  const out = new Map();
  const add = (name, unit, read) => {
    const t = [], y = [];
    for (const clip of run.clips) {
      const values = read(clip);
      if (values) for (let k = 0; k < clip.t.length; k++) (t.push(clip.t[k]), y.push(values[k]));
    }
    if (t.length) out.set(name, { unit, t, y });
  };
  for (const name of run.names) {
    const of = (field) => (clip) => (clip.contacts.find((c) => c.name === name) || {})[field];
    const one = run.clips.flatMap((c) => c.contacts).find((c) => c.name === name);
    add("normal force, " + name, one.forceUnit, of("normal"));
    add("friction, " + name, one.forceUnit, of("friction"));
    add("indentation, " + name, one.unit, of("indentation"));
  }
  add("kinetic energy", "J", (clip) => clip.energy.kinetic);
  add("potential energy", "J", (clip) => clip.energy.potential);
  if (run.clips.every((c) => c.energy.ledger)) add("energy taken by contacts", "J", (clip) => clip.energy.taken);
  const last = run.clips[run.clips.length - 1];
  for (const link of last.links) add("angle of " + link.name, "°", (clip) => turned(clip.links.find((l) => l.name === link.name)));
  last.tips.forEach((_, n) => {
    for (const [axis, word] of [[0, "x"], [1, "y"]]) {
      add(word + " of the tip" + (last.tips.length > 1 ? " " + (n + 1) : ""), "m", (clip) => clip.tips[n] && clip.t.map((_, k) => clip.tips[n].xy[2 * k + axis]));
    }
  });
  return out;
}
// The angle of a drawn link over time [degrees], without jumps.
function turned(link) {
  if (!link || link.n < 2) return null;
  const out = [];
  let before = 0;
  for (let k = 0; k < link.xy.length / (2 * link.n); k++) {
    const a = 2 * link.n * k, b = a + 2 * (link.n - 1);
    let angle = (Math.atan2(link.xy[b + 1] - link.xy[a + 1], link.xy[b] - link.xy[a]) * 180) / Math.PI;
    if (k) angle += 360 * Math.round((before - angle) / 360);
    out.push((before = angle));
  }
  return out;
}

// One run: its picture, the magnified contact, and its numbers.
class Side {
  constructor(host, tone, Picture = Scene) {
    this.tone = tone;
    this.Picture = Picture;
    this.canvas = el("canvas", { role: "img" });
    this.small = el("canvas", { role: "img", "aria-label": "The contact, magnified" });
    this.caption = el("figcaption");
    this.title = el("h2", { className: "side-title" });
    this.formula = el("div", { className: "formula" });
    this.numbers = el("dl", { className: "readout" });
    this.lensBox = el("figure", { className: "lens" }, this.small, this.caption);
    this.told = el("div", { className: "told" }, this.lensBox, this.numbers, this.formula);
    this.box = el("section", { className: "side" }, this.title, el("div", { className: "side-stage" }, el("div", { className: "picture" }, this.canvas), this.told));
    host.append(this.box);
    this.run = null;
  }
  load(packed, label, formulas) {
    this.run = packed ? new Run(packed) : null;
    this.label = label;
    this.formulas = formulas || [];
    this.title.textContent = "";
    this.swatch = el("i", { className: "swatch" });
    this.swatch.style.background = "var(--" + this.tone + ")";
    this.title.append(this.swatch, label);
    this.box.querySelector(".side-stage").hidden = !this.run;
    this.canvas.setAttribute("aria-label", "The mechanism at the time of the cursor: " + label);
    if (!this.run) return;
    this.scene = new this.Picture(this.run, this.canvas, this);
    this.lens = new Lens(this.run, this.small, this.caption);
    this.lensBox.hidden = !this.run.impacts.length;
    this.rows = new Map();
    this.numbers.textContent = "";
    this.shownFormula = null;
    const names = this.run.names.length ? ["phase", "normal force", "friction", "indentation"] : [];
    for (const name of [...names, "kinetic energy", "potential energy"]) {
      const value = el("output");
      this.rows.set(name, value);
      this.numbers.append(el("div", {}, el("dt", {}, name), el("dd", {}, value)));
    }
  }

  impactAt(clock, s) {
    const win = clock.partAt(s).window, own = win ? win.impacts.filter((i) => this.run.impacts.includes(i)) : [];
    const t = clock.toT(s), away = (i) => Math.max(i.begin - t, t - i.end, 0);
    return own.length ? own.reduce((a, b) => (away(b) < away(a) ? b : a)) : null;
  }
  draw(clock, s) {
    if (!this.run) return;
    const part = clock.partAt(s), share = part.s1 > part.s0 ? (s - part.s0) / (part.s1 - part.s0) : 0;
    const held = part.window && part.t0 === part.t1, i = this.impactAt(clock, s);
    const now = clamp(clock.toT(s), this.run.begin, this.run.end);
    const t = held && share < 0.5 ? now - Math.max(Math.abs(now) * Number.EPSILON, Number.MIN_VALUE) : now;
    this.scene.draw(now, { blow: held ? i : null, share });
    if (this.run.impacts.length) this.lens.draw(now, i, this.run.impacts.find((v) => v.begin > now), share, this.scene.scale);
    this.tell(t, i, held && i ? share : null);
  }
  tell(t, i, share) {
    const clip = this.run.clipAt(t), f = frameAt(clip, t), all = clip.contacts.map((c) => contactAt(c, f));
    const c = i && i.contact >= 0 && this.run.clips[i.clip] === clip ? all[i.contact] : all.reduce((a, b) => (a && Math.abs(a.normal) >= Math.abs(b.normal) ? a : b), null);
    const put = (name, text) => this.rows.has(name) && (this.rows.get(name).textContent = text);
    if (c) {
      const least = 1e-9 * this.run.maxForce;
      const phase = share === null ? (c.phase.tone === "open" ? "apart" : c.phase.text) : share < 0.5 ? "before the blow" : "after the blow";
      put("phase", phase + (all.length > 1 ? ", " + c.contact.name : ""));
      put("normal force", quantity(c.normal, c.contact.forceUnit, least, 4));
      put("friction", quantity(c.friction, c.contact.forceUnit, least, 4));
      put("indentation", c.phase.tone === "open" && c.indentation < -1e-9 ? "apart " + quantity(-c.indentation, c.contact.unit, 1e-12) : quantity(c.indentation, c.contact.unit, 1e-9, 4));
    }
    put("kinetic energy", quantity(valueAt(clip.energy.kinetic, f), "J", 1e-9, 4));
    put("potential energy", quantity(valueAt(clip.energy.potential, f), "J", 1e-9, 4));
    this.tellFormula(c, share !== null);
  }
  // The laws of the contact that acts, and what they say in its phase.
  tellFormula(c, blow) {
    const told = c && this.formulas.find((each) => each.name === c.contact.name);
    const lines = !told ? [] : blow ? told.laws.map((law) => law.formula) : told.phases[c.phase.text] || [];
    const key = told ? told.name + lines.join("|") : "";
    if (key === this.shownFormula) return;
    this.shownFormula = key;
    this.formula.textContent = "";
    lines.forEach((line, k) => this.formula.append(el("p", {}, el("code", {}, line), told.laws[k] ? el("span", {}, " " + told.laws[k].name) : "")));
    if (told) {
      const numbers = told.laws.flatMap((law) => Object.entries(law.numbers).map(([name, value]) => name.replace(/_/g, " ") + " " + minus(value)));
      if (numbers.length) this.formula.append(el("p", { className: "numbers" }, numbers.join(", ")));
    }
  }
}

// All sides, the curves beneath them, and what moves them.
class Stage {
  constructor(curves, changed = () => {}) {
    this.sides = [];
    this.overlay = new Overlay(curves);
    this.curves = curves;
    this.changed = changed;
    this.s = 0;
    this.speed = 1;
    this.playing = false;
    this.amount = 1;
    this.extra = [];  // signals of runs without a picture, and ghosts: { label, tone, dash, signals }
    this.clock = new Clock(0, 1, []);
    this.overlay.show(this.clock, []);
    this.chosen = [];
    this.waiting = false;
    this.drag(curves);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.restyle());
    new ResizeObserver(() => this.restyle()).observe(curves);
  }
  restyle() {
    readTones();
    this.overlay.stale = true;
    this.refresh();
  }
  // After runs have changed: a common clock, at the same instant.
  gather(t = this.t) {
    const runs = this.sides.map((side) => side.run).filter(Boolean), all = this.lines();
    const ends = [...runs.map((r) => [r.begin, r.end]), ...all.flatMap((l) => [...l.signals.values()].slice(0, 1).map((v) => [v.t[0], v.t[v.t.length - 1]]))];
    const begin = Math.min(...ends.map((e) => e[0])), end = Math.max(...ends.map((e) => e[1]));
    const impacts = runs.flatMap((r) => r.impacts).sort((a, b) => a.begin - b.begin);
    this.clock = new Clock(begin, end > begin ? end : begin + 1e-9, impacts);
    this.clock.stretch(this.amount);
    const boxes = runs.map((r) => r.box);
    // Pictures that stand side by side have one scale, and their arrows, too.
    if (boxes.length > 1) {
      for (const size of ["maxForce", "maxImpulse", "maxSpeed"]) {
        const most = Math.max(...runs.map((r) => r[size] || 0));
        for (const r of runs) r[size] = most;
      }
      const all = [0, 1].map((k) => Math.min(...boxes.map((b) => b[k]))).concat([2, 3].map((k) => Math.max(...boxes.map((b) => b[k]))));
      const ways = runs.map((r) => r.way), far = ways.every(Boolean), size = far && Math.max(...ways.map((way) => way.size));
      const [bottom, top] = far ? [Math.min(...ways.map((way) => way.bottom)), Math.max(...ways.map((way) => way.top))] : [];
      for (const r of runs) Object.assign(r, { box: all, way: far ? { ...r.way, size, bottom, top } : null });
    }
    this.s = clamp(this.clock.toS(clamp(t, begin, end)), 0, this.clock.length);
    this.choose(this.chosen);
  }
  get t() {
    return this.clock.toT(this.s);
  }
  // Whose curves there are.
  lines() {
    return [...this.sides.filter((side) => side.signals).map((side) => ({ label: side.label, tone: side.tone, dash: false, signals: side.signals })), ...this.extra];
  }
  names() {
    return [...new Set(this.lines().flatMap((l) => [...l.signals.keys()]))];
  }
  choose(names) {
    this.chosen = names;
    const all = this.lines(), known = names.filter((name) => all.some((l) => l.signals.has(name)));
    this.overlay.show(this.clock, known.map((title) => {
      const own = all.filter((l) => l.signals.has(title));
      return { title, unit: own[0].signals.get(title).unit, lines: own.map((l) => ({ label: l.label, tone: l.tone, dash: l.dash, ...l.signals.get(title) })) };
    }));
    this.refresh();
  }

  refresh() {
    if (this.waiting) return;
    this.waiting = true;
    requestAnimationFrame((now) => this.frame(now));
  }
  frame(now) {
    this.waiting = false;
    if (this.playing) {
      const passed = this.last ? Math.min((now - this.last) / 1000, 0.1) : 0;
      this.s = Math.min(this.s + passed * this.speed, this.clock.length);
      this.last = now;
      if (this.s >= this.clock.length) this.pause();
    }
    this.overlay.draw(this.s);
    for (const side of this.sides) side.draw(this.clock, this.s);
    const t = this.t, text = minus((Math.abs(t) < 1e-12 ? 0 : t).toFixed(6)) + "\u202fs";
    this.curves.setAttribute("aria-valuemin", this.clock.begin.toFixed(6));
    this.curves.setAttribute("aria-valuemax", this.clock.end.toFixed(6));
    this.curves.setAttribute("aria-valuenow", t.toFixed(6));
    this.curves.setAttribute("aria-valuetext", text);
    this.drawn = this.s;
    this.changed(text);
    if (this.playing) this.refresh();
  }
  go(s) {
    this.s = clamp(s, 0, this.clock.length);
    this.refresh();
  }
  play() {
    if (this.s >= this.clock.length) this.s = 0;
    this.playing = true;
    this.last = 0;
    this.refresh();
  }
  pause() {
    this.playing = false;
    this.refresh();
  }
  toggle() {
    if (this.playing) this.pause();
    else this.play();
  }
  jump(way) {
    this.pause();
    const starts = this.clock.windows.map((win) => win.s0);
    const found = way > 0 ? starts.find((s) => s > this.s + 1e-9) : starts.reverse().find((s) => s < this.s - 1e-9);
    if (found !== undefined) this.go(found);
  }
  stretch(amount) {
    const t = this.t;
    this.amount = amount;
    this.clock.stretch(amount);
    this.overlay.stale = true;
    this.go(this.clock.toS(t));
  }
  drag(canvas) {
    let held = null;
    const move = (e) => {
      const box = canvas.getBoundingClientRect();
      this.go(this.overlay.sAt(e.clientX - box.left, box.width));
    };
    canvas.addEventListener("pointerdown", (e) => {
      this.pause();
      held = e.pointerId;
      move(e);
    });
    window.addEventListener("pointermove", (e) => e.pointerId === held && move(e));
    for (const end of ["pointerup", "pointercancel"]) window.addEventListener(end, (e) => e.pointerId === held && (held = null));
  }
  // Keys that every page of several runs has; true if it was one.
  key(e) {
    const step = 0.02;
    const act = {
      " ": () => this.toggle(),
      ArrowRight: () => (e.shiftKey ? this.jump(1) : (this.pause(), this.go(this.s + step))),
      ArrowLeft: () => (e.shiftKey ? this.jump(-1) : (this.pause(), this.go(this.s - step))),
      n: () => this.jump(1), p: () => this.jump(-1),
      Home: () => (this.pause(), this.go(0)), End: () => (this.pause(), this.go(this.clock.length)),
    }[e.key];
    if (act) act();
    return Boolean(act);
  }
}
const typing = (e) => e.ctrlKey || e.metaKey || e.altKey || e.target.matches("input, select, textarea, summary, .scroll, [role=dialog] *") || (e.key === " " && e.target.matches("button:focus-visible, a:focus-visible"));
// A button that was clicked does not keep the space bar, which plays; one that was reached by keyboard does.
document.addEventListener("click", (e) => {
  const button = e.detail > 0 && e.target.closest("button");
  if (button && button === document.activeElement && !button.closest("dialog")) button.blur();
});

// Buttons and sliders of playing, the same on every page.
function playback(stage, host) {
  const button = (label, text, act) => el("button", { type: "button", className: "plain", "aria-label": label, title: label, onclick: act }, icon(text));
  const play = button("Play", "play", () => stage.toggle());
  play.classList.add("main");
  play.id = "play";
  const speed = el("select", { id: "speed", onchange: () => (stage.speed = Number(speed.value)) });
  for (const [value, text] of [["0.1", "× 0.1"], ["0.25", "× ¼"], ["0.5", "× ½"], ["1", "× 1"], ["2", "× 2"], ["4", "× 4"]])
    speed.append(el("option", { value, selected: value === "1" }, text));
  const stretch = el("input", { id: "stretch", type: "range", min: "0", max: "100", value: "100", oninput: () => stage.stretch(Number(stretch.value) / 100) });
  const time = el("output", { className: "time", id: "time" });
  host.append(
    el("div", { className: "buttons-row" }, button("Previous impact", "previous", () => stage.jump(-1)), play, button("Next impact", "next", () => stage.jump(1)), time),
    el("label", {}, "speed ", speed),
    el("label", {}, "stretch impacts ", stretch),
  );
  let shown = "play";
  return (text) => {
    const now = stage.playing ? "pause" : "play";
    time.textContent = text;
    if (now === shown) return;
    shown = now;
    play.replaceChildren(icon(now));
    play.setAttribute("aria-label", stage.playing ? "Pause" : "Play");
    play.title = stage.playing ? "Pause" : "Play";
  };
}
