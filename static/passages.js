// Passages of the texts on a page: the text rated (part 0) and the parts of its document. A passage is [part, start,
// end] in characters, as the server counts them (code points); marks are CSS highlights, which leave the texts alone.
"use strict";

const Passages = (() => {
  const textsIn = (main) => [...main.querySelectorAll(".text[data-part]")];
  const textOf = (main, part) => main.querySelector(`.text[data-part="${part}"]`);

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
    if (element.childNodes.length > 1) element.normalize(); // a parser divides long texts
    const range = document.createRange();
    const node = element.firstChild ?? element;
    range.setStart(node, start);
    range.setEnd(node, end);
    return range;
  }

  function rangeOf(main, [part, start, end]) {
    const element = textOf(main, part);
    const text = element.textContent;
    return rangeIn(element, unitAt(text, start), unitAt(text, end));
  }

  const quote = (main, passage) => rangeOf(main, passage).toString();

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

  // What is selected, in each text that it touches, as places in its string: whole words without blanks at the ends.
  function selected(main) {
    const selection = getSelection();
    if (!selection.rangeCount || selection.isCollapsed) return [];
    const whole = selection.getRangeAt(0);
    return textsIn(main).filter((element) => whole.intersectsNode(element)).flatMap((element) => {
      const inside = rangeIn(element, 0, element.textContent.length);
      const before = document.createRange();
      before.selectNodeContents(element);
      if (whole.compareBoundaryPoints(Range.START_TO_START, inside) > 0) inside.setStart(whole.startContainer, whole.startOffset);
      if (whole.compareBoundaryPoints(Range.END_TO_END, inside) < 0) inside.setEnd(whole.endContainer, whole.endOffset);
      before.setEnd(inside.startContainer, inside.startOffset);
      const chosen = inside.toString();
      const start = before.toString().length + chosen.length - chosen.trimStart().length;
      const end = start + chosen.trim().length;
      return start < end ? [{ element, ...wholeWords(element.textContent, start, end) }] : [];
    });
  }

  const passageOf = ({ element, start, end }) => [Number(element.dataset.part), pointsBefore(element.textContent, start), pointsBefore(element.textContent, end)];

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

  const ABOVE = ["evidence-of-others", "shared", "evidence", "found", "found-here"]; // each covers those before it
  function mark(name, ranges) {
    if (!globalThis.Highlight) return; // a browser of before 2025; the passages are listed beside
    const highlight = new Highlight(...ranges);
    highlight.priority = ABOVE.indexOf(name);
    if (ranges.length) CSS.highlights.set(name, highlight);
    else CSS.highlights.delete(name);
  }

  function show(range) {
    const element = range.startContainer.parentElement;
    const fold = element.closest("details");
    if (fold) fold.open = true;
    if (fold) element.closest("main").querySelector("[data-sheet][aria-expanded=false]")?.click();
    const scroller = element.closest(".document, .summary");
    const { top, bottom } = range.getBoundingClientRect();
    const frame = scroller.getBoundingClientRect();
    if (top < frame.top || bottom > frame.bottom) scroller.scrollTop += top - frame.top - frame.height / 3;
  }

  // How many marks each part has is written beside its label, where a folded part hides them.
  function countIn(main, name, ranges) {
    for (const label of main.querySelectorAll(".document details > summary")) {
      const count = ranges.filter((range) => label.parentElement.contains(range.startContainer)).length;
      if (count) label.dataset[name] = count;
      else delete label.dataset[name];
    }
  }

  return { words, textsIn, rangeIn, rangeOf, quote, selected, passageOf, merged, mark, show, countIn };
})();
