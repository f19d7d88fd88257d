// Small conveniences of every page; each page works without them.
"use strict";

// A sentence in the language of the page, which brings the translations that are not English; see annotate/core/sentences.py.
const say = (() => {
  const sentences = JSON.parse(document.getElementById("sentences")?.textContent ?? "{}");
  return (text, values = {}) => (sentences[text] ?? text).replace(/\{(\w+)\}/g, (all, name) => values[name] ?? all);
})();

document.addEventListener("click", async (event) => {
  const button = event.target.closest("[data-copy]");
  if (!button) return;
  await navigator.clipboard.writeText(button.dataset.copy);
  const label = button.textContent;
  button.textContent = say("Copied");
  setTimeout(() => { button.textContent = label; }, 1500);
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
