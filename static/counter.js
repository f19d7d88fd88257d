// The annotator's own counter: an item that is done counts at once, and the server is asked once a minute at most.
"use strict";

const Counter = (() => {
  const PAUSE = 60_000;
  let askedAt = -PAUSE;
  let asking = null;

  // What the server was asked before would not know of this item.
  function count(by) {
    asking?.abort();
    for (const [name, step] of [["done", by], ["left", -by], ["today", by]]) {
      const place = document.querySelector(`[data-${name}]`);
      if (place) place.textContent = String(Number(place.textContent) + step);
    }
    // The estimate is from before; where nothing is left it would be wrong until the server is asked.
    if (document.querySelector("[data-left]")?.textContent === "0") document.querySelector("[data-to-go]")?.remove();
  }

  async function ask() {
    const counter = document.getElementById("progress");
    if (!counter || performance.now() - askedAt < PAUSE) return;
    askedAt = performance.now();
    asking = new AbortController();
    try {
      const response = await fetch(counter.dataset.url, { signal: asking.signal });
      if (!response.ok) return;
      const text = await response.text();
      Press.after(() => { counter.outerHTML = text; });
    } catch { /* it says what was counted here */ }
  }

  return { count, ask };
})();
