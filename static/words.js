// The words that are selected in one text are marked in the others: whole words, in every part.
"use strict";

const Words = (() => {
  const places = new WeakMap();
  const plain = (word) => word.normalize("NFKC").toLocaleLowerCase();

  function split(text) {
    if (!Passages.words()) return [...text.matchAll(/[\p{L}\p{N}]+(?:['’-][\p{L}\p{N}]+)*/gu)].map((found) => [plain(found[0]), found.index, found[0].length]);
    return [...Passages.words().segment(text)].filter(({ isWordLike }) => isWordLike).map(({ segment, index }) => [plain(segment), index, segment.length]);
  }

  // Where each word of a text stands; a text is split once.
  function wordsOf(element) {
    if (!places.has(element)) {
      const found = new Map();
      for (const [word, start, length] of split(Passages.textOf(element))) found.set(word, [...(found.get(word) ?? []), [start, start + length]]);
      places.set(element, found);
    }
    return places.get(element);
  }

  // Beside longer words, those of one to three Latin letters ("the", "of") say nothing.
  const isShort = (word) => /^[\p{Script=Latin}'’]{1,3}$/u.test(word);

  function markShared(main) {
    const chosen = Passages.selected(main);
    const words = new Set(chosen.flatMap(({ element, start, end }) => split(Passages.textOf(element).slice(start, end)).map(([word]) => word)));
    const telling = [...words].filter((word) => !isShort(word));
    const side = (element) => element.dataset.part === "0";
    const from = chosen[0] && side(chosen[0].element);
    const others = chosen.length ? Passages.textsIn(main).filter((element) => side(element) !== from) : [];
    const ranges = others.flatMap((element) => (telling.length ? telling : [...words]).flatMap((word) => (wordsOf(element).get(word) ?? []).map(([start, end]) => Passages.rangeIn(element, start, end))));
    Passages.mark("shared", ranges);
    Passages.countIn(main, "shared", ranges);
  }

  return { markShared };
})();
