// Tables: sorting by their heads, and a cue while columns are hidden. Menus that close like menus.
"use strict";

(() => {
  const collator = new Intl.Collator(document.documentElement.lang, { numeric: true });

  // What a cell is sorted by: data-value, else its number, else its text. Cells without a value come last.
  function keyOf(cell) {
    const text = (cell?.dataset.value ?? cell?.textContent ?? "").trim();
    if (["", "–", "-"].includes(text)) return null;
    const number = Number(text.replace(/[,\s%]/g, "").replace("−", "-"));
    return Number.isNaN(number) ? text : number;
  }

  function compare(one, other, sign) {
    if (one === null || other === null) return (one === null) - (other === null);
    if (typeof one === "number" && typeof other === "number") return sign * (one - other);
    return sign * collator.compare(String(one), String(other));
  }

  function sort(head) {
    const table = head.closest("table");
    const ascending = head.getAttribute("aria-sort") !== "ascending";
    for (const each of head.parentElement.children) if (each.hasAttribute("aria-sort")) each.setAttribute("aria-sort", "none");
    head.setAttribute("aria-sort", ascending ? "ascending" : "descending");
    const rows = [...table.tBodies[0].rows].map((row) => [keyOf(row.cells[head.cellIndex]), row]);
    rows.sort(([one], [other]) => compare(one, other, ascending ? 1 : -1));
    table.tBodies[0].append(...rows.map(([, row]) => row));
  }

  // Heads become buttons only where the browser sorts; a table whose server sorts brings links.
  function prepare(part) {
    for (const head of part.querySelectorAll("table.sortable thead tr:last-child > th[scope=col]")) {
      if (head.querySelector("a, button, input, details") || !head.textContent.trim() || head.closest("table").tBodies.length !== 1) continue;
      const button = document.createElement("button");
      button.type = "button";
      button.append(...head.childNodes);
      head.append(button);
      head.setAttribute("aria-sort", "none");
      button.addEventListener("click", () => sort(head));
    }
    for (const box of part.querySelectorAll(".scroll-x")) watch(box);
  }

  function watch(box) {
    if (box.dataset.watched) return;
    box.dataset.watched = "";
    const mark = () => {
      const hidden = box.scrollWidth - box.clientWidth - Math.abs(box.scrollLeft) > 2;
      box.classList.toggle("has-more", hidden);
      if (hidden) box.tabIndex = 0; // so that arrow keys scroll it
      if (hidden && !box.nextElementSibling?.classList.contains("scroll-cue")) {
        const cue = document.createElement("span");
        cue.className = "scroll-cue";
        cue.setAttribute("aria-hidden", "true");
        cue.textContent = say("More columns to the right →");
        box.after(cue);
      }
      const cue = box.nextElementSibling;
      if (cue?.classList.contains("scroll-cue")) cue.hidden = !hidden;
    };
    box.addEventListener("scroll", mark, { passive: true });
    new ResizeObserver(mark).observe(box);
    mark();
  }

  prepare(document);
  document.addEventListener("htmx:load", ({ detail }) => prepare(detail.elt.parentElement ?? document));

  // What is typed into a search box leaves only the rows of its table that have it.
  document.addEventListener("input", ({ target }) => {
    if (!target.dataset?.filters) return;
    const wanted = target.value.trim().toLocaleLowerCase();
    for (const row of document.getElementById(target.dataset.filters).tBodies[0].rows) row.hidden = !row.textContent.toLocaleLowerCase().includes(wanted);
  });

  // One box ticks all of a name in its form.
  document.addEventListener("change", ({ target }) => {
    if (!target.dataset?.tickAll) return;
    for (const box of target.form.querySelectorAll(`[type=checkbox][name=${target.dataset.tickAll}]`)) box.checked = target.checked;
  });

  // A menu closes by Escape, by a click elsewhere, and when another opens.
  const close = (except) => {
    for (const menu of document.querySelectorAll("details.menu[open]")) if (menu !== except) menu.open = false;
  };
  document.addEventListener("click", ({ target }) => close(target.closest("details.menu")));
  document.addEventListener("keydown", (event) => {
    const menu = event.key === "Escape" && event.target.closest?.("details.menu[open]");
    if (!menu) return;
    menu.open = false;
    menu.querySelector("summary").focus();
  });
})();
