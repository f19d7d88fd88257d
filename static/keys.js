// Which key does what on the rating page: as the person chose, from what the server wrote into the page.
"use strict";

const Keys = (() => {
  const { values, keys, advance } = JSON.parse(document.getElementById("key-map").textContent);
  const actions = new Map(Object.entries(keys).filter(([, key]) => key).map(([action, key]) => [key, action]));
  const FIXED = { Enter: "next", ArrowDown: "down", ArrowUp: "up", Escape: "escape", "?": "help" };
  const DIGITS = "1234567890";
  const NAMES = { Backspace: "⌫", Delete: "⌦" };
  const TYPED = "textarea, select, input:not([type=radio], [type=checkbox], [type=hidden])";

  // What a key asks for: { value: a digit } or { action: a name }, or nothing.
  function asked(event) {
    const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
    const fixed = event.key === "Enter" && event.shiftKey ? "back" : FIXED[key];
    const action = fixed ?? actions.get(key);
    if (action) return { action };
    const place = values.indexOf(key);
    if (place >= 0 && key.length === 1) return { value: DIGITS[place] };
    // Where digits need Shift, as on French keyboards, the key itself is enough.
    const digit = values === DIGITS && !event.shiftKey && key.length === 1 && event.code?.match(/^Digit(\d)$/)?.[1];
    return digit ? { value: digit } : null;
  }

  // On a scale with 1 and 10, "1" waits for "0", which makes it 10; any other key or a second makes it 1.
  const WAIT = 1_000;
  let waiting = null;

  function forget() {
    const { timer } = waiting ?? {};
    clearTimeout(timer);
    waiting = null;
    return Boolean(timer);
  }

  // Choose a value by its digit: at once, or after the wait; `show` shows 1 until then.
  function take(digit, hasOneAndTen, choose, show) {
    if (digit !== "1" || !hasOneAndTen || !takesTwoForTen()) return choose(digit);
    show();
    waiting = { choose, timer: setTimeout(settle, WAIT) };
    return null;
  }

  // End the wait before another key does its work; returns the value that the wait ended with.
  function settle(digit) {
    if (!waiting) return null;
    const { choose } = waiting;
    const value = digit === "0" ? "10" : "1";
    forget();
    choose(value);
    return value;
  }

  const takesTwoForTen = () => values[0] === "1" && values[9] === "0";
  const keysOfTen = () => (takesTwoForTen() ? "1 0" : "");
  const shown = (key) => NAMES[key] ?? key.toLocaleUpperCase();

  // Buttons say which key they have.
  function label(main) {
    for (const place of main.querySelectorAll("[data-key-of]")) {
      const key = keys[place.dataset.keyOf];
      place.textContent = key ? shown(key) : "";
      place.hidden = !key;
    }
    for (const place of main.querySelectorAll("[data-value-key]")) {
      const key = place.dataset.valueKey === "10" ? keysOfTen() : values[DIGITS.indexOf(place.dataset.valueKey)] ?? "";
      place.textContent = shown(key);
      place.hidden = !key || (key === place.dataset.valueKey && "plain" in place.dataset);
    }
  }

  const isTyping = (target) => target.matches(TYPED);
  const isPartOfNumber = (event) => /^[0-9.,+-]$/.test(event.key);
  return { asked, label, isTyping, isPartOfNumber, advance, take, settle, forget };
})();
