// Numbers as people read them, colours, packed arrays.

const $ = (id) => document.getElementById(id);
const clamp = (x, low, high) => Math.min(Math.max(x, low), high);
const mix = (a, b, w) => a + (b - a) * w;

function bytes(text) {
  const raw = atob(text), out = new Uint8Array(raw.length);
  for (let i = 0; i < raw.length; i++) out[i] = raw.charCodeAt(i);
  return out;
}
const floats = (text) => new Float32Array(bytes(text).buffer);
const doubles = (text) => new Float64Array(bytes(text).buffer);

const PREFIX = { "9": "G", "6": "M", "3": "k", "0": "", "-3": "m", "-6": "µ", "-9": "n" };

// The power of ten, a multiple of three, with which a number, written with so many digits, is read best.
function powerOf(value, count = 4) {
  const size = Math.abs(value);
  if (!(size > 0) || !isFinite(size)) return 0;
  return clamp(3 * Math.floor(wholeOf(size, count) / 3), -9, 9);
}
// Of ten: 0.99999, as it is written with four digits, is 1.000.
const wholeOf = (value, count) => Number(value.toExponential(count - 1).split("e")[1]);
const minus = (text) => text.replace("-", "\u2212");

function digits(value, count) {
  if (value === 0) return "0";
  return minus(value.toFixed(clamp(count - 1 - wholeOf(value, count), 0, 12)));
}
// 27.7 kN; below `least` it is nothing.
function quantity(value, unit, least = 0, count = 3) {
  if (!isFinite(value)) return "\u2013";
  if (Math.abs(value) <= least) return "0 " + unit;
  const power = powerOf(value, count);
  return digits(value / Math.pow(10, power), count) + "\u202f" + PREFIX[power] + unit;
}
// In a unit that stays, as in the tables: four digits, and what is far smaller than the largest is nothing.
function inUnit(value, largest, unit) {
  if (!isFinite(value)) return "\u2013";
  const power = powerOf(largest), shown = value / Math.pow(10, power);
  if (!(Math.abs(value) > 1e-9 * largest)) return "0 " + PREFIX[power] + unit;
  return minus(shown.toFixed(clamp(3 - wholeOf(shown, 4), 0, 7))) + "\u202f" + PREFIX[power] + unit;
}
const grouped = (n) => String(Math.round(n)).replace(/\B(?=(\d{3})+$)/g, "\u202f");

// Steps of 1, 2 or 5 times a power of ten, at least `least`.
function niceStep(least) {
  const base = Math.pow(10, Math.floor(Math.log10(least)));
  return [1, 2, 5, 10].map((k) => k * base).find((s) => s >= least * (1 - 1e-9)) || 10 * base;
}

const TONES = ["elastic", "plastic", "restitution", "stick", "slide"];
const toneOf = (phase) => (TONES.includes(phase.tone) ? phase.tone : "other");

let tones = {};
function readTones() {
  const style = getComputedStyle(document.documentElement);
  tones = {};
  for (const name of ["paper", "card", "ink", "soft", "faint", "rule", "accent", "force", "speed", "link", "link-fill", "pin",
    "ground", "trace", "elastic", "plastic", "restitution", "stick", "slide", "other", "kinetic", "potential", "taken"])
    tones[name] = style.getPropertyValue("--" + name).trim();
  tones.font = getComputedStyle(document.body).fontFamily;
}

// A canvas at the screen's own resolution; size in CSS pixels.
function fitted(canvas) {
  const ratio = Math.max(window.devicePixelRatio || 1, 1), box = canvas.getBoundingClientRect();
  const w = Math.max(Math.round(box.width), 1), h = Math.max(Math.round(box.height), 1);
  if (canvas.width !== Math.round(w * ratio) || canvas.height !== Math.round(h * ratio)) {
    canvas.width = Math.round(w * ratio);
    canvas.height = Math.round(h * ratio);
  }
  const ctx = canvas.getContext("2d");
  ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
  ctx.clearRect(0, 0, w, h);
  return { ctx, w, h, ratio };
}
function write(ctx, text, x, y, tone, size = 12, align = "left", weight = 400) {
  ctx.font = weight + " " + size + "px " + tones.font;
  ctx.textAlign = align;
  ctx.fillStyle = tone;
  ctx.fillText(text, x, y);
}
function arrow(ctx, x, y, dx, dy, tone, width) {
  const size = Math.hypot(dx, dy);
  if (size < 1) return;
  const ux = dx / size, uy = dy / size, head = Math.min(4 + 2.2 * width, size), wing = head * 0.45;
  ctx.strokeStyle = ctx.fillStyle = tone;
  ctx.lineWidth = width;
  ctx.lineCap = "butt";
  ctx.beginPath();
  ctx.moveTo(x, y);
  ctx.lineTo(x + dx - 0.8 * head * ux, y + dy - 0.8 * head * uy);
  ctx.stroke();
  ctx.beginPath();
  ctx.moveTo(x + dx, y + dy);
  ctx.lineTo(x + dx - head * ux - wing * uy, y + dy - head * uy + wing * ux);
  ctx.lineTo(x + dx - head * ux + wing * uy, y + dy - head * uy - wing * ux);
  ctx.closePath();
  ctx.fill();
}
