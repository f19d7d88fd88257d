// The texts of a dispute: what each rater marked in them, and the evidence that goes with one's own answer.
"use strict";

const DisputeTexts = (() => {
  const main = document.getElementById("content");
  const answer = () => document.getElementById("answer"); // another with each dispute that is taken up
  const input = () => answer()?.elements.evidence; // comes with the buttons, and goes when answers are no longer taken
  const kept = (form) => `${form.getAttribute("action")} ${form.elements.rater.value} evidence`;
  let form = null;
  let evidence = null;

  // What is marked and not sent outlives the page, in this window, as what is typed does.
  function change(act) {
    if (input() && act()) sessionStorage.setItem(kept(form), input().value);
  }
  const add = () => change(() => evidence.add(form));
  const remove = (index) => change(() => evidence.remove(form, index));
  const sent = (form) => sessionStorage.removeItem(kept(form));

  function show() {
    if (form !== answer()) begin(answer());
    if (!input()) {
      Passages.mark("evidence", []);
      main.querySelector("#mark-evidence").hidden = true;
      return;
    }
    input().value = sessionStorage.getItem(kept(form)) ?? input().value;
    evidence.list(form);
    evidence.mark(form);
  }
  document.addEventListener("htmx:oobAfterSwap", show);

  function begin(another) {
    form = another;
    evidence = form && Evidence(main, { rows: [form], field: input, isLocked: () => false });
    Keys.label(main);
    form?.addEventListener("evidence:remove", ({ detail }) => {
      remove(detail);
      form.elements.comment.focus(); // the button that had the focus is gone
    });
  }

  main.querySelector("#mark-evidence")?.addEventListener("click", add);

  let selecting = 0;
  document.addEventListener("selectionchange", () => {
    cancelAnimationFrame(selecting);
    selecting = requestAnimationFrame(() => Press.after(() => {
      Words.markShared(main);
      if (input()) evidence.offer(form);
    }));
  });

  const actions = {
    guideline: () => document.getElementById("guideline").click(),
    find: () => Find.begin(main),
    fold: () => Find.fold(main),
    comment: () => form?.elements.comment.focus(),
    escape: () => Find.clear(main),
    evidence: add,
    unmark: () => change(() => evidence.remove(form, evidence.count(form) - 1)),
  };
  // Whether a key's action is one of the texts, and was done.
  function act(action) {
    actions[action]?.();
    return action in actions;
  }

  // The passages that a rater marked, one after the other.
  let shown = null;
  document.addEventListener("click", ({ target }) => {
    const by = target.closest("[data-marks]")?.dataset.marks;
    const marks = by ? [...document.querySelectorAll(`.marked[data-by~="${CSS.escape(by)}"]`)] : [];
    if (!marks.length) return;
    const mark = marks[(marks.indexOf(shown) + 1) % marks.length];
    shown?.classList.remove("marked-shown");
    shown = mark;
    mark.classList.add("marked-shown");
    for (let part = mark.closest("details"); part; part = part.parentElement.closest("details")) part.open = true;
    mark.scrollIntoView({ block: "center" });
    document.getElementById("news").textContent = mark.textContent;
  });

  // The discussion says who marked what; the texts are read anew where that is no longer what they show.
  const marked = () => [...document.querySelectorAll("[data-marks]")].map(({ dataset }) => dataset.marks + dataset.passages).join();
  let inTexts = marked();
  async function follow() {
    const now = marked();
    if (now === inTexts) return;
    inTexts = now;
    try {
      const response = await fetch(document.getElementById("at-work").dataset.page);
      const there = new DOMParser().parseFromString(await response.text(), "text/html").getElementById("content");
      await new Promise(Press.after);
      for (const text of response.ok ? Passages.textsIn(there) : []) {
        main.querySelector(`.text[data-part="${text.dataset.part}"]`).replaceChildren(...text.childNodes);
      }
      Find.again(main);
      show();
      document.dispatchEvent(new CustomEvent("texts:renewed"));
    } catch {
      inTexts = null; // with the next news
    }
  }

  show();
  const countEvidence = () => (input() ? evidence.count(form) : 0);
  return { act, sent, show, follow, countEvidence };
})();
