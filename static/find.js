// Finding words in a document, and folding its parts: on every page that shows one.
"use strict";

const Find = (() => {
  const MOST = 1000;
  const field = (main) => main.querySelector("[data-find]");
  const states = new WeakMap();

  function matches(main, words) {
    const pattern = new RegExp(words.trim().replace(/[.*+?^${}()|[\]\\]/g, "\\$&").replace(/\s+/g, "\\s+"), "giu");
    return Passages.textsIn(main).filter((element) => element.dataset.part !== "0").flatMap((element) =>
      [...Passages.textOf(element).matchAll(pattern)].map((found) => Passages.rangeIn(element, found.index, found.index + found[0].length)));
  }

  function tell(main) {
    const state = states.get(main);
    Passages.mark("found", state?.ranges ?? []);
    Passages.mark("found-here", state?.ranges.length ? [state.ranges[state.at]] : []);
    Passages.countIn(main, "found", state?.ranges ?? []);
    const tools = main.querySelector(".document-tools");
    if (!tools) return;
    tools.hidden = false;
    const place = tools.querySelector("[data-find-count]");
    place.textContent = !state ? "" : state.ranges.length ? say("{at} of {count}", { at: state.at + 1, count: state.ranges.length }) : say("none");
  }

  function look(main) {
    const words = field(main).value;
    if (words.trim()) states.set(main, { ranges: matches(main, words).slice(0, MOST), at: 0 });
    else states.delete(main);
    tell(main);
    step(main, 0);
  }

  function step(main, by) {
    const state = states.get(main);
    if (!state?.ranges.length) return;
    state.at = (state.at + by + state.ranges.length) % state.ranges.length;
    tell(main);
    Passages.show(state.ranges[state.at]);
  }

  // Leaving the field selects what was found, so that it can be marked as evidence by key.
  function leave(main) {
    const state = states.get(main);
    const selection = getSelection();
    if (!state?.ranges.length) return;
    selection.removeAllRanges();
    selection.addRange(state.ranges[state.at].cloneRange());
  }

  function clear(main) {
    if (!states.has(main)) return false;
    field(main).value = "";
    look(main);
    return true;
  }

  function fold(main) {
    const parts = [...main.querySelectorAll(".document > details")];
    const open = !parts.some((part) => part.open);
    for (const part of parts) part.open = open;
    tellFold(main);
  }

  function tellFold(main) {
    const button = main.querySelector("[data-fold]");
    if (button) button.firstElementChild.textContent = [...main.querySelectorAll(".document > details")].some((part) => part.open) ? say("Fold all") : say("Unfold all");
  }

  // Show a heading. The URL does not change, since Back leads to the item before.
  function jump(event, link) {
    event.preventDefault();
    const heading = document.getElementById(link.hash.slice(1));
    heading.scrollIntoView({ block: "start" });
    heading.focus({ preventScroll: true });
  }

  const mainOf = (target) => target.closest("main");
  document.addEventListener("input", ({ target }) => { if (target.matches("[data-find]")) look(mainOf(target)); });
  document.addEventListener("click", (event) => {
    const { target } = event;
    const button = target.closest("[data-find-step], [data-fold], [data-sheet], [data-jump]");
    if (!button) return;
    if ("jump" in button.dataset) jump(event, button);
    else if ("fold" in button.dataset) fold(mainOf(button));
    else if ("sheet" in button.dataset) {
      button.setAttribute("aria-expanded", mainOf(button).classList.toggle("sheet-open"));
      document.dispatchEvent(new Event("selectionchange")); // what is selected in the sheet comes into view, or goes
    } else step(mainOf(button), Number(button.dataset.findStep));
  });
  document.addEventListener("toggle", ({ target }) => { if (target.closest?.(".document")) tellFold(mainOf(target)); }, { capture: true });
  document.addEventListener("keydown", (event) => {
    if (!event.target.matches("[data-find]") || event.isComposing || !["Enter", "Escape"].includes(event.key)) return;
    event.preventDefault();
    const main = mainOf(event.target);
    if (event.key === "Enter") step(main, event.shiftKey ? -1 : 1);
    else {
      event.target.blur();
      leave(main);
      main.dispatchEvent(new Event("find:left"));
    }
  });

  tell(document.querySelector("main"));
  // In texts that were put in place of those in which was found.
  function again(main) {
    const at = states.get(main)?.at;
    if (at === undefined) return;
    states.set(main, { ranges: matches(main, field(main).value).slice(0, MOST), at });
    tell(main);
  }
  const begin = (main) => { field(main)?.focus(); field(main)?.select(); };
  return { again, begin, clear, fold, show: tell };
})();
