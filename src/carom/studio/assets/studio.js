// The studio: what is asked of the server and what it tells.

const PATIENT = 1000;  // [ms] for which an answer is waited for before something newer is asked for
const SETTLED = 300;  // [ms] after the last change all frames are asked for

readTones();
const stage = new Stage($("overlay"), (text) => tellTime(text));
const tellTime = playback(stage, $("transport"));
const mainSide = new Side($("sides"), "accent", StudioScene), otherSide = new Side($("sides"), "force", StudioScene);
stage.sides = [mainSide];
otherSide.box.hidden = true;
const controls = new Controls($("controls"), changed);

const desk = { changes: {}, beside: null, number: 0, open: null, again: false, last: null, timer: 0, gesture: false, laws: {}, now: {}, started: false, count: 0, spent: 0 };
let socket = null, live = false;

// -- talking ----------------------------------------------------------------------------------------------------------

function connect() {
  socket = new WebSocket((location.protocol === "https:" ? "wss://" : "ws://") + location.host + "/socket");
  socket.onopen = () => (live = true);
  socket.onmessage = (e) => heard(JSON.parse(e.data));
  socket.onclose = () => {
    if (live) cover("The studio has ended.", "Start carom studio again; what was written or saved stays.");
    else cover("No answer.", "The studio does not answer; start carom studio again.");
    live = false;
  };
}
function ask(kind, more = {}) {
  if (!live) return;
  desk.number += 1;
  socket.send(JSON.stringify({ ask: kind, number: desk.number, ...more }));
}
function run(quick) {
  if (!quick) settle();
  const waits = desk.open !== null && performance.now() - desk.asked < PATIENT;
  if (waits) {
    desk.again = { quick: quick && (!desk.again || desk.again.quick) };
    return;
  }
  desk.again = false;
  ask("run", { changes: desk.changes, beside: desk.beside, quick });
  desk.open = desk.number;
  desk.asked = performance.now();
  clearTimeout(desk.late);
  desk.late = setTimeout(() => desk.again && run(desk.again.quick), PATIENT);
}
// No run with all frames is still to be asked for.
function settle() {
  clearTimeout(desk.timer);
  desk.timer = 0;
}
// Another scenario: what was changed in this one is run before, not after it.
function leave(kind, more) {
  if (desk.timer || desk.again) {
    desk.open = null;
    run(false);
  }
  ask(kind, more);
}
function answered(number) {
  if (desk.open === null || number < desk.open) return;
  desk.open = null;
  desk.words = "";
  $("work").hidden = true;
  if (desk.again) run(desk.again.quick);
}

function heard(m) {
  ({ scenario: showScenario, run: showRun, refused: showRefused, working: showWork, text: showText, file: showFile, stopped: showStopped,
    busy: () => cover("This studio is open in another tab.", "One page at a time drives it.", "Use it here", () => ask("take")),
    taken: () => cover("This studio is now used in another tab.", "One page at a time drives it.", "Use it here again", () => ask("take")) })[m.tell](m);
}
function say(words, kind = "") {
  const box = $("status");
  box.textContent = words;
  box.className = "status " + kind;
}

// -- what is told -----------------------------------------------------------------------------------------------------

function showScenario(m) {
  uncover();
  Object.assign(desk, { changes: m.changes, beside: m.beside, laws: m.laws, now: m.now });
  $("title").textContent = m.title;
  document.title = m.title + " – carom studio";
  $("about").textContent = m.about;
  $("where").textContent = m.file || m.name;
  $("file-news").hidden = true;
  const known = [...$("scenario").options].some((o) => o.value === m.name);
  $("scenario").value = known && !m.file ? m.name : "";
  controls.show(m.controls, m.changes, m.beside);
  lawChoices(m);
  desk.fresh = m.number;
  desk.open = m.number;
  desk.asked = performance.now();
}
function lawChoices(m) {
  const fill = (select, empty) => {
    select.textContent = "";
    if (empty) select.append(el("option", { value: "" }, empty));
    for (const path of Object.keys(m.laws)) {
      const group = el("optgroup", { label: path.replace("contacts.", "") });
      for (const law of Object.keys(m.laws[path])) group.append(el("option", { value: path + " " + law }, law + (m.now[path] === law ? " (now)" : "")));
      select.append(group);
    }
  };
  fill($("law"), "change a law …");
  fill($("beside"), "nothing");
  const other = m.beside && Object.entries(m.beside).find(([, v]) => typeof v === "object");
  if (other) $("beside").value = other[0] + " " + other[1].law;
  $("laws").hidden = !Object.keys(m.laws).length;
}
function showRun(m) {
  const side = m.side ? otherSide : mainSide, fresh = desk.fresh === m.number, before = side.run, t = stage.t;
  if (!m.quick && m.number === desk.number) desk.gesture = false;
  const label = m.side ? "beside: " + lawName() : m.finished ? sideName() : sideName() + " (ended early)";
  side.load(m.data, label, m.formulas);
  side.handles = m.side ? [] : m.handles;
  side.signals = signalsOf(side.run);
  if (fresh) side.ghost = null;
  if (before && !fresh && side.ghost) steady(side.run, before);
  otherSide.box.hidden = !desk.beside;
  stage.sides = desk.beside && otherSide.run ? [mainSide, otherSide] : [mainSide];
  if (!desk.beside) otherSide.run = null;
  stage.extra = mainSide.ghost ? [{ label: "before", tone: "soft", dash: true, signals: mainSide.ghostSignals }] : [];
  if (fresh && !m.side) {
    stage.chosen = firstSignals();
    stage.gather(side.run.begin);
    desk.started = true;
  } else stage.gather(t);
  signalBoxes();
  $("hint").hidden = !mainSide.handles || !mainSide.handles.length;
  desk.count += 1;
  $("sides").classList.toggle("single", stage.sides.length === 1);
  if (!m.quick) {
    side.story = m.story;
    side.warnings = m.warnings;
    tellStory();
  }
  if (!m.last) return;
  desk.spent = m.spent;
  say(m.finished ? "Ran in " + quantity(m.spent, "s", 0, 2) + "." : "The run ended early: " + m.outcome, m.finished ? "" : "warn");
  if (fresh) {
    desk.fresh = null;
    if (m.quick) run(false);
  }
  answered(m.number);
}
function tellStory() {
  const box = $("story"), several = stage.sides.length > 1;
  box.textContent = "";
  for (const side of stage.sides) {
    if (side.story) box.append(el("p", {}, several ? el("b", {}, side.label + ": ") : "", side.story.join(" ")));
    if (side.warnings && side.warnings.length) box.append(el("p", { className: "warn-words" }, side.warnings.join(" ")));
  }
}
// Pictures that change their scale at every move cannot be compared.
function steady(next, before) {
  const size = (b) => Math.max(b[2] - b[0], b[3] - b[1]);
  const all = [Math.min(next.box[0], before.box[0]), Math.min(next.box[1], before.box[1]), Math.max(next.box[2], before.box[2]), Math.max(next.box[3], before.box[3])];
  if (size(all) < 2 * size(next.box)) next.box = all;
}
const lawName = () => {
  const found = desk.beside && Object.values(desk.beside).find((v) => typeof v === "object");
  return found ? found.law : "other numbers";
};
const sideName = () => {
  const other = desk.beside && Object.entries(desk.beside).find(([, v]) => typeof v === "object");
  return other ? desk.now[other[0]] : "now";
};
// An angle, else a place, that changes; a force; the energy.
function firstSignals() {
  const names = [...mainSide.signals.keys()], bodies = mainSide.run.clips[0].links.every((l) => l.kind === "disk");
  const changes = (n) => {
    const y = mainSide.signals.get(n).y, most = y.reduce((a, v) => Math.max(a, v), -Infinity), least = y.reduce((a, v) => Math.min(a, v), Infinity);
    return most - least > 1e-6 * Math.max(Math.abs(most), Math.abs(least));
  };
  const first = (kind) => names.find((n) => kind.test(n) && changes(n));
  const motion = [/^angle/, /^y of the tip/, /^x of the tip/].slice(bodies ? 1 : 0).map(first).find(Boolean);
  return [motion, first(/^normal force/) || names.find((n) => /^normal force/.test(n)), "kinetic energy"].filter(Boolean);
}
function signalBoxes() {
  const names = stage.names(), box = $("signals");
  if (box.dataset.names === names.join("|")) return;
  box.dataset.names = names.join("|");
  box.querySelectorAll("label").forEach((label) => label.remove());
  for (const name of names) {
    const tick = el("input", { type: "checkbox", checked: stage.chosen.includes(name), onchange: () => stage.choose(names.filter((n) => n === name ? tick.checked : stage.chosen.includes(n))) });
    box.append(el("label", {}, tick, name));
  }
}
function showRefused(m) {
  say(m.words, "bad");
  desk.gesture = false;
  if (desk.fresh === m.number) desk.fresh = null;
  answered(m.number);
  if (!desk.started) cover("This cannot be shown.", m.words, "Show ball-drop instead", () => (uncover(), open("ball-drop")));
}
function showStopped(m) {
  settle();
  desk.open = null;
  desk.again = false;
  $("work").hidden = true;
  say("Stopped; what was shown before stays.");
}
// What takes long is told, with how long it has taken; what was shown before stays.
setInterval(() => {
  const spent = desk.open === null ? 0 : performance.now() - desk.asked;
  $("work").hidden = !(spent > PATIENT);
  if (spent > PATIENT) $("work-words").textContent = (desk.words || "computing") + ", " + Math.round(spent / 1000) + " s so far" + (desk.started ? "; what is shown is the run before" : "");
}, 400);
function showWork(m) {
  desk.words = m.words;
  const bar = $("work-share");
  if (m.share === null) bar.removeAttribute("value");
  else bar.value = m.share;
}
function showFile(m) {
  $("file-news").hidden = false;
  $("file-words").textContent = m.words;
}
function showText(m) {
  const python = m.kind === "python";
  $("text-title").textContent = python ? "As Python" : "As TOML";
  $("text").value = m.text;
  $("text-save").onclick = () => {
    const link = el("a", { download: ($("where").textContent.split(/[\\/]/).pop().replace(/\.toml$/, "") || "scenario") + (python ? ".py" : ".toml") });
    link.href = URL.createObjectURL(new Blob([m.text], { type: "text/plain" }));
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  };
  $("text-copied").textContent = "";
  $("text-box").showModal();
}
function cover(title, words, button, act) {
  $("cover-title").textContent = title;
  $("cover-words").textContent = words;
  $("cover-act").hidden = !button;
  $("cover-act").textContent = button || "";
  $("cover-act").onclick = act;
  if (!$("cover").open) $("cover").showModal();
}
function uncover() {
  if ($("cover").open) $("cover").close();
}

// -- what is asked ----------------------------------------------------------------------------------------------------

function keepGhost() {
  if (desk.gesture || !mainSide.run) return;
  desk.gesture = true;
  for (const side of [mainSide, otherSide]) {
    side.ghost = side.run;
    side.ghostSignals = side.signals;
  }
}
function changed(control, value, side, done) {
  if (value === null) {
    say(control.group + ", " + control.name + " must be a number; what is shown stays", "bad");
    return;
  }
  keepGhost();
  const own = side ? desk.beside : desk.changes;
  own[control.path] = value;
  run(true);
  clearTimeout(desk.timer);
  desk.timer = setTimeout(() => run(false), done ? 30 : SETTLED);
}
function look() {
  settle();
  desk.again = false;
  ask("look", { changes: desk.changes, beside: desk.beside, quick: false });
}
function open(name) {
  leave("open", { name });
  say("Opening " + name + " …");
}
$("scenario").onchange = (e) => e.target.value && open(e.target.value);
$("law").onchange = (e) => {
  const [path, law] = split(e.target.value);
  if (!path) return;
  keepGhost();
  for (const key of Object.keys(desk.changes)) if (key.startsWith(path + ".")) delete desk.changes[key];
  delete desk.changes[path];
  desk.changes[path] = desk.laws[path][law];
  look();
};
$("beside").onchange = (e) => {
  const [path, law] = split(e.target.value);
  desk.beside = path ? { [path]: desk.laws[path][law] } : null;
  look();
};
const split = (value) => [value.slice(0, value.lastIndexOf(" ")), value.slice(value.lastIndexOf(" ") + 1)];
$("reset").onclick = () => {
  desk.changes = {};
  desk.beside = null;
  keepGhost();
  look();
};
const upload = (name, text) => (say("Reading " + name + " …"), leave("upload", { name, text }));
async function take(file) {
  if (!file) return;
  if (file.size > 4e6) say(file.name + " has " + file.size + " bytes; no scenario is that long", "bad");
  else upload(file.name, await file.text());
}
$("file").onchange = async (e) => {
  await take(e.target.files[0]);
  e.target.value = "";
};
$("file-button").onclick = () => $("file").click();
document.addEventListener("dragover", (e) => e.preventDefault());
document.addEventListener("drop", (e) => {
  e.preventDefault();
  take(e.dataTransfer.files[0]);
});
$("reload").onclick = () => leave("reload");
$("keep").onclick = () => ($("file-news").hidden = true);
$("toml").onclick = () => ask("toml");
$("python").onclick = () => ask("python");
$("stop").onclick = () => ask("stop");
$("text-shut").onclick = () => $("text-box").close();
$("text-copy").onclick = async () => {
  try {
    await navigator.clipboard.writeText($("text").value);
  } catch {
    $("text").select();
    document.execCommand("copy");
  }
  $("text-copied").textContent = "Copied.";
};
$("cover").addEventListener("cancel", (e) => e.preventDefault());
takeable(mainSide, () => stage.s <= 1e-9, () => (stage.pause(), stage.go(0), say("The start is shown: now drag a link.")), (path, value, done) => controls.set(path, value, done), (path) => controls.value(path));

// -- lecture mode, keys -----------------------------------------------------------------------------------------------

function lecture(on = !document.body.classList.contains("lecture")) {
  document.body.classList.toggle("lecture", on);
  $("lecture").setAttribute("aria-pressed", String(on));
  if (on && document.documentElement.requestFullscreen) document.documentElement.requestFullscreen().catch(() => {});
  else if (!on && document.fullscreenElement) document.exitFullscreen();
  stage.restyle();
}
function panel(on = document.body.classList.contains("bare")) {
  document.body.classList.toggle("bare", !on);
  stage.restyle();
}
$("lecture").onclick = () => lecture();
document.addEventListener("fullscreenchange", () => !document.fullscreenElement && document.body.classList.contains("lecture") && lecture(false));
document.addEventListener("keydown", (e) => {
  if (typing(e) || document.querySelector("dialog[open]")) return;
  const act = { l: () => lecture(), s: () => panel(), Escape: () => document.body.classList.contains("lecture") && lecture(false) }[e.key];
  if (act) act();
  if (act || stage.key(e)) e.preventDefault();
});

if (location.search) history.replaceState(null, "", "/");  // the key is worth nothing any more
connect();

// For tests and for the console.
window.studio = { desk, stage, upload, controls, mainSide, otherSide, live: () => live, time: () => stage.t, set: (path, value) => controls.set(path, value, true), idle: () => desk.open === null && !desk.again && !desk.timer && !desk.gesture };
