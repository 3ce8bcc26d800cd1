"use strict";
// One picture of a study: a curve over one parameter, a map over two; the run beneath the pointer in words.
const study = JSON.parse(document.getElementById("study").textContent);
const canvas = document.getElementById("map"), pen = canvas.getContext("2d"), form = document.getElementById("choose");
const names = Object.keys(study.variables), axes = study.axes, room = { left: 78, right: 96, top: 30, bottom: 46 };
const view = { w: 900, h: 520 };  // [px] of the picture
const state = { name: names.find((n) => n !== "time") || names[0], x: Math.max(axes.length - 1, 0), y: axes.length > 1 ? axes.length - 2 : -1, fixed: axes.map(() => 0) };
let spots = [];

const shown = (v) => (typeof v === "number" ? String(+v.toPrecision(7)) : String(v));
const placed = (axis) => (axis.values.every((v) => typeof v === "number") ? axis.values : axis.values.map((_, k) => k));
const good = (run) => study.good.includes(study.outcome[run]);
const unit = (name) => { const u = study.variables[name].unit; return u === "-" || u === "" ? "" : ` [${u}]`; };
const ink = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

function fit() { // as large as the page has room for, at the screen's own resolution
  const ratio = Math.max(window.devicePixelRatio || 1, 1);
  view.w = Math.max(canvas.clientWidth, 260);
  view.h = Math.round(Math.max(0.58 * view.w, 300));
  canvas.style.height = `${view.h}px`;
  canvas.width = view.w * ratio;
  canvas.height = view.h * ratio;
  pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  room.left = view.w < 500 ? 62 : 78;
  room.right = view.w < 500 ? 66 : 96;
}

function runAt(at) { return at.reduce((run, k, d) => run * study.shape[d] + k, 0); }

function colour(share) { // dark blue over green to yellow, as bright as it is large
  const stops = [[68, 1, 84], [59, 82, 139], [33, 145, 140], [94, 201, 98], [253, 231, 37]];
  const at = Math.min(Math.max(share, 0), 1) * (stops.length - 1), k = Math.min(Math.floor(at), stops.length - 2), f = at - k;
  return `rgb(${stops[k].map((c, i) => Math.round(c + f * (stops[k + 1][i] - c))).join(",")})`;
}

function select(words, options, chosen, then) {
  const label = document.createElement("label"), box = document.createElement("select");
  label.append(words, box);
  options.forEach(([value, text]) => box.append(new Option(text, value, false, String(value) === String(chosen))));
  box.addEventListener("change", () => { then(box.value); choices(); draw(); });
  form.append(label);
}

function choices() {
  form.replaceChildren();
  const paths = axes.map((axis, k) => [k, axis.path]);
  select("number", names.map((n) => [n, n + unit(n)]), state.name, (v) => { state.name = v; });
  select("across", paths, state.x, (v) => { if (+v === state.y) state.y = state.x; state.x = +v; });
  if (axes.length > 1) select("up", [[-1, "the number"], ...paths], state.y, (v) => { if (+v === state.x) state.x = state.y < 0 ? (+v + 1) % axes.length : state.y; state.y = +v; });
  if (!study.points) axes.forEach((axis, k) => { if (k !== state.x && k !== state.y) select(axis.path, axis.values.map((v, i) => [i, shown(v)]), state.fixed[k], (v) => { state.fixed[k] = +v; }); });
}

function runs() { // [run, index across, index up]
  if (study.points) return study.outcome.map((_, run) => [run, run, run]);
  const out = [], ups = state.y < 0 ? [0] : axes[state.y].values.keys();
  for (const j of ups) for (const i of axes[state.x].values.keys()) {
    const at = state.fixed.slice();
    at[state.x] = i;
    if (state.y >= 0) at[state.y] = j;
    out.push([runAt(at), i, j]);
  }
  return out;
}

function span(values) {
  const there = values.filter((v) => v !== null);
  let low = there.reduce((a, b) => Math.min(a, b), Infinity), high = there.reduce((a, b) => Math.max(a, b), -Infinity);
  if (!there.length) { low = 0; high = 1; }
  return low === high ? [low - 0.5, high + 0.5] : [low, high];
}

function frame(xs, ys, xTicks, yTicks, xWords, yWords, xName, yName) {
  const box = { x: room.left, y: room.top, w: view.w - room.left - room.right, h: view.h - room.top - room.bottom };
  pen.clearRect(0, 0, view.w, view.h);
  pen.font = "13px system-ui, sans-serif"; pen.fillStyle = ink("--ink"); pen.strokeStyle = ink("--rule");
  pen.strokeRect(box.x, box.y, box.w, box.h);
  const right = (u) => box.x + box.w * (u - xs[0]) / (xs[1] - xs[0]), up = (v) => box.y + box.h - box.h * (v - ys[0]) / (ys[1] - ys[0]);
  for (let k = 0; k <= 4; k++) {
    const u = xTicks[0] + (xTicks[1] - xTicks[0]) * k / 4, v = yTicks[0] + (yTicks[1] - yTicks[0]) * k / 4;
    pen.textAlign = "center";
    if (!xWords) pen.fillText(String(+u.toPrecision(4)), right(u), box.y + box.h + 18);
    pen.textAlign = "right";
    if (!yWords) pen.fillText(String(+v.toPrecision(4)), box.x - 8, up(v) + 4);
  }
  pen.textAlign = "center";
  if (xWords) xWords.forEach((w, k) => pen.fillText(w, right(k), box.y + box.h + 18));
  pen.fillText(state.name + unit(state.name), box.x + box.w / 2, 18);
  pen.fillText(xName, box.x + box.w / 2, view.h - 8);
  pen.textAlign = "right";
  if (yWords) yWords.forEach((w, k) => pen.fillText(w, box.x - 8, up(k) + 4));
  pen.save(); pen.translate(14, box.y + box.h / 2); pen.rotate(-Math.PI / 2); pen.textAlign = "center"; pen.fillText(yName, 0, 0); pen.restore();
  return { box, right, up };
}

const words = (axis) => (axis.values.every((v) => typeof v === "number") ? null : axis.values.map(String));

function cells(values) { // borders of the cell around each value, halfway to its neighbours
  const own = [...new Set(values)].sort((a, b) => a - b), gaps = own.slice(1).map((v, k) => v - own[k]), last = gaps.length - 1;
  if (!gaps.length) gaps.push(1);
  return new Map(own.map((v, k) => [v, [v - gaps[Math.max(k - 1, 0)] / 2, v + gaps[Math.min(k, Math.max(last, 0))] / 2]]));
}

function padded(values) { // a little beyond the outermost points; of a grid, with their whole cells
  const [low, high] = span(values), step = new Set(values).size > 1 ? (high - low) / (new Set(values).size - 1) : 0;
  if (study.points) return [low - step / 2, high + step / 2];
  const borders = [...cells(values).values()].flat();
  return [Math.min(...borders), Math.max(...borders)];
}

function draw() {
  fit();
  const values = study.variables[state.name].values, all = runs(), across = axes[state.x], xs = placed(across);
  const found = all.map(([run]) => values[run]), [low, high] = span(found);
  const flat = state.y < 0 || axes.length < 2, ys = flat ? null : placed(axes[state.y]);
  const plot = frame(padded(xs), flat ? [low, high] : padded(ys), span(xs), flat ? [low, high] : span(ys), words(across), flat ? null : words(axes[state.y]), across.path, flat ? state.name + unit(state.name) : axes[state.y].path);
  spots = [];
  const around = flat || study.points ? null : [cells(xs), cells(ys)];
  all.forEach(([run, i, j]) => {
    const value = values[run], x = plot.right(xs[i]), y = flat ? (value === null ? plot.box.y + plot.box.h : plot.up(value)) : plot.up(ys[j]);
    spots.push([x, y, run]);
    if (flat || study.points) {
      pen.fillStyle = !good(run) ? "#c2342b" : flat ? ink("--ink") : value === null ? "#9aa1a8" : colour((value - low) / (high - low));
      pen.beginPath(); pen.arc(x, y, 3, 0, 7); pen.fill();
      return;
    }
    pen.fillStyle = value === null ? ink("--rule") : colour((value - low) / (high - low));
    const [left, right] = around[0].get(xs[i]).map(plot.right), [below, above] = around[1].get(ys[j]).map(plot.up);
    pen.fillRect(left - 0.3, above - 0.3, right - left + 0.6, below - above + 0.6);
    if (!good(run)) { // struck through: it did not end well
      pen.strokeStyle = "#c2342b"; pen.beginPath(); pen.moveTo(left, below); pen.lineTo(right, above); pen.stroke();
    }
  });
  spots.forEach(([x, y, run]) => { if (run in study.plays) ring(x, flat ? Math.min(y, plot.box.y + plot.box.h) : y); });
  if (flat) return;
  const bar = { x: view.w - room.right + (view.w < 500 ? 8 : 22), y: plot.box.y, h: plot.box.h };
  for (let k = 0; k < 100; k++) { pen.fillStyle = colour(1 - k / 99); pen.fillRect(bar.x, bar.y + bar.h * k / 100, 14, bar.h / 100 + 1); }
  pen.fillStyle = ink("--ink"); pen.textAlign = "left";
  [0, 0.5, 1].forEach((f) => pen.fillText(String(+(low + f * (high - low)).toPrecision(4)), bar.x + 18, bar.y + bar.h * (1 - f) + (f === 1 ? 10 : 0)));
}

function ring(x, y) { // a run that plays: seen on dark and on light
  [["#ffffff", 3.5], ["#111111", 1.5]].forEach(([colour, width]) => { pen.strokeStyle = colour; pen.lineWidth = width; pen.beginPath(); pen.arc(x, y, 5, 0, 7); pen.stroke(); });
  pen.lineWidth = 1;
}

function play(run) { // its report, if the page has it
  const frame = document.getElementById("play"), there = run in study.plays;
  frame.hidden = !there;
  if (there) frame.srcdoc = study.plays[run]; else frame.removeAttribute("srcdoc");
}

function nearest(event) {
  const rect = canvas.getBoundingClientRect(), x = event.clientX - rect.left, y = event.clientY - rect.top;
  let best = null, least = Infinity;
  for (const [u, v, run] of spots) { const far = (u - x) ** 2 + (state.y < 0 && !study.points ? 0 : (v - y) ** 2); if (far < least) { least = far; best = run; } }
  return best;
}

function point(run) { // [path, value] of every parameter
  if (study.points) return axes.map((axis) => [axis.path, axis.values[run]]);
  const at = [];
  for (let d = study.shape.length - 1, left = run; d >= 0; d--) { at.unshift(left % study.shape[d]); left = Math.floor(left / study.shape[d]); }
  return axes.map((axis, d) => [axis.path, axis.values[at[d]]]);
}

function tell(run) { // its values
  const value = study.variables[state.name].values[run], end = good(run) ? "" : `; ${study.words[study.outcome[run]] || "not run yet"}`;
  document.getElementById("told").textContent = `${point(run).map(([p, v]) => `${p} = ${shown(v)}`).join(", ")}: ${state.name} = ${value === null ? "none" : shown(value)}${unit(state.name)}${end}`;
}
function choose(run) { // its command, and the run itself
  const at = study.points ? `point=${run}` : point(run).map(([p, v]) => `${p}=${v}`).join(",");
  document.getElementById("command").textContent = `carom run ${study.store} --at ${at}`;
  play(run);
}
canvas.addEventListener("mousemove", (event) => {
  const run = nearest(event);
  if (run !== null) tell(run);
});
canvas.addEventListener("click", (event) => {
  const run = nearest(event);
  if (run === null) return;
  mark(run);
  choose(run);
});

let marked = null; // the run that keys are at
function mark(run) {
  marked = run;
  draw();
  const spot = spots.find(([, , other]) => other === run);
  if (!spot) return;
  pen.strokeStyle = ink("--ink"); pen.lineWidth = 2;
  pen.strokeRect(spot[0] - 9, spot[1] - 9, 18, 18);
  pen.lineWidth = 1;
}
const WAYS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
function beside([dx, dy]) { // the next run that way: near, and not far to the side
  const [x, y] = spots.find(([, , run]) => run === marked) || [0, 0];
  let best = marked, least = Infinity;
  for (const [u, v, run] of spots) {
    const ahead = (u - x) * dx + (v - y) * dy, off = Math.abs((u - x) * dy) + Math.abs((v - y) * dx);
    const far = ahead + 4 * off;
    if (ahead > 0.5 && far < least) { least = far; best = run; }
  }
  return best;
}
canvas.addEventListener("keydown", (event) => {
  if (!spots.length) return;
  if (event.key === "Enter" && marked !== null) choose(marked);
  else if (event.key in WAYS) {
    mark(marked === null ? spots[0][2] : beside(WAYS[event.key]));
    tell(marked);
  } else return;
  event.preventDefault();
});
choices();
draw();
const again = () => (marked === null ? draw() : mark(marked));
addEventListener("resize", again);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", again);
