// Active time: counted while an item is seen and used, idle after two minutes; a clock that is set changes nothing.
"use strict";

function ActiveTime() {
  const IDLE = 120_000;
  let lastSign = performance.now();
  let spent = 0;

  const begin = () => { lastSign = performance.now(); };

  function tick(isSeen = !document.hidden) {
    const now = performance.now();
    const active = isSeen ? Math.min(now - lastSign, IDLE) : 0;
    spent += active;
    if (active) Pause.add(active);
    lastSign = now;
  }

  // Add what was spent since the last time to a field of seconds.
  function addTo(seconds) {
    tick();
    seconds.value = (parseFloat(seconds.value) + spent / 1000).toFixed(1);
    spent = 0;
  }

  return { begin, tick, addTo };
}
