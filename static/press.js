// While a pointer is down nothing may move: the browser decides where a click lands only when the pointer is up, and
// a tap's focus and change events come before that. Whatever changes the layout waits for the click.
"use strict";

const Press = (() => {
  const WITHOUT_CLICK = 400; // ms: longer than any browser takes from a pointer that is lifted to its click
  const held = [];
  let isOn = false;
  let timer = 0;

  const after = (act) => { if (isOn) held.push(act); else act(); };

  function end() {
    clearTimeout(timer);
    isOn = false;
    for (const act of held.splice(0)) act();
  }
  function endIn(pause) {
    clearTimeout(timer);
    timer = setTimeout(end, pause);
  }

  document.addEventListener("pointerdown", ({ button }) => {
    if (button) return; // no click follows, and a menu may take the pointerup
    clearTimeout(timer);
    isOn = true;
  }, { capture: true });
  // A click follows at once for a mouse, a little later for a finger, and never where it is lifted elsewhere.
  document.addEventListener("pointerup", () => { if (isOn) endIn(WITHOUT_CLICK); }, { capture: true });
  // Not before the click's own `change`, which a field that is gone would not get. Clicks by key or script have no count.
  document.addEventListener("click", ({ detail }) => { if (isOn && detail) endIn(0); }, { capture: true });
  document.addEventListener("pointercancel", end, { capture: true });
  // Where the pointerup is lost, the next key or leaving the window must not find the page stuck.
  document.addEventListener("keydown", end, { capture: true });
  window.addEventListener("blur", end);
  return { after, isOn: () => isOn };
})();
