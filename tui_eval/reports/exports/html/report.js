"use strict";
const controls = document.querySelector(".controls");
const trials = [...document.querySelectorAll(".trial")];
const find = document.getElementById("find");
const outcome = document.getElementById("outcome");
const target = document.getElementById("target");
const count = document.getElementById("count");
function narrow() {
  const wanted = find.value.trim().toLowerCase();
  let shown = 0;
  for (const trial of trials) {
    const fits =
      (!outcome.value || trial.dataset.outcome === outcome.value) &&
      (!target.value || trial.dataset.target === target.value) &&
      (!wanted || trial.textContent.toLowerCase().includes(wanted));
    trial.hidden = !fits;
    shown += fits ? 1 : 0;
  }
  count.textContent = `${shown} of ${trials.length}`;
}
let waiting = 0;
find.addEventListener("input", () => { clearTimeout(waiting); waiting = setTimeout(narrow, 120); });
outcome.addEventListener("change", narrow);
target.addEventListener("change", narrow);
controls.hidden = false;
narrow();
