// Going on by itself when everything is rated, if the person wants it: after a pause that can be seen and ended by any
// key or click.
"use strict";

const Advance = (() => {
  const PAUSE = 1200;
  const UNREAD = 350; // a key that comes so soon after was meant for the item before
  let timer = 0;
  let went = -Infinity;
  let ended = () => {};

  function end() {
    if (!timer) return;
    clearTimeout(timer);
    timer = 0;
    ended();
  }

  // `place` is shown meanwhile; `stay` is called where the person ends the pause.
  function begin(place, go, stay) {
    place.hidden = false;
    ended = () => { Press.after(() => { place.hidden = true; }); stay(); };
    timer = setTimeout(() => {
      timer = 0;
      place.hidden = true;
      went = performance.now();
      go();
    }, PAUSE);
  }

  document.addEventListener("pointerdown", (event) => {
    if (timer && event.target.closest("#advance")) event.preventDefault(); // it goes away: the focus stays where it is
    end();
  }, { capture: true });
  document.addEventListener("keydown", (event) => {
    const answers = event.key.length === 1 || (event.key === "Enter" && !event.shiftKey);
    if (answers && performance.now() - went < UNREAD) {
      event.preventDefault();
      event.stopImmediatePropagation();
    } else if (!event.repeat) {
      went = -Infinity; // who goes back at once is heard at once
      end();
    }
  }, { capture: true });
  return { begin, end };
})();
