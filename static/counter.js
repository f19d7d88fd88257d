// The annotator's own counter: an item that is done counts at once, and the server is asked once a minute at most.
"use strict";

const Counter = (() => {
  const PAUSE = 60_000;
  let askedAt = -PAUSE;
  let asking = null;

  // A reply to an earlier request does not know of this item.
  function count(by) {
    asking?.abort();
    const done = document.querySelector("[data-done]");
    if (!done) return;
    done.textContent = String(Number(done.textContent) + by);
    const bar = document.querySelector("#progress progress");
    if (bar) bar.value += by;
    // The estimate is older than this item; with all items done it would be wrong until the next reply.
    if (done.textContent === document.querySelector("[data-total]")?.textContent) document.querySelector("[data-to-go]")?.remove();
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
