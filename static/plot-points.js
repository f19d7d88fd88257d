// A plot's points by keyboard: one of them is a stop of the Tab key, arrows go from point to point, and the point
// under the pointer or with the focus is named beside it.
"use strict";

(() => {
  const label = document.createElement("div");
  label.className = "plot-name";
  label.setAttribute("aria-hidden", "true"); // the point itself is heard
  label.hidden = true;

  const pointOf = ({ target }) => (target instanceof Element ? target.closest(".plot-point") : null);

  function name(point) {
    point.querySelector("title")?.remove(); // or the browser shows it, too
    label.textContent = point.getAttribute("aria-label");
    document.body.append(label);
    label.hidden = false;
    const { left, top, bottom, width } = point.getBoundingClientRect();
    const most = document.documentElement.clientWidth - label.offsetWidth - 4;
    const above = top - label.offsetHeight - 6;
    label.style.left = `${Math.max(4, Math.min(left + width / 2 - label.offsetWidth / 2, most)) + scrollX}px`;
    label.style.top = `${(above < 0 ? bottom + 6 : above) + scrollY}px`;
  }
  const unname = () => { label.hidden = true; };

  function go(from, step) {
    const points = [...from.closest("svg").querySelectorAll(".plot-point")];
    const to = points[(points.indexOf(from) + step + points.length) % points.length];
    from.setAttribute("tabindex", "-1");
    to.setAttribute("tabindex", "0");
    to.focus();
  }

  for (const begins of ["pointerover", "focusin"]) {
    document.addEventListener(begins, (event) => { const point = pointOf(event); if (point) name(point); });
  }
  for (const ends of ["pointerout", "focusout"]) {
    document.addEventListener(ends, (event) => { if (pointOf(event)) unname(); });
  }
  document.addEventListener("keydown", (event) => {
    const point = pointOf(event);
    if (!point || event.ctrlKey || event.metaKey || event.altKey) return;
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    if (step) { event.preventDefault(); go(point, step); }
    if (event.key === "Escape") unname();
  });
})();
