// What hands do: keys, buttons, pointers; pictures that grow, numbers that are saved.

$("play").onclick = () => (state.playing ? pause() : play());
$("next").onclick = () => jump(1);
$("previous").onclick = () => jump(-1);
$("forth").onclick = () => (pause(), go(state.s + STEP));
$("back").onclick = () => (pause(), go(state.s - STEP));
$("speed").onchange = (e) => (state.speed = Number(e.target.value), refresh());
$("stretch").oninput = (e) => stretch(Number(e.target.value) / 100);
$("zoom").oninput = (e) => (scene.zoom = Math.pow(30, Number(e.target.value) / 100), refresh());
$("see-all").onclick = () => view(false);
$("see-one").onclick = () => view(true);
document.querySelectorAll(".go").forEach((button) => (button.onclick = () => {
  show(run.impacts[Number(button.dataset.impact) - 1]);
  $("viewer").scrollIntoView({ behavior: calm.matches ? "auto" : "smooth", block: "start" });
}));

function draggable(canvas, read) {
  const move = (e) => {
    const box = canvas.getBoundingClientRect();
    go(read(e.clientX - box.left, box.width));
  };
  let held = null;
  canvas.addEventListener("pointerdown", (e) => {
    pause();
    held = e.pointerId;
    move(e);
  });
  window.addEventListener("pointermove", (e) => e.pointerId === held && move(e));
  for (const end of ["pointerup", "pointercancel"]) window.addEventListener(end, (e) => e.pointerId === held && (held = null));
}
draggable($("axis"), (x, w) => ((x - LEFT) / (w - LEFT - RIGHT)) * clock.length);
draggable($("curves"), (x, w) => mix(scope.range[0], scope.range[1], clamp((x - LEFT) / (w - LEFT - RIGHT), 0, 1)));

document.addEventListener("keydown", (e) => {
  if (e.ctrlKey || e.metaKey || e.altKey || e.target.matches("input, select, textarea, .scroll") || $("enlarged").open) return;
  if (e.key === " " && e.target.matches("button:focus-visible")) return;  // it presses that button
  const act = {
    " ": () => (state.playing ? pause() : play()),
    ArrowRight: () => (e.shiftKey ? jump(1) : (pause(), go(state.s + STEP))),
    ArrowLeft: () => (e.shiftKey ? jump(-1) : (pause(), go(state.s - STEP))),
    n: () => jump(1), p: () => jump(-1), N: () => jump(1), P: () => jump(-1),
    Home: () => (pause(), go(0)), End: () => (pause(), go(clock.length)),
  }[e.key];
  if (!act) return;
  e.preventDefault();
  act();
});

// -- figures, summary -----------------------------------------------------------------------------------------------------

document.querySelectorAll(".large").forEach((button) => (button.onclick = () => {
  const image = button.querySelector("img"), dialog = $("enlarged");
  dialog.querySelector("img").src = image.src;
  dialog.querySelector("img").alt = dialog.querySelector("p").textContent = image.alt;
  dialog.showModal();
}));
$("enlarged").onclick = () => $("enlarged").close();
if ($("save-summary")) $("save-summary").onclick = () => {
  const text = JSON.stringify(JSON.parse($("carom-summary").textContent), null, 2);
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type: "application/json" }));
  link.download = "summary.json";
  link.click();
};
