// Small conveniences of every page; each page works without them.
"use strict";

// A sentence in the language of the page, which brings the translations that are not English; see annotate/core/preferences.py.
const say = (() => {
  const sentences = JSON.parse(document.getElementById("sentences")?.textContent ?? "{}");
  return (text, values = {}) => (sentences[text] ?? text).replace(/\{(\w+)\}/g, (all, name) => values[name] ?? all);
})();

// Copy a text, and say so on the button; where there is no clipboard, as over plain HTTP, in the way of old browsers.
async function copyText(text, button) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    copyBySelecting(text);
  }
  const label = button.textContent;
  button.textContent = say("Copied");
  setTimeout(() => { button.textContent = label; }, 1500);
  button.focus({ preventScroll: true });
}

function copyBySelecting(text) {
  const field = Object.assign(document.createElement("textarea"), { value: text, readOnly: true });
  field.style.cssText = "position: fixed; opacity: 0;";
  document.body.append(field);
  field.select();
  document.execCommand("copy");
  field.remove();
}

document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-copy]");
  if (button) copyText(button.dataset.copy, button);
});

// A choice fills the field beside it with its usual value, unless something else was entered there.
document.addEventListener("change", (event) => {
  if (!event.target.dataset.fills) return;
  const values = JSON.parse(event.target.dataset.values);
  const field = event.target.form.elements[event.target.dataset.fills];
  if (!field.value || Object.values(values).includes(field.value)) field.value = values[event.target.value] ?? "";
});

document.addEventListener("submit", (event) => {
  const question = event.target.dataset.confirm;
  if (question && !window.confirm(question)) event.preventDefault();
});

// A slider and the number that is sent say the same.
document.addEventListener("input", (event) => {
  const { dataset, id, value } = event.target;
  if (dataset.mirrors) document.getElementById(dataset.mirrors).value = value;
  for (const slider of document.querySelectorAll("[data-mirrors]")) {
    if (slider.dataset.mirrors === id) slider.value = value;
  }
});

// Where a mark stands follows from data. The policy of pages takes no style that stands in one; a script may set it.
function placeMarks(part) {
  for (const mark of part.querySelectorAll("[data-style]")) mark.style.cssText = mark.dataset.style;
}

placeMarks(document);

// A part that htmx replaces keeps its open details open.
let openDetails = [];
document.addEventListener("htmx:beforeSwap", ({ detail }) => {
  openDetails = [...detail.target.querySelectorAll("details[id][open]")].map((each) => each.id);
});
document.addEventListener("htmx:load", () => {
  for (const id of openDetails) document.getElementById(id)?.setAttribute("open", "");
  openDetails = [];
});
document.addEventListener("htmx:load", ({ detail }) => placeMarks(detail.elt.parentElement ?? document));
