// The page of a comparison: sides in step, and the curves that are chosen.

readTones();
const told = JSON.parse($("compared").textContent);
const stage = new Stage($("overlay"), (text) => tellTime(text));
const tellTime = playback(stage, $("transport"));
told.sides.forEach((given, k) => {
  const side = new Side($("sides"), LINE_TONES[k % LINE_TONES.length]), t = doubles(given.t);
  side.load(given.viewer, given.label, []);
  side.formula.hidden = true;
  side.signals = new Map(given.signals.map((s) => [s.name, { unit: s.unit, t, y: floats(s.y) }]));
  stage.sides.push(side);
});
stage.chosen = told.chosen;
stage.gather(Math.min(...stage.sides.map((side) => [...side.signals.values()][0].t[0])));
const names = stage.names();
for (const name of names) {
  const tick = el("input", { type: "checkbox", checked: told.chosen.includes(name), onchange: () => stage.choose(names.filter((n) => (n === name ? tick.checked : stage.chosen.includes(n)))) });
  $("signals").append(el("label", {}, tick, name));
}
document.addEventListener("keydown", (e) => {
  if (!typing(e) && stage.key(e)) e.preventDefault();
});

// For tests and for the console.
window.comparison = { stage, time: () => stage.t };
