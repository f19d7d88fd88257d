// Evidence of one item's ratings: passages of its texts, kept in a hidden field of their dimension, listed under it
// and marked in the texts while it has the focus.
"use strict";

function Evidence(main, { rows, field, isLocked }) {
  const LONGEST_QUOTE = 90;
  const passages = (row) => Passages.kept(field(row, "evidence"));
  const status = main.querySelector("#said");
  const button = main.querySelector("#mark-evidence");

  function keep(row, found) {
    field(row, "evidence").value = JSON.stringify(found);
    list(row);
    mark(row);
  }

  // Both answer whether anything was changed.
  function add(row) {
    const chosen = Passages.selected(main).map(Passages.passageOf).filter(Boolean);
    if (!chosen.length) {
      status.textContent = say("Select words in the output or in the document first, or search for them.");
      return false;
    }
    keep(row, Passages.merged([...passages(row), ...chosen]));
    getSelection().removeAllRanges();
    status.textContent = say("Marked as evidence for {name}.", { name: row.dataset.name });
    return true;
  }

  function remove(row, index) {
    const found = passages(row);
    if (!found.length) return false;
    found.splice(index, 1);
    keep(row, found);
    status.textContent = say("A passage is no longer evidence for {name}.", { name: row.dataset.name });
    return true;
  }

  const list = (row) => Press.after(() => {
    const place = row.querySelector("[data-evidence]");
    const found = passages(row);
    place.hidden = !found.length;
    place.replaceChildren(...found.map((passage, index) => {
      const item = document.createElement("li");
      const text = Passages.quote(main, passage).replace(/\s+/g, " ");
      const short = text.length > LONGEST_QUOTE ? `${text.slice(0, LONGEST_QUOTE)}…` : text;
      item.append(
        control("evidence-quote", `❝ ${short}`, say("Show this passage: {passage}", { passage: short }), () => Passages.show(Passages.rangeOf(main, passage))),
        control("evidence-remove", "×", say("Remove evidence: {passage}", { passage: short }), () => item.dispatchEvent(new CustomEvent("evidence:remove", { bubbles: true, detail: index }))),
      );
      return item;
    }));
  });

  function control(kind, text, label, act) {
    const made = document.createElement("button");
    made.type = "button";
    made.className = kind;
    made.dir = "auto";
    made.textContent = text;
    made.setAttribute("aria-label", label);
    made.disabled = kind === "evidence-remove" && isLocked(rows[0]);
    made.addEventListener("click", act);
    return made;
  }

  function mark(row) {
    const ranges = (each) => passages(each).map((passage) => Passages.rangeOf(main, passage));
    Passages.mark("evidence", ranges(row));
    Passages.mark("evidence-of-others", rows.filter((each) => each !== row).flatMap(ranges));
  }

  // The button stands where the selection ends, unless that is in a sheet that is closed, and says for which dimension it is.
  function offer(row) {
    const last = Passages.selected(main).at(-1)?.element;
    const place = !isLocked(row) && last?.checkVisibility({ visibilityProperty: true }) && [...getSelection().getRangeAt(0).getClientRects()].at(-1);
    button.hidden = !place;
    if (!place) return;
    button.firstElementChild.textContent = row.dataset.name;
    const { bottom, left } = place;
    button.style.top = `${Math.min(bottom + 6, innerHeight - 90)}px`;
    button.style.left = `${Math.min(Math.max(left, 8), innerWidth - button.offsetWidth - 8)}px`;
  }

  button.onpointerdown = (event) => event.preventDefault(); // the selection stays
  for (const row of rows) list(row);
  return { add, remove, list, mark, offer, count: (row) => passages(row).length };
}
