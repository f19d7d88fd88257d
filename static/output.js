// The text to rate: a text that is cut fades, and a button shows the number of its hidden lines.
"use strict";

function Output(main) {
  const box = main.querySelector(".summary");
  const text = box.querySelector(".text");
  const button = main.querySelector("[data-more]");

  function hiddenLines() {
    const height = parseFloat(getComputedStyle(text).lineHeight);
    return Math.round((text.getBoundingClientRect().bottom - box.getBoundingClientRect().bottom) / height);
  }

  function update() {
    const lines = box.scrollHeight > box.clientHeight + 1 ? hiddenLines() : 0;
    button.hidden = lines < 1;
    box.toggleAttribute("data-cut", lines >= 1);
    if (lines >= 1) button.textContent = lines === 1 ? say("1 more line ↓") : say("{count} more lines ↓", { count: lines });
  }

  const isStill = () => matchMedia("(prefers-reduced-motion: reduce)").matches;
  button.addEventListener("click", () => { box.scrollBy({ top: box.clientHeight * 0.8, behavior: isStill() ? "instant" : "smooth" }); });
  box.addEventListener("scroll", update, { passive: true });
  new ResizeObserver(update).observe(box);
  return { update };
}
