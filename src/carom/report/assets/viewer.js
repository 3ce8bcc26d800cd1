// The viewer: where the show stands, and everything that moves it.

readTones();
const run = new Run(JSON.parse($("carom-data").textContent));
const clock = new Clock(run.begin, run.end, run.impacts);
const scene = new Scene(run, $("scene"));
const lens = new Lens(run, $("lens"), $("lens-text"));
const scope = new Scope(run, clock, $("axis"), $("curves"));
const calm = matchMedia("(prefers-reduced-motion: reduce)");
const STEP = 0.02;  // [s] of show for one step

const state = { s: 0, playing: false, speed: 1, one: false, aim: [0, clock.length], last: 0 };

// -- what the cursor is at ------------------------------------------------------------------------------------------------

function impactAt(s) {
  const win = clock.partAt(s).window;
  if (!win) return null;
  const t = clock.toT(s), clip = run.clipAt(t), f = frameAt(clip, t);
  const open = win.impacts.filter((i) => i.begin <= t && t <= i.end);
  if (open.length > 1) {
    const push = (i) => (run.clips[i.clip] === clip && i.contact >= 0 ? Math.abs(valueAt(clip.contacts[i.contact].normal, f)) : 0);
    return open.reduce((a, b) => (push(b) > push(a) ? b : a));
  }
  return open[0] || win.impacts.reduce((a, b) => (away(b, t) < away(a, t) ? b : a));
}
const away = (i, t) => Math.max(i.begin - t, t - i.end, 0);
const nextImpact = (t) => run.impacts.find((i) => i.begin > t);

// The contact whose numbers are shown: the one that is struck, else the one that is pushed hardest.
function shownContact(t, i) {
  const clip = run.clipAt(t), f = frameAt(clip, t);
  if (i && i.contact < 0) return null;
  if (i && run.clips[i.clip] === clip) return contactAt(clip.contacts[i.contact], f);
  const all = clip.contacts.map((c) => contactAt(c, f));
  return all.reduce((a, b) => (a && Math.abs(a.normal) >= Math.abs(b.normal) ? a : b), null);
}

// -- drawing --------------------------------------------------------------------------------------------------------------

function draw() {
  const t = clock.toT(state.s), part = clock.partAt(state.s), i = impactAt(state.s);
  const share = part.s1 > part.s0 ? (state.s - part.s0) / (part.s1 - part.s0) : 0;
  const held = part.window && part.t0 === part.t1;
  // Time stands still in a blow: the first half of the pause shows what was before it.
  const seen = held && share < 0.5 ? t - Math.max(Math.abs(t) * Number.EPSILON, Number.MIN_VALUE) : t;
  scene.draw(t, { blow: held ? i : null, share });
  if (run.impacts.length) lens.draw(t, i, nextImpact(t), share, scene.scale);
  scope.drawAxis(state.s);
  scope.drawCurves(state.s, seen);
  tell(seen, i, held, share);
  state.drawn = state.s;
}

function tell(t, i, held, share) {
  const places = clamp(Math.ceil(-Math.log10((run.end - run.begin) / 1e3)), 3, 6);
  const since = i && i.end > i.begin ? t - i.begin : 0;
  const shown = Math.abs(t) < 1e-12 ? 0 : t;  // no minus before a zero
  $("r-time").textContent = minus(shown.toFixed(i ? 7 : places)) + "\u202fs";
  const c = shownContact(t, i), clip = run.clipAt(t), f = frameAt(clip, t);
  let phase = c ? c.phase.text : "no contact";
  if (held) phase = share < 0.5 ? "before the blow" : "after the blow";
  else if (c && c.phase.tone === "open") phase = "apart";
  $("r-phase").textContent = phase + (run.names.length > 1 && c ? ", " + c.contact.name : "");
  $("r-phase").title = $("r-phase").textContent;
  $("r-where").textContent = !i ? "\u2013" : i.number + " of " + run.impacts.length + (i.end > i.begin ? ", " + (since < 0 ? "" : "+") + quantity(since, "s", 1e-12) : "");
  $("r-swatch").style.background = !c || c.phase.tone === "open" ? "var(--rule)" : tones[toneOf(c.phase)];
  if (c) {
    $("r-force").textContent = inUnit(c.normal, run.maxForce, c.contact.forceUnit);
    $("r-friction").textContent = inUnit(c.friction, run.maxForce, c.contact.forceUnit);
    $("r-depth").textContent = c.indentation > -1e-9 || c.phase.tone !== "open" ? inUnit(Math.abs(c.indentation) < 1e-9 ? 0 : c.indentation, run.deep ? run.maxDepth : 1, c.contact.unit) : "apart " + quantity(-c.indentation, c.contact.unit, 1e-12);
    const rate = held ? -(share < 0.5 ? i.before : i.after)[0] : c.rate;
    $("r-rate").textContent = inUnit(Math.abs(rate) <= 1e-9 * run.maxRate ? 0 : rate, 1, c.contact.unit + "/s");
  } else for (const name of ["force", "friction", "depth", "rate"]) $("r-" + name).textContent = "\u2013";
  for (const name of ["kinetic", "potential", "taken"]) $("r-" + name).textContent = inUnit(valueAt(clip.energy[name], f), run.maxEnergy[name], "J");
  const pace = clock.pace(state.s) / state.speed;
  $("r-pace").textContent = !isFinite(pace) ? "held" : Math.abs(pace - 1) < 0.05 ? "real time" : pace > 1 ? "1\u202f:\u202f" + (pace < 10 ? Number(pace.toPrecision(2)) : grouped(Number(pace.toPrecision(2)))) : "×\u202f" + Number((1 / pace).toPrecision(2));
  const axis = $("axis");
  axis.setAttribute("aria-valuemax", run.end.toFixed(3));
  axis.setAttribute("aria-valuenow", shown.toFixed(6));
  axis.setAttribute("aria-valuetext", shown.toFixed(6) + " s, " + $("r-phase").textContent);
  const current = document.querySelector("tr.current"), row = i && document.querySelector('[data-impact="' + i.number + '"]');
  if (current && (!row || current !== row.closest("tr"))) current.classList.remove("current");
  if (row) row.closest("tr").classList.add("current");
}

// -- moving ---------------------------------------------------------------------------------------------------------------

let waiting = false;
function refresh() {
  if (waiting) return;
  waiting = true;
  requestAnimationFrame(frame);
}
function frame(now) {
  waiting = false;
  if (state.playing) {
    const passed = state.last ? Math.min((now - state.last) / 1000, 0.1) : 0;
    state.s = Math.min(state.s + passed * state.speed, clock.length);
    state.last = now;
    if (state.s >= clock.length) pause();
  }
  if (state.one) follow();
  const gone = glide();
  draw();
  if (state.playing || !gone) refresh();
}
function go(s) {
  state.s = clamp(s, 0, clock.length);
  refresh();
}
function play() {
  if (state.s >= clock.length) state.s = 0;
  state.playing = true;
  state.last = 0;
  sign();
  refresh();
}
function pause() {
  state.playing = false;
  sign();
  refresh();
}
function sign() {
  $("play").classList.toggle("running", state.playing);
  $("play").setAttribute("aria-label", state.playing ? "Pause" : "Play");
}

// From impact to impact; the window opens.
function jump(way) {
  const places = run.impacts.map((i) => ({ i, s: placeOf(i) }));
  const found = way > 0 ? places.find((p) => p.s > state.s + 1e-9) : places.reverse().find((p) => p.s < state.s - 1e-9);
  if (found) show(found.i);
}
const placeOf = (i) => clock.toS(i.begin);
function show(i) {
  pause();
  if (clock.amount > 0.2 && i.end > i.begin) view(true);
  go(placeOf(i));
}

// -- range of the curves --------------------------------------------------------------------------------------------------

function view(one) {
  state.one = one && clock.windows.length > 0;
  $("see-one").setAttribute("aria-pressed", String(state.one));
  $("see-all").setAttribute("aria-pressed", String(!state.one));
  if (!state.one) state.aim = [0, clock.length];
  refresh();
}
// The window at the cursor with a little of what is around it; in a long flight, the flight; a short one belongs to the
// window to which it leads.
function follow() {
  const here = clock.partAt(state.s), next = clock.parts[clock.parts.indexOf(here) + 1];
  const short = !here.window && next && next.window && here.s1 - here.s0 < 0.4 * (next.s1 - next.s0);
  const part = short ? next : here, wide = Math.max(part.s1 - part.s0, 0.3), around = part.window ? 0.07 * wide : 0.04 * wide;
  const from = short ? here.s0 : part.s0 - around;
  state.aim = [Math.max(Math.min(from, part.s0 - around), 0), Math.min(part.s1 + around, clock.length)];
}
// Towards the wanted range; at once for those who want no motion.
function glide() {
  const [a, b] = scope.range, [c, d] = state.aim, close = 1e-3 * (d - c);
  if (Math.abs(a - c) < 1e-12 && Math.abs(b - d) < 1e-12) return true;
  const done = calm.matches || (Math.abs(a - c) < close && Math.abs(b - d) < close);
  scope.range = done ? [c, d] : [mix(a, c, 0.28), mix(b, d, 0.28)];
  scope.stale = true;
  return done;
}

function stretch(amount) {
  const t = clock.toT(state.s), part = clock.partAt(state.s), share = part.s1 > part.s0 ? (state.s - part.s0) / (part.s1 - part.s0) : 0;
  clock.stretch(amount);
  state.s = part.t1 === part.t0 ? mix(part.s0, part.s1, share) : clock.toS(t);
  if (!state.one) state.aim = [0, clock.length];
  else follow();
  scope.range = state.aim;
  scope.stale = true;
  refresh();
}
