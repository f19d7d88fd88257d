// One item of the rating page: its focus and keys, answers handed to the queue in unsent.js, word from other windows.
"use strict";

function RatingPage(main) {
  const form = main.querySelector("#work");
  const { rows, field, panel, rowOf, rowAt, radios, control, shownValue, valueOf, hasAnswer, isAnswered, isAllAnswered, setValue, describe, fill } = Rows(form);
  const time = ActiveTime();
  const notices = main.querySelector("#notices");
  const { annotator, assignment, about, hold } = form.dataset;
  const spoken = (value, otherwise) => (value === "not_applicable" ? "not applicable" : value || otherwise);
  const changed = new Set();
  const evidence = Evidence(main, { rows, field, panel });
  Keys.label(main);

  const notice = (text, kind) => Press.after(() => {
    const line = document.createElement("p");
    line.className = `notice ${kind}`;
    line.textContent = text;
    notices.replaceChildren(line);
  });

  // --- a row is shown, and has the focus ------------------------------------------------------------------------
  function showAnswer(row, answer) {
    fill(row, answer);
    evidence.list(row);
  }

  function select(row) {
    for (const each of rows) {
      each.classList.toggle("focused", each === row);
      panel(each).classList.toggle("focused", each === row);
    }
    if (!main.isConnected) return;
    evidence.mark(row);
    evidence.offer(row);
  }

  // What was tapped stays under the finger when a panel above it closes, so that a second tap hits it again.
  function selectInPlace(row) {
    const { top } = row.getBoundingClientRect();
    select(row);
    if (isNarrow) window.scrollBy({ top: row.getBoundingClientRect().top - top, behavior: "instant" });
  }

  function focusRow(row) {
    select(row);
    row.scrollIntoView({ block: "nearest" });
    control(row).focus({ preventScroll: true });
  }
  const focused = () => rows.find((row) => row.classList.contains("focused")) ?? rows[0];

  // --- saving -------------------------------------------------------------------------------------------------
  function save(row) {
    changed.delete(row);
    delete row.dataset.refused;
    describe(row);
    Press.after(() => row.querySelector(".row-again")?.remove());
    delete row.dataset.again;
    if ("preview" in form.dataset) return;
    time.addTo(field(row, "active_seconds"));
    Unsent.put({
      url: row.dataset.url,
      together: form.dataset.together,
      key: row.dataset.key,
      annotator,
      assignment,
      about: `${about}, ${row.dataset.name}`,
      value: valueOf(row),
      shown: shownValue(row),
      unsure: field(row, "unsure").checked,
      cannot_rate: field(row, "cannot_rate").checked,
      comment: field(row, "comment").value,
      evidence: field(row, "evidence").value,
      active_seconds: field(row, "active_seconds").value,
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
    if (reply.replaced) notice(say("{name} had been changed to {value} in another window; your {own} is saved now.", { name: row.dataset.name, value: spoken(reply.replaced.value, say("no value")), own: spoken(entry.value, say("answer")) }), "notice-warn");
    if (reply.overtaken && !Unsent.of(annotator, entry.url)) {
      setValue(row, reply.overtaken.value);
      notice(say("You gave a later answer, which is kept: {name} is {value}.", { name: row.dataset.name, value: spoken(reply.overtaken.value, say("without a value")) }), "notice-warn");
    }
    count(reply.complete);
  }

  function refused({ entry }) {
    const row = entry.assignment === assignment && rowAt(entry.url);
    if (!row) return;
    row.dataset.refused = "yes";
    describe(row);
  }

  // New wording is read first: until then nothing of this item can be answered.
  let reworded = main.querySelector("#reworded");
  const disable = (isOn) => { for (const fields of form.querySelectorAll(".row, .remarks")) fields.disabled = isOn; };
  reworded?.addEventListener("submit", (event) => {
    event.preventDefault();
    const { action } = event.target;
    const { annotator: place, version } = Object.fromEntries(new FormData(event.target));
    Unsent.put({ url: action, annotator: place, assignment: "", about: "", version });
    document.dispatchEvent(new CustomEvent("wording:read", { detail: version }));
  });

  function readWording(version) {
    if (reworded?.querySelector("[name=version]").value !== version) return;
    reworded.remove();
    reworded = null;
    if (isLocked) return;
    disable(false);
    if (main.isConnected) focusRow(focused());
  }

  // Nothing more can be stored: what is typed is sent, to be listed with its text, and nothing can be added.
  let isLocked = rows[0].disabled;
  function lock() {
    isLocked = true;
    saveChanged();
    const had = form.contains(document.activeElement) && rowOf(document.activeElement);
    Advance.end();
    disable(true);
    for (const row of rows) evidence.list(row);
    if (!main.isConnected) return;
    evidence.offer(focused());
    if (had) main.querySelector("#next")?.focus({ preventScroll: true });
  }

  function count(complete) {
    if (String(complete) === form.dataset.complete) return;
    form.dataset.complete = String(complete);
    Press.after(() => Counter.count(complete ? 1 : -1));
  }

  function savedElsewhere({ entry, reply }) {
    const row = entry.assignment === assignment && rowAt(entry.url);
    if (!row) return;
    const isShown = valueOf(row) === entry.value && field(row, "comment").value === entry.comment;
    field(row, "revision").value = reply.revision;
    showAnswer(row, entry);
    if (main.isConnected) evidence.mark(focused());
    count(reply.complete);
    if (!isShown) notice(say("{name} was just changed to {value} in another window of yours.", { name: row.dataset.name, value: spoken(entry.value, say("no value")) }), "notice-warn");
  }

  // --- pointer ------------------------------------------------------------------------------------------------
  form.addEventListener("change", (event) => {
    if (event.target === note) saveNote();
    const row = rowOf(event.target);
    if (!row) return;
    if (event.target.name.endsWith("-cannot_rate") && event.target.checked) setValue(row, null);
    if (event.target.name.endsWith("-value") && valueOf(row) !== "") field(row, "cannot_rate").checked = false;
    save(row);
    if (event.target.type === "radio") advance();
  });

  let typing = 0;
  form.addEventListener("input", (event) => {
    if (event.target.tagName !== "TEXTAREA" && event.target.type !== "number") return;
    if (event.target.type === "number") justRated = null;
    if (event.target.type === "number") for (const radio of radios(rowOf(event.target))) radio.checked = false;
    if (event.target !== note) changed.add(rowOf(event.target));
    clearTimeout(typing);
    if (event.target.tagName === "TEXTAREA") typing = setTimeout(saveChanged, 800);
  });
  // A pointer moves the focus before its click: the row is selected with the click, or when it is clear that none comes.
  form.addEventListener("focusin", () => Press.after(() => {
    const row = rowOf(document.activeElement);
    if (row && !row.classList.contains("focused")) selectInPlace(row);
  }));
  form.addEventListener("click", ({ target, detail }) => {
    const row = rowOf(target);
    if (row && detail) selectInPlace(row); // not every browser gives the focus to what is clicked
    if (target.closest("[data-keep]")) keep(row);
  });

  // --- evidence -----------------------------------------------------------------------------------------------
  const changeEvidence = (row, act) => { if (!row.disabled && act(row)) save(row); };
  form.addEventListener("evidence:remove", ({ target, detail }) => {
    const row = rowOf(target);
    changeEvidence(row, () => evidence.remove(row, detail));
    focusRow(row);
  });
  main.querySelector("#mark-evidence").addEventListener("click", ({ currentTarget }) => {
    const had = document.activeElement === currentTarget; // reached by Tab: it goes away
    changeEvidence(focused(), evidence.add);
    if (had) focusRow(focused());
  });
  main.addEventListener("find:left", () => focusRow(focused()));
  function selectionChanged() {
    Words.markShared(main);
    evidence.offer(focused());
  }

  // --- keys: a digit moves on; a remark that follows at once is about what was just rated ---------------------------
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

  // Half points and the like: a digit chooses the whole point, and this the next one of the scale.
  function addStep(row) {
    if (!("steps" in row.dataset)) return;
    const points = radios(row).filter((radio) => radio.dataset.key !== "n");
    const next = points[points.findIndex((radio) => radio.checked) + 1];
    if (!next || !points.some((radio) => radio.checked)) return;
    setValue(row, next.value);
    save(row);
  }

  function moveOn(row) {
    justRated = row;
    const next = rows[rows.indexOf(row) + 1];
    if (next) focusRow(next);
    else main.querySelector("#next")?.focus();
    advance();
  }

  function keep(row) {
    if (!("again" in row.dataset) || !hasAnswer(row)) return;
    save(row);
    moveOn(row);
  }

  // Whether an item that is left has a gap, which is said once.
  function holdsBack() {
    const open = rows.find((row) => !row.disabled && !isAnswered(row));
    const isWhole = "whole" in form.dataset; // practice: what is right is shown when all is rated
    if (!open || (form.dataset.warned && !isWhole) || "preview" in form.dataset) return false;
    form.dataset.warned = "yes";
    focusRow(open);
    if (isWhole) notice(say("Rate every dimension; then you see what is right."), "notice-warn");
    else notice(say("Some dimensions have no answer yet. Continue again to leave them open."), "notice-warn");
    return true;
  }

  // Once an item: who stayed, or came back to what was answered, goes on by hand.
  let goesOnByItself = Keys.advance && !rows[0].disabled;
  function advance() {
    if (!goesOnByItself || !isAllAnswered()) return;
    Advance.begin(main.querySelector("#advance"), () => main.querySelector("#next")?.click(), () => { goesOnByItself = false; });
  }

  if (reworded) disable(true);

  const always = {
    next: () => main.querySelector("#next")?.click(),
    back: () => main.querySelector("#back")?.click(),
    down: (row) => focusRow(rows[Math.min(rows.indexOf(row) + 1, rows.length - 1)]),
    up: (row) => focusRow(rows[Math.max(rows.indexOf(row) - 1, 0)]),
    first_unrated: () => document.getElementById("first-open")?.click(),
    guideline: () => document.getElementById("guideline")?.click(),
    flagged: () => document.getElementById("flagged")?.click(),
    find: () => Find.begin(main),
    fold: () => Find.fold(main),
    help: () => main.querySelector("#keys").showModal(),
    escape: (row) => {
      if (!Find.clear(main)) getSelection().removeAllRanges();
      if (document.activeElement.closest(".document, .summary")) focusRow(row);
    },
  };
  const whileOpen = {
    unsure: (row) => field(row, "unsure").click(),
    cannot_rate: (row) => field(row, "cannot_rate").click(),
    step: addStep,
    comment: (row) => { select(row); field(row, "comment").focus(); },
    not_applicable: (row) => rate(row, "n"),
    keep,
    evidence: (row) => changeEvidence(row, evidence.add),
    unmark: (row) => changeEvidence(row, () => evidence.remove(row, evidence.count(row) - 1)),
  };
  const REMARKS = ["unsure", "cannot_rate", "comment", "step"];

  function act(name, row) {
    if (whileOpen[name] && row.disabled) return;
    const remark = REMARKS.includes(name);
    (always[name] ?? whileOpen[name])(remark ? justRated ?? row : row);
    if (!remark && !["not_applicable", "keep", "next"].includes(name)) justRated = null;
  }

  // What a key asks for where the focus is; typing asks for nothing.
  function askedAt(target, event) {
    const asked = Keys.asked(event);
    if (target.type !== "number") return Keys.isTyping(target) && asked?.action !== "escape" ? null : asked;
    // What is typed into an empty field at once after a rating is still about that.
    if (asked?.action === "step" && target.value === "" && justRated && "steps" in justRated.dataset) return asked;
    if (Keys.isPartOfNumber(event)) return null;
    return asked?.value || ["unmark", "escape"].includes(asked?.action) ? null : asked;
  }

  function keydown(event) {
    const { target } = event;
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing || event.defaultPrevented || document.querySelector("dialog[open]")) return;
    const asked = askedAt(target, event);
    if (!asked || ("value" in asked && focused().disabled)) return;
    const isArrow = event.key.startsWith("Arrow");
    if (isArrow && target.closest(".document, .summary")) return;
    if (event.key === "Enter" && target.closest("summary, button, a:not(#next, #back)")) return;
    event.preventDefault();
    if (event.repeat && !isArrow) return; // a key that is held down answers once
    const row = focused();
    if (asked.value) rate(row, asked.value);
    else if (asked.action === "escape" && target.tagName === "TEXTAREA") focusRow(rowOf(target) ?? row);
    else if (asked.action === "next" && target.type === "number" && target.value !== "") moveOn(row);
    else act(asked.action, row);
  }

  // On a narrow screen what explains a dimension opens under it; on a wide one below them all, so that nothing moves.
  const isNarrow = matchMedia("(max-width: 50em), (max-height: 30em)").matches;
  if (isNarrow) for (const row of rows) row.append(panel(row));

  // --- what is still waiting is shown; where the page comes into view, the first open dimension has the focus ---
  for (const row of rows) {
    const waiting = Unsent.of(annotator, row.dataset.url);
    if (waiting?.assignment === assignment) showAnswer(row, waiting);
    else describe(row);
  }
  const unsentNote = note && Unsent.of(annotator, note.dataset.url);
  if (unsentNote?.assignment === assignment) note.value = unsentNote.comment;

  const scrollers = [...main.querySelectorAll(".document, .summary")];
  let scrolled = [];
  function enter() {
    time.begin();
    Reservation.follow({ url: hold, annotator, assignment });
    goesOnByItself = goesOnByItself && !isAllAnswered();
    Find.show(main);
    const open = rows.find((row) => !isAnswered(row)) ?? rows[0];
    select(open); // what changes the layout comes before what asks for it
    scrolled.forEach((top, index) => { scrollers[index].scrollTop = top; });
    if (window.top === window) focusRow(open); // a preview inside another page leaves the focus where it is
    if (isNarrow) window.scrollTo(0, 0); // the text comes first
    reworded?.querySelector("button").focus({ preventScroll: true });
    main.querySelector("#feedback")?.focus({ preventScroll: true });
    selectionChanged();
  }
  function leave() {
    Advance.end();
    saveChanged();
    time.tick();
    scrolled = scrollers.map((each) => each.scrollTop);
  }
  return { main, annotator, assignment, guideline: Number(form.dataset.guideline), readWording, lock, notice, enter, leave, tick: time.tick, saveChanged, holdsBack, saved, refused, savedElsewhere, keydown, selectionChanged };
}
