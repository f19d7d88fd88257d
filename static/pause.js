// A suggestion to pause after 50 minutes of active rating. Five minutes without a sign of work are a pause.
"use strict";

const Pause = (() => {
  const DUE = 50 * 60_000;
  const RESTED = 5 * 60_000;
  const KEY = "concord-active";

  function read() {
    try { return JSON.parse(localStorage.getItem(KEY)) ?? { active: 0, at: 0 }; } catch { return { active: 0, at: 0 }; }
  }

  // Add active milliseconds; the suggestion appears once, then the count starts again.
  function add(spent) {
    const { active, at } = read();
    const now = Date.now();
    const total = (Math.abs(now - at) > RESTED ? 0 : active) + spent;
    const isDue = total >= DUE;
    try { localStorage.setItem(KEY, JSON.stringify({ active: isDue ? 0 : total, at: now })); } catch { return; }
    if (isDue) document.dispatchEvent(new Event("pause:due"));
  }

  return { add };
})();
