// How the page begins, and what tests and the console see of it.

function legend() {
  // One entry for every look: words that share a colour share an entry.
  const seen = new Map();
  for (const span of scope.spans) {
    const name = { slide: "sliding", stick: "sticking" }[span.tone] || span.phase.word, look = (span.stands ? "stands " : "strikes ") + span.tone;
    if (!seen.has(look)) seen.set(look, { tone: span.tone, stands: span.stands, names: new Set() });
    seen.get(look).names.add(name);
  }
  const box = $("legend");
  box.textContent = "";
  const entries = [...seen.values()].sort((a, b) => a.stands - b.stands);
  for (const { tone, stands, names } of entries) {
    const one = document.createElement("span"), swatch = document.createElement("i");
    swatch.style.background = tones[tone];
    swatch.classList.toggle("stands", stands);
    one.append(swatch, (stands ? "stance: " : "strike: ") + [...names].join(", "));
    box.append(one, " ");
  }
}
function restyle() {
  readTones();
  scope.stale = true;
  legend();
  refresh();
}
if (!run.impacts.length) {
  $("lens-box").hidden = true;
  document.querySelector(".beside").classList.add("bare");
  for (const id of ["next", "previous", "stretch", "see-one"]) $(id).disabled = true;
}
if (!run.impacts.length) document.querySelectorAll(".strikes").forEach((e) => (e.hidden = true));
if (!run.names.length && !run.impacts.length) document.querySelectorAll(".met").forEach((e) => (e.hidden = true));
if (!run.names.length) document.querySelectorAll(".touch").forEach((e) => (e.hidden = true));
if (!run.clips.every((c) => c.energy.ledger)) $("r-taken").closest("div").hidden = true;
$("curves").style.height = (1.5 + 5.9 * scope.panels.length) + "rem";
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", restyle);
new ResizeObserver(() => {
  LEFT = innerWidth < 600 ? 38 : 54;
  scope.stale = true;
  refresh();
}).observe($("scene"));
restyle();

// For tests and for the console.
window.carom = {
  time: () => clock.toT(state.s),
  show: () => state.s,
  drawn: () => state.drawn,
  length: () => clock.length,
  playing: () => state.playing,
  play, pause,
  next: () => jump(1),
  previous: () => jump(-1),
  seek: (t) => go(clock.toS(t)),
  goto: (s) => go(s),
  stretch: (x) => (($("stretch").value = String(100 * x)), stretch(x)),
  share: (n) => {
    const win = clock.windows.find((w) => w.impacts.some((i) => i.number === n));
    return win ? (win.s1 - win.s0) / clock.length : 0;
  },
  window: (n) => {
    const win = clock.windows.find((w) => w.impacts.some((i) => i.number === n));
    return win && [win.s0, win.s1];
  },
  impacts: run.impacts,
  range: () => scope.range.slice(),
  breaks: () => clock.breaks.map((mark) => mark.s),
  x: (s) => scope.x(s, $("curves").clientWidth),
  heading: (y) => !scope.panels.some((p, k) => {
    const { top, tall } = scope.frame(k, $("curves").clientHeight);
    return y > top + 5 && y < top + tall - 5;
  }),
  labels: () => scene.taken.filter((box) => box.text),
  hidden: () => scene.crowded,
  place: (x, y) => scene.px([x, y]),
  lines: () => [...new Set(scope.panels[0].lines.map((line) => line.name))].sort((a, b) => a.endsWith("others") - b.endsWith("others") || (a < b ? -1 : 1)),
};
