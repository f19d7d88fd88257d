// Passages on a page: of the output (part 0) and of the parts of its document. A passage is [part, start,
// end] in characters, as the server counts them (code points). Marks are CSS highlights, which do not change
// the page. Offsets count the characters of the source. A rendered source consists of runs with their offset
// in it (data-start). A unit, such as a formula, replaces some characters of the source (data-length) and is
// marked as a whole.
"use strict";

const Passages = (() => {
  const textsIn = (main) => [...main.querySelectorAll(".text[data-part]")];
  const elementOf = (main, part) => main.querySelector(`.text[data-part="${part}"]`);

  // Runs and raters' marks divide the content of an element into several nodes. Names of raters, in <sup>,
  // and labels of turns are not part of it.
  function nodesOf(element) {
    const accept = (node) => (node.parentElement.closest("sup, .not-in-source") ? NodeFilter.FILTER_REJECT : NodeFilter.FILTER_ACCEPT);
    const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT, accept);
    const found = [];
    while (walker.nextNode()) found.push(walker.currentNode);
    return found;
  }
  const textOf = (element) => nodesOf(element).map((node) => node.data).join("");

  const pointsBefore = (text, unit) => [...text.slice(0, unit)].length;
  function unitAt(text, points) {
    let unit = 0;
    for (const character of text) {
      if (points === 0) break;
      points -= 1;
      unit += character.length;
    }
    return unit;
  }

  // A range of a text's own characters, from and to places in its string.
  function rangeIn(element, start, end) {
    const range = document.createRange();
    range.selectNodeContents(element);
    let before = 0;
    for (const node of nodesOf(element)) {
      if (start >= before && start < before + node.length) range.setStart(node, start - before);
      if (end > before && end <= before + node.length) range.setEnd(node, end - before);
      before += node.length;
    }
    return range;
  }

  // The nodes of a rendered text's runs, with their positions in its string and their offsets in the source.
  function runsOf(element) {
    let before = 0;
    return nodesOf(element).flatMap((node) => {
      const run = node.parentElement.closest("[data-start]");
      const at = before;
      before += node.length;
      if (!run) return [];
      const start = Number(run.dataset.start);
      const isUnit = "length" in run.dataset;
      const length = isUnit ? Number(run.dataset.length) : pointsBefore(node.data, node.length);
      return [{ text: node.data, before: at, start, end: start + length, isUnit }];
    });
  }
  const isRendered = (element) => element.classList.contains("rendered");

  // The positions of a passage in an element's string; both 0 for markup alone.
  function placesOf(element, start, end) {
    if (!isRendered(element)) return [unitAt(textOf(element), start), unitAt(textOf(element), end)];
    const met = runsOf(element).filter((run) => run.start < end && start < run.end);
    if (!met.length) return [0, 0];
    const starts = met.map((run) => run.before + (run.isUnit ? 0 : unitAt(run.text, Math.max(start - run.start, 0))));
    const ends = met.map((run) => run.before + (run.isUnit ? run.text.length : unitAt(run.text, Math.min(end, run.end) - run.start)));
    return [Math.min(...starts), Math.max(...ends)];
  }

  function rangeOf(main, [part, start, end]) {
    const element = elementOf(main, part);
    return rangeIn(element, ...placesOf(element, start, end));
  }

  function quote(main, [part, start, end]) {
    const element = elementOf(main, part);
    const [first, last] = placesOf(element, start, end);
    const formulas = new Set();
    let before = 0;
    return nodesOf(element).map((node) => {
      const words = node.data.slice(Math.max(first - before, 0), Math.max(last - before, 0));
      before += node.length;
      const formula = node.parentElement.closest("math");
      if (!words || !formula) return words;
      if (formulas.has(formula)) return "";
      formulas.add(formula);
      return formula.getAttribute("alttext"); // its LaTeX
    }).join("");
  }

  // Made when first needed: it takes longer than all else that a page does before it can be used.
  let segmenter;
  function words() {
    segmenter ??= globalThis.Intl?.Segmenter ? new Intl.Segmenter(undefined, { granularity: "word" }) : null;
    return segmenter;
  }

  function wholeWords(text, start, end) {
    const found = words()?.segment(text);
    if (!found) return { start, end };
    const last = found.containing(end - 1);
    return { start: found.containing(start).index, end: last.index + last.segment.length };
  }

  const kept = (field) => JSON.parse(field.value || "[]");

  // What is selected, in each text that it touches, as places in its string: whole words without blanks at the ends.
  function selected(main) {
    const selection = getSelection();
    if (!selection.rangeCount || selection.isCollapsed) return [];
    const whole = selection.getRangeAt(0);
    return textsIn(main).filter((element) => whole.intersectsNode(element)).flatMap((element) => {
      const text = textOf(element);
      const [first, last] = endsIn(element, whole);
      const chosen = text.slice(first, last);
      const start = first + chosen.length - chosen.trimStart().length;
      const end = start + chosen.trim().length;
      return start < end ? [{ element, ...wholeWords(text, start, end) }] : [];
    });
  }

  // Where a range begins and ends in a text, as places in its string.
  function endsIn(element, range) {
    let before = 0;
    let first = null;
    let last = 0;
    for (const node of nodesOf(element)) {
      if (range.intersectsNode(node)) {
        first ??= before + (node === range.startContainer ? range.startOffset : 0);
        last = before + (node === range.endContainer ? range.endOffset : node.length);
      }
      before += node.length;
    }
    return [first ?? 0, last];
  }

  // Returns null if only markup is selected.
  function passageOf({ element, start, end }) {
    const part = Number(element.dataset.part);
    if (!isRendered(element)) {
      const text = textOf(element);
      return [part, pointsBefore(text, start), pointsBefore(text, end)];
    }
    const met = runsOf(element).filter((run) => run.before < end && start < run.before + run.text.length);
    if (!met.length) return null;
    const starts = met.map((run) => run.start + (run.isUnit ? 0 : pointsBefore(run.text, Math.max(start - run.before, 0))));
    const ends = met.map((run) => (run.isUnit ? run.end : run.start + pointsBefore(run.text, end - run.before)));
    return [part, Math.min(...starts), Math.max(...ends)];
  }

  // Passages that overlap or touch become one, so that none is kept twice.
  function merged(passages) {
    const found = [];
    for (const [part, start, end] of [...passages].sort(([p, s], [q, t]) => p - q || s - t)) {
      const last = found.at(-1);
      if (last && last[0] === part && start <= last[2]) last[2] = Math.max(last[2], end);
      else found.push([part, start, end]);
    }
    return found;
  }

  const ABOVE = ["evidence-of-others", "shared", "evidence", "span-light", "span-heavy", "found", "found-here"]; // each covers those before it
  function mark(name, ranges) {
    if (!globalThis.Highlight) return; // a browser of before 2025; the passages are listed beside
    const highlight = new Highlight(...ranges);
    highlight.priority = ABOVE.indexOf(name);
    if (ranges.length) CSS.highlights.set(name, highlight);
    else CSS.highlights.delete(name);
  }

  function show(range) {
    const element = range.startContainer.parentElement; // of a text's node
    const fold = element.closest("details");
    for (let part = fold; part; part = part.parentElement.closest("details")) part.open = true;
    if (fold) element.closest("main").querySelector("[data-sheet][aria-expanded=false]")?.click();
    const page = document.scrollingElement;
    const scroller = [element.closest(".document, .summary"), page].find((each) => each.scrollHeight > each.clientHeight) ?? page;
    const { top, bottom } = range.getBoundingClientRect();
    const frame = scroller === page ? { top: 0, bottom: innerHeight, height: innerHeight } : scroller.getBoundingClientRect();
    if (top < frame.top || bottom > frame.bottom) scroller.scrollTop += top - frame.top - frame.height / 3;
  }

  // How many marks each part has is written beside its label, where a folded part hides them.
  function countIn(main, name, ranges) {
    for (const label of main.querySelectorAll(".document > details > summary")) {
      const count = ranges.filter((range) => label.parentElement.contains(range.startContainer)).length;
      if (count) label.dataset[name] = count;
      else delete label.dataset[name];
    }
  }

  return { kept, words, textsIn, textOf, rangeIn, rangeOf, quote, selected, passageOf, merged, mark, show, countIn };
})();
