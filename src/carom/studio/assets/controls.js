// Sliders and number fields for the numbers of a scenario, in groups.

const STEPS = 1000;

// A number with as many digits as a slider can mean.
function rounded(value, c) {
  if (c.whole) return Math.round(value);
  if (value === 0) return 0;
  if (c.powers) return Number(value.toPrecision(3));
  const step = Math.pow(10, Math.floor(Math.log10((c.high - c.low) / STEPS)));
  return Number((Math.round(value / step) * step).toPrecision(12));
}
const atPlace = (place, c) => (c.powers ? c.low * Math.pow(c.high / c.low, place / STEPS) : mix(c.low, c.high, place / STEPS));
const placeOf = (value, c) => {
  const share = c.powers ? (value > 0 ? Math.log(value / c.low) / Math.log(c.high / c.low) : 0) : (value - c.low) / (c.high - c.low);
  return Math.round(STEPS * clamp(isFinite(share) ? share : 0, 0, 1));
};
// As many digits as a field shows; the number itself stays as it is until it is changed.
const plainNumber = (full) => plainDigits(Number(full.toPrecision(8)));
const plainDigits = (value) => (Math.abs(value) >= 1e6 || (value !== 0 && Math.abs(value) < 1e-4) ? value.toExponential().replace("e+", "e") : String(value));

class Controls {
  // `changed(control, value, done)`: while a slider moves, and when it is let go.
  constructor(host, changed) {
    this.host = host;
    this.changed = changed;
    this.all = new Map();
    this.open = new Set(["start", "run"]);
  }

  // `lists`: controls of the scenario, and of the law beside it.
  show(lists, changes, beside) {
    for (const group of this.host.querySelectorAll("details")) {
      if (group.open) this.open.add(group.dataset.name);
      else this.open.delete(group.dataset.name);
    }
    const focused = document.activeElement && document.activeElement.id;
    this.host.textContent = "";
    this.all = new Map();
    lists.forEach((list, side) => {
      const groups = new Map();
      for (const c of list) groups.set(c.group, [...(groups.get(c.group) || []), c]);
      for (const [name, controls] of groups) {
        const key = side + name, box = el("details", { open: side > 0 || this.open.has(key) || this.open.has(name) || /^contacts/.test(name) });
        box.dataset.name = key;
        box.append(el("summary", {}, (side ? "beside: " : "") + name, el("span", {}, " " + controls.length)));
        for (const c of controls) box.append(this.row(c, side, (side ? beside : changes) || {}));
        this.host.append(box);
      }
    });
    if (focused && document.getElementById(focused)) document.getElementById(focused).focus({ preventScroll: true });
  }

  row(c, side, changes) {
    const key = side + c.path, id = "c-" + side + "-" + c.path.replace(/[^\w]/g, "-");
    const slider = el("input", { type: "range", min: "0", max: String(STEPS), step: "1", id, value: String(placeOf(c.value, c)) });
    const field = el("input", { type: "text", inputMode: "decimal", autocomplete: "off", spellcheck: false, value: plainNumber(c.value), id: id + "-n" });
    const back = el("button", { type: "button", className: "back", title: "as in the file", "aria-label": "Set " + c.group + ", " + c.name + " back" }, "↺");
    field.setAttribute("aria-label", c.group + ", " + c.name + ", exact");
    const entry = { c, side, slider, field, back, first: c.value, now: c.value, row: null };
    const set = (value, done) => {
      this.put(entry, value);
      this.changed(c, value, side, done);
    };
    slider.addEventListener("input", () => set(rounded(atPlace(Number(slider.value), c), c), false));
    slider.addEventListener("change", () => this.changed(c, entry.now, side, true));
    field.addEventListener("change", () => {
      const text = field.value.trim().replace(",", ".").replace("\u2212", "-"), value = Number(text);
      field.setAttribute("aria-invalid", String(!text || !isFinite(value)));
      if (text && isFinite(value)) set(c.whole ? Math.round(value) : value, true);
      else this.changed(c, null, side, true);
    });
    back.addEventListener("click", () => (set(entry.first, true), slider.focus()));
    back.hidden = !(c.path in changes);
    const unit = c.unit ? " [" + c.unit + "]" : "";
    entry.row = el("div", { className: "control", title: c.meaning }, el("label", { htmlFor: id }, c.name, el("span", {}, unit)), slider, field, back);
    this.all.set(key, entry);
    this.words(entry);
    return entry.row;
  }
  words(entry) {
    entry.slider.setAttribute("aria-valuetext", plainNumber(entry.now) + (entry.c.unit ? " " + entry.c.unit : ""));
  }
  put(entry, value) {
    entry.now = value;
    entry.slider.value = String(placeOf(value, entry.c));
    entry.field.value = plainNumber(value);
    entry.field.removeAttribute("aria-invalid");
    entry.back.hidden = value === entry.first;
    this.words(entry);
  }
  // From the hand on the picture.
  set(path, value, done) {
    const entry = this.all.get("0" + path);
    if (!entry) return;
    this.put(entry, value);
    this.changed(entry.c, value, 0, done);
  }
  value(path) {
    const entry = this.all.get("0" + path);
    return entry ? entry.now : null;
  }
}
