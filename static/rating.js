// The rating page: keys, answers handed to the queue in unsent.js, word from other windows. Items ahead are loaded
// beforehand and put in place; what was left stays as it is, to come back to.
"use strict";

// One item: its part of the page (main), whether it is shown now or not.
function RatingPage(main) {
  const form = main.querySelector("#work");
  const rows = [...form.querySelectorAll(".row")];
  const notices = main.querySelector("#notices");
  const { annotator, assignment, about } = form.dataset;
  const field = (row, name) => form.querySelector(`[name="${row.dataset.key}-${name}"]`);
  const panel = (row) => form.querySelector(`#panel-${row.dataset.key}`);
  const rowOf = (element) => rows.find((row) => row.contains(element) || panel(row).contains(element));
  const rowAt = (url) => rows.find((row) => row.dataset.url === url);
  const radios = (row) => [...row.querySelectorAll("input[type=radio]")];
  const typed = (row) => row.querySelector("input[type=number]");
  const spoken = (value, otherwise) => (value === "not_applicable" ? "not applicable" : value || otherwise);
  const changed = new Set();

  const notice = (text, kind) => {
    const line = document.createElement("p");
    line.className = `notice ${kind}`;
    line.textContent = text;
    notices.replaceChildren(line);
  };

  // --- reading and showing a row ------------------------------------------------------------------------------
  const valueOf = (row) => radios(row).find((radio) => radio.checked)?.value ?? typed(row)?.value ?? "";
  const isAnswered = (row) => !("again" in row.dataset) && hasAnswer(row);
  const hasAnswer = (row) => valueOf(row) !== "" || field(row, "cannot_rate").checked;

  function setValue(row, value) {
    if (typed(row)) typed(row).value = value === "not_applicable" ? "" : value ?? "";
    for (const radio of radios(row)) radio.checked = value !== null && radio.value === String(value);
  }

  function describe(row) {
    const chosen = radios(row).find((radio) => radio.checked);
    row.querySelector(".says").textContent = field(row, "cannot_rate").checked ? (field(row, "comment").value ? "Cannot rate" : "Cannot rate: say why (C)") : chosen?.dataset.says ?? "";
    row.querySelector(".flags").textContent = (field(row, "unsure").checked ? "⚑" : "") + (field(row, "comment").value ? "✎" : "");
  }

  function showAnswer(row, answer) {
    setValue(row, answer.value === "" ? null : answer.value);
    field(row, "unsure").checked = answer.unsure;
    field(row, "cannot_rate").checked = answer.cannot_rate;
    field(row, "comment").value = answer.comment;
    describe(row);
  }

  function select(row) {
    for (const each of rows) {
      each.classList.toggle("focused", each === row);
      panel(each).classList.toggle("focused", each === row);
    }
  }

  function focusRow(row) {
    select(row);
    row.scrollIntoView({ block: "nearest" });
    const target = typed(row) ?? radios(row).find((radio) => radio.checked) ?? radios(row)[0];
    target.focus({ preventScroll: true });
  }
  const focused = () => rows.find((row) => row.classList.contains("focused")) ?? rows[0];

  // --- time: counted while the page is seen and used, idle after two minutes ----------------------------------
  let lastSign = Date.now();
  let spent = 0;
  function tick(isSeen = !document.hidden) {
    const now = Date.now();
    if (isSeen) spent += Math.min(now - lastSign, 120_000);
    lastSign = now;
  }

  function takeTime(row) {
    tick();
    const seconds = field(row, "active_seconds");
    seconds.value = (parseFloat(seconds.value) + spent / 1000).toFixed(1);
    spent = 0;
    return seconds.value;
  }

  // --- saving -------------------------------------------------------------------------------------------------
  function save(row) {
    changed.delete(row);
    describe(row);
    row.querySelector(".row-refusal").hidden = true;
    row.querySelector(".row-again")?.remove();
    delete row.dataset.again;
    if ("preview" in form.dataset) return;
    Unsent.put({
      url: row.dataset.url,
      annotator,
      assignment,
      about: `${about}, ${row.dataset.name}`,
      value: valueOf(row),
      unsure: field(row, "unsure").checked,
      cannot_rate: field(row, "cannot_rate").checked,
      comment: field(row, "comment").value,
      active_seconds: takeTime(row),
      revision: field(row, "revision").value,
      guideline: field(row, "guideline").value,
    });
  }
  // A private note goes the same way as an answer.
  const note = form.querySelector("[name=note]");
  let noteSaved = note?.value;
  function saveNote() {
    if (!note || note.value === noteSaved) return;
    noteSaved = note.value;
    Unsent.put({ url: note.dataset.url, annotator, assignment, about: `${about}, private note`, comment: note.value });
  }
  const saveChanged = () => { for (const row of [...changed]) save(row); saveNote(); };

  function saved({ entry, reply }) {
    const row = entry.assignment === assignment && rowAt(entry.url);
    if (!row) return;
    field(row, "revision").value = reply.revision;
    if (reply.replaced) notice(`${row.dataset.name} had been changed to ${spoken(reply.replaced.value, "no value")} in another window; your ${spoken(entry.value, "answer")} now stands.`, "notice-warn");
    if (reply.overtaken && !Unsent.of(annotator, entry.url)) {
      setValue(row, reply.overtaken.value);
      notice(`A later answer of yours stands: ${row.dataset.name} is ${spoken(reply.overtaken.value, "without a value")}.`, "notice-warn");
    }
    count(reply.complete);
  }

  function refused({ entry, message }) {
    const row = entry.assignment === assignment && rowAt(entry.url);
    if (!row) return;
    const place = row.querySelector(".row-refusal");
    place.textContent = `Not saved: ${message}`;
    place.hidden = false;
  }

  function count(complete) {
    if (String(complete) === form.dataset.complete) return;
    form.dataset.complete = String(complete);
    document.getElementById("progress")?.dispatchEvent(new Event("htmx:abort"));
    for (const name of ["done", "today"]) {
      const place = document.querySelector(`[data-${name}]`);
      place.textContent = String(Number(place.textContent) + (complete ? 1 : -1));
    }
  }

  function savedElsewhere({ entry, reply }) {
    const row = entry.assignment === assignment && rowAt(entry.url);
    if (!row) return;
    const isShown = valueOf(row) === entry.value && field(row, "comment").value === entry.comment;
    field(row, "revision").value = reply.revision;
    showAnswer(row, entry);
    count(reply.complete);
    if (!isShown) notice(`${row.dataset.name} was just changed to ${spoken(entry.value, "no value")} in another window of yours.`, "notice-warn");
  }

  // --- pointer and keys ---------------------------------------------------------------------------------------
  form.addEventListener("change", (event) => {
    if (event.target === note) saveNote();
    const row = rowOf(event.target);
    if (!row) return;
    if (event.target.name.endsWith("-cannot_rate") && event.target.checked) setValue(row, null);
    if (event.target.name.endsWith("-value") && valueOf(row) !== "") field(row, "cannot_rate").checked = false;
    save(row);
  });

  let typing = 0;
  form.addEventListener("input", (event) => {
    if (event.target.tagName !== "TEXTAREA" && event.target.type !== "number") return;
    if (event.target.type === "number") for (const radio of radios(rowOf(event.target))) radio.checked = false;
    if (event.target !== note) changed.add(rowOf(event.target));
    clearTimeout(typing);
    if (event.target.tagName === "TEXTAREA") typing = setTimeout(saveChanged, 800);
  });
  form.addEventListener("focusin", (event) => {
    const row = rowOf(event.target);
    if (row) select(row);
  });

  // A digit moves on; a remark that follows at once is about what was just rated.
  let justRated = null;
  main.addEventListener("pointerdown", () => { justRated = null; }, { capture: true });

  function rate(row, key) {
    const value = radios(row).find((radio) => radio.dataset.key === key);
    if (!value) return;
    setValue(row, value.value);
    field(row, "cannot_rate").checked = false;
    save(row);
    moveOn(row);
  }

  function moveOn(row) {
    justRated = row;
    const next = rows[rows.indexOf(row) + 1];
    if (next) focusRow(next);
    else main.querySelector("#next")?.focus();
  }

  function keep(row) {
    if (!("again" in row.dataset) || !hasAnswer(row)) return;
    save(row);
    moveOn(row);
  }

  form.addEventListener("click", (event) => { if (event.target.closest("[data-keep]")) keep(rowOf(event.target)); });

  function goOn() {
    const open = rows.find((row) => !row.disabled && !isAnswered(row));
    if (open && !form.dataset.warned) {
      form.dataset.warned = "yes";
      focusRow(open);
      notice("Some dimensions have no answer yet. Press Enter again to go on all the same.", "notice-warn");
      return;
    }
    main.querySelector("#next")?.click();
  }

  const keys = {
    ArrowDown: (row) => focusRow(rows[Math.min(rows.indexOf(row) + 1, rows.length - 1)]),
    ArrowUp: (row) => focusRow(rows[Math.max(rows.indexOf(row) - 1, 0)]),
    u: (row) => field(row, "unsure").click(),
    x: (row) => field(row, "cannot_rate").click(),
    c: (row) => { select(row); field(row, "comment").focus(); },
    n: (row) => rate(row, "n"),
    k: keep,
    g: () => document.getElementById("first-open")?.click(),
    f: () => document.getElementById("flagged")?.click(),
    "?": () => main.querySelector("#keys").showModal(),
  };

  function keydown(event) {
    const target = event.target;
    if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
    if (target.tagName === "TEXTAREA") {
      if (event.key === "Escape") focusRow(rowOf(target) ?? focused());
      return;
    }
    const row = focused();
    if (target.type === "number") {
      if (event.key === "Enter" && !event.shiftKey && target.value !== "") {
        event.preventDefault();
        if (!event.repeat) moveOn(row);
        return;
      }
      if (event.key !== "Enter" && !keys[event.key]) return;
    }
    const isKey = event.key === "Enter" || /^[0-9]$/.test(event.key) || keys[event.key];
    if (event.repeat && isKey && !event.key.startsWith("Arrow")) {
      event.preventDefault(); // a key that is held down answers once
    } else if (event.key === "Enter") {
      if (target.closest("summary, button, a:not(#next):not(#back)")) return;
      event.preventDefault();
      if (event.shiftKey) main.querySelector("#back")?.click();
      else goOn();
    } else if (!row.disabled && /^[0-9]$/.test(event.key)) {
      event.preventDefault();
      rate(row, event.key);
    } else if (!row.disabled && keys[event.key]) {
      if (target.closest(".document, .summary") && event.key.startsWith("Arrow")) return;
      event.preventDefault();
      const remark = ["u", "c", "x"].includes(event.key);
      keys[event.key](remark ? justRated ?? row : row);
      if (!remark && !["n", "k"].includes(event.key)) justRated = null;
    }
  }

  // On a narrow screen what explains a dimension opens under it; on a wide one below them all, so that nothing moves.
  if (matchMedia("(max-width: 800px)").matches) for (const row of rows) row.append(panel(row));

  // --- what is still waiting is shown; where the page comes into view, the first open dimension has the focus ---
  for (const row of rows) {
    const waiting = Unsent.of(annotator, row.dataset.url);
    if (waiting?.assignment === assignment) showAnswer(row, waiting);
  }
  const unsentNote = note && Unsent.of(annotator, note.dataset.url);
  if (unsentNote?.assignment === assignment) note.value = unsentNote.comment;
  const enter = () => {
    lastSign = Date.now();
    const open = rows.find((row) => !isAnswered(row)) ?? rows[0];
    if (window.top === window) focusRow(open);
    else select(open); // a preview inside another page leaves the focus where it is
  };
  const leave = () => {
    saveChanged();
    tick();
  };
  return { main, annotator, notice, enter, leave, tick, saveChanged, saved, refused, savedElsewhere, keydown };
}

(() => {
  const AHEAD = 5;
  const KEPT = 20;
  const pages = new Map();
  let current = RatingPage(document.getElementById("content"));
  let looking = false;

  // --- items ahead --------------------------------------------------------------------------------------------
  async function load(address) {
    try {
      const response = await fetch(address, { headers: { "Concord-Ahead": "1" }, cache: "no-store" });
      if (!response.ok || response.redirected) return null;
      const loaded = new DOMParser().parseFromString(await response.text(), "text/html");
      const page = RatingPage(document.adoptNode(loaded.getElementById("content")));
      return page.annotator === current.annotator ? page : null;
    } catch {
      return null;
    }
  }

  async function lookAhead() {
    if (looking) return;
    looking = true;
    document.body.dataset.ahead = "loading";
    const begun = current;
    for (let page = current, steps = 0; page && steps < AHEAD; steps += 1) {
      const address = page.main.querySelector("#next:not([data-resume])")?.href;
      page = address && (pages.get(address) ?? await load(address));
      if (page) pages.set(address, page);
    }
    looking = false;
    document.body.dataset.ahead = "ready";
    if (current !== begun) lookAhead();
  }

  // --- going to another item ----------------------------------------------------------------------------------
  function show(page) {
    current.leave();
    current.main.replaceWith(page.main);
    current = page;
    pages.delete(location.href);
    pages.set(location.href, page);
    for (const [address, kept] of pages) if (pages.size > KEPT && kept !== page) pages.delete(address);
    page.enter();
    Unsent.showRefused();
    Unsent.flush().then(() => document.body.dispatchEvent(new Event("concord:item")));
    lookAhead();
  }

  async function go(link) {
    current.saveChanged();
    const page = pages.get(link.href);
    if (page) {
      history.pushState(null, "", link.href);
      show(page);
    } else if (!navigator.onLine) {
      current.notice("There is no connection now. Your answers are kept; the next item opens when the connection is back.", "notice-warn");
    } else {
      // "Where did I stop?" is asked of the server, so it must have the last answers first.
      if (link.pathname.endsWith("/rate/") && Unsent.count()) await Promise.race([Unsent.flush(), new Promise((resolve) => { setTimeout(resolve, 2000); })]);
      location.assign(link.href);
    }
  }

  window.addEventListener("popstate", () => {
    const page = pages.get(location.href);
    if (page) show(page);
    else location.reload();
  });

  // --- what happens is passed on to the item in view, what was saved to all -----------------------------------
  document.addEventListener("click", (event) => {
    const opener = event.target.closest("[data-open]");
    if (opener) document.getElementById(opener.dataset.open).showModal();
    const link = event.target.closest("#next, #back, #first-open");
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    go(link);
  });
  document.addEventListener("keydown", (event) => current.keydown(event));
  for (const sign of ["keydown", "pointerdown", "scroll"]) document.addEventListener(sign, () => current.tick(), { capture: true, passive: true });
  document.addEventListener("visibilitychange", () => current.tick(document.hidden));
  for (const [name, method] of [["saved", "saved"], ["refused", "refused"], ["saved-elsewhere", "savedElsewhere"]]) {
    document.addEventListener(`unsent:${name}`, ({ detail }) => { for (const page of new Set([current, ...pages.values()])) page[method](detail); });
  }
  window.addEventListener("pageshow", (event) => { if (event.persisted) location.reload(); });
  window.addEventListener("pagehide", () => current.saveChanged());

  pages.set(location.href, current);
  current.enter();
  lookAhead();
})();
