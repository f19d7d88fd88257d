// One item of the rating page: its focus and keys, answers handed to the queue in unsent.js, word from other windows.
"use strict";

function RatingPage(main) {
  const form = main.querySelector("#work");
  const { rows, field, rowOf, rowAt, rowNamed, step, isLocked, radios, typed, shownValue, valueOf, answerIn, hasAnswer, isAnswered, isAllAnswered, setValue, describe, fill, showConditions } = Rows(form);
  const time = ActiveTime();
  const notices = main.querySelector("#notices");
  const { annotator, assignment, about, hold } = form.dataset;
  const spoken = (value, otherwise) => (value === "not_applicable" ? "not applicable" : value || otherwise);
  const changed = new Set();
  const evidence = Evidence(main, { rows, field, isLocked });
  const output = Output(main);
  const said = main.querySelector("#said");
  Keys.label(main);

  const notice = (text, kind) => Press.after(() => {
    const line = document.createElement("p");
    line.className = `notice ${kind}`;
    line.textContent = text;
    notices.replaceChildren(line);
  });

  // --- the dock shows one question, which has the focus ----------------------------------------------------------
  function showAnswer(row, answer) {
    fill(row, answer);
    given.set(row, state(row));
    evidence.list(row);
  }

  function select(row) {
    for (const each of rows) {
      each.classList.toggle("focused", each === row);
      if (each === row) step(each).setAttribute("aria-current", "step");
      else step(each).removeAttribute("aria-current");
    }
    if (!main.isConnected) return;
    const trail = step(row).closest(".trail");
    const { offsetLeft, offsetWidth } = step(row);
    if (trail.scrollWidth > trail.clientWidth) trail.scrollLeft = offsetLeft + offsetWidth / 2 - trail.clientWidth / 2;
    evidence.mark(row);
    Spans.mark(row);
    evidence.offer(row);
  }

  // A number is typed, so its field takes the focus, except by touch: the keyboard of a phone would cover the dock.
  // Otherwise the question takes it: a ring around "1" would look like a choice.
  // Under a pointer the page does not scroll: a second tap at the same place must hit the same point.
  function focusRow(row, by = "key") {
    select(row);
    (by === "touch" ? row : typed(row) ?? row).focus({ preventScroll: true });
    if (isLow && by === "key") row.scrollIntoView({ block: "nearest" });
  }
  const focused = () => rows.find((row) => row.classList.contains("focused")) ?? rows[0];

  // --- undo: the values before the last changes, the newest at the end ---------------------------------------------
  const state = (row) => ({ value: valueOf(row), data: Questions.data(row), cannotRate: field(row, "cannot_rate").checked });
  const given = new Map();
  const changes = [];
  let wasComplete = isAllAnswered(); // before the answer that is being given

  function note(row) {
    const before = given.get(row);
    const now = state(row);
    if (before.value === now.value && before.data === now.data && before.cannotRate === now.cannotRate) return false;
    changes.push({ row, before });
    given.set(row, now);
    return true;
  }

  function undo() {
    saveChanged(); // a number that is still typed is a change too
    const { row, before } = changes.pop() ?? {};
    justRated = null;
    if (!row) {
      said.textContent = say("There is nothing to undo on this item.");
      return;
    }
    setValue(row, before.value === "" ? null : before.value);
    Questions.fill(row, before.data);
    field(row, "cannot_rate").checked = before.cannotRate;
    given.set(row, before);
    save(row);
    focusRow(row);
    said.textContent = say("Undone. {name}: {value}.", { name: row.dataset.name, value: answerIn(row) || say("no value") });
    wasComplete = isAllAnswered();
  }

  // --- saving -------------------------------------------------------------------------------------------------
  function save(row) {
    changed.delete(row);
    Questions.compose(row);
    const conditions = showConditions();
    if (conditions.hasChanged) for (const other of rows) describe(other);
    if (note(row)) said.textContent = say("{name}: {value}.", { name: row.dataset.name, value: answerIn(row) || say("no value") });
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
      data: Questions.data(row),
      shown: shownValue(row),
      unsure: field(row, "unsure").checked,
      cannot_rate: field(row, "cannot_rate").checked,
      comment: field(row, "comment").value,
      evidence: field(row, "evidence").value,
      active_seconds: field(row, "active_seconds").value,
      revision: field(row, "revision").value,
      guideline: field(row, "guideline").value,
    });
    for (const other of conditions.again) save(other);
  }
  // A private note goes the same way as an answer.
  const privateNote = form.querySelector("[name=note]");
  let noteSaved = privateNote?.value;
  function saveNote() {
    if (!privateNote || privateNote.value === noteSaved) return;
    noteSaved = privateNote.value;
    Unsent.put({ url: privateNote.dataset.url, annotator, assignment, about: `${about}, private note`, comment: privateNote.value });
    markNote();
  }
  const markNote = () => { if (privateNote) form.querySelector("[data-has-note]").hidden = !privateNote.value; };
  const saveChanged = () => { Keys.settle(); for (const row of [...changed]) save(row); saveNote(); };

  function saved({ entry, reply }) {
    const row = entry.assignment === assignment && rowAt(entry.url);
    if (!row) return;
    field(row, "revision").value = reply.revision;
    if (reply.replaced) notice(say("{name} had been changed to {value} in another window; your {own} is saved now.", { name: row.dataset.name, value: spoken(reply.replaced.value, say("no value")), own: spoken(entry.value, say("answer")) }), "notice-warn");
    if (reply.overtaken && !Unsent.of(annotator, entry.url)) {
      setValue(row, reply.overtaken.value);
      Questions.fill(row, reply.overtaken.data ? JSON.stringify(reply.overtaken.data) : "");
      showConditions();
      given.set(row, state(row));
      notice(say("You gave a later answer, which counts: {name} is {value}.", { name: row.dataset.name, value: spoken(reply.overtaken.value, say("without a value")) }), "notice-warn");
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
  const disable = (isOn) => { for (const fields of form.querySelectorAll(".fields, .remarks")) fields.disabled = isOn; };
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
    if (isOver) return;
    disable(false);
    if (main.isConnected) focusRow(focused());
  }

  // Nothing more can be stored: what is typed is sent, to be listed with its text, and nothing can be added.
  let isOver = isLocked(rows[0]);
  function lock() {
    isOver = true;
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
    showConditions();
    if (main.isConnected) evidence.mark(focused());
    count(reply.complete);
    if (!isShown) notice(say("{name} was just changed to {value} in another window of yours.", { name: row.dataset.name, value: spoken(entry.value, say("no value")) }), "notice-warn");
  }

  // --- pointer: a click or tap on a point rates and moves on, as a digit does ------------------------------------
  let clicked = null; // its change event brings nothing new
  let pointer = "mouse";
  form.addEventListener("pointerdown", ({ pointerType }) => {
    clicked = null;
    pointer = pointerType;
  }, { capture: true });

  form.addEventListener("change", ({ target }) => {
    if (target === privateNote) saveNote();
    const row = rowOf(target);
    if (!row || target === clicked) return;
    if (target.matches("[data-field], [data-none]")) {
      Questions.settle(target);
      if (target.type !== "textarea") field(row, "cannot_rate").checked = false;
      for (const radio of radios(row)) radio.checked = false; // "not applicable"
    }
    if (target.name.endsWith("-cannot_rate") && target.checked) Questions.fill(row, "");
    if (target.name.endsWith("-cannot_rate") && target.checked) setValue(row, null);
    if (target.name.endsWith("-value") && valueOf(row) !== "") {
      field(row, "cannot_rate").checked = false;
      Questions.fill(row, "");
    }
    save(row);
    if (Keys.forget()) saveChanged(); // the wait may be in another row
    if (target.type === "radio" && !target.matches("[data-field]")) {
      advance();
      wasComplete = isAllAnswered();
    }
  });

  function ratePointed(row, radio) {
    clicked = radio;
    if (radio.value !== "" && typed(row)) typed(row).value = "";
    Questions.fill(row, "");
    field(row, "cannot_rate").checked = false;
    save(row);
    if (Keys.forget()) saveChanged();
    Press.after(() => moveOn(row, pointer));
  }

  let typing = 0;
  form.addEventListener("input", (event) => {
    if (event.target.tagName !== "TEXTAREA" && event.target.type !== "number") return;
    if (event.target.type === "number") justRated = null;
    if (event.target.type === "number") for (const radio of radios(rowOf(event.target))) radio.checked = false;
    if (event.target !== privateNote) changed.add(rowOf(event.target));
    clearTimeout(typing);
    if (event.target.tagName === "TEXTAREA") typing = setTimeout(saveChanged, 800);
  });
  form.addEventListener("focusin", () => Press.after(() => {
    const row = rowOf(document.activeElement);
    if (row && !row.classList.contains("focused")) select(row);
  }));
  form.addEventListener("click", ({ target, detail }) => {
    const row = rowOf(target);
    const go = target.closest("[data-go]")?.dataset.go;
    const act = target.closest("[data-act]")?.dataset.act;
    if (go) { saveChanged(); justRated = null; focusRow(rowNamed(go), detail ? pointer : "key"); }
    if (act === "undo" && !isLocked(focused())) undo();
    if (target.closest("[data-keep]")) keep(row);
    if (target.closest("[data-move-on]")) { save(row); moveOn(row, detail ? pointer : "key"); }
    if (target.closest("[data-severity]")) markSpan(row, target.closest("[data-severity]").dataset.severity);
    if (detail && target.type === "radio" && !target.matches("[data-field]")) ratePointed(row, target); // a click by key or script has no count
  });

  // --- spans ---------------------------------------------------------------------------------------------------
  function markSpan(row, severity) {
    if (isLocked(row)) return;
    if (!Spans.add(row, severity)) said.textContent = say("Select the words to mark in the text first.");
    row.focus({ preventScroll: true });
  }
  form.addEventListener("spans:changed", ({ target }) => {
    field(target, "cannot_rate").checked = false;
    setValue(target, null); // "not applicable"
    save(target);
  });
  form.addEventListener("pointerdown", (event) => { if (event.target.closest("[data-severity]")) event.preventDefault(); }); // the selection stays

  // --- evidence -----------------------------------------------------------------------------------------------
  const changeEvidence = (row, act) => { if (!isLocked(row) && act(row)) save(row); };
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

  function choose(row, key) {
    if (Questions.isComposed(row) && key !== "n") return false;
    const chosen = radios(row).find((radio) => (key === "10" ? radio.value : radio.dataset.key) === key);
    if (!chosen) return false;
    setValue(row, chosen.value);
    field(row, "cannot_rate").checked = false;
    return true;
  }

  function rate(row, key) {
    if (Questions.isComposed(row) && key !== "n") {
      const taken = Questions.digit(row, key);
      if (!taken) return;
      setValue(row, null); // "not applicable"
      field(row, "cannot_rate").checked = false;
      save(row);
      if (taken === "done") moveOn(row);
      return;
    }
    if (!choose(row, key)) return;
    Questions.fill(row, "");
    save(row);
    const { activeElement } = document;
    const hasLeft = row !== focused() || activeElement.matches("textarea, [type=search]"); // during the wait
    if (!hasLeft) moveOn(row);
  }

  function showOne(row) {
    clearTimeout(typing);
    saveChanged(); // what was typed before must not end the wait
    choose(row, "1");
    changed.add(row);
    describe(row);
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

  // The next question: what has an answer is passed over, unless the item was complete and is being revised.
  function nextAfter(row) {
    const after = rows.slice(rows.indexOf(row) + 1).filter((each) => !each.hidden);
    if (wasComplete) return after[0];
    return after.find((each) => !isAnswered(each)) ?? (isAllAnswered() ? undefined : after[0]);
  }

  function moveOn(row, by) {
    justRated = row;
    const next = nextAfter(row);
    if (next) focusRow(next, by);
    else main.querySelector("#next")?.focus({ preventScroll: true });
    advance();
    wasComplete = isAllAnswered();
  }

  function keep(row) {
    if (!("again" in row.dataset) || !hasAnswer(row)) return;
    save(row);
    moveOn(row);
  }

  // Whether an item that is left has a gap, which is said once.
  function holdsBack() {
    const open = rows.find((row) => !isLocked(row) && !isAnswered(row));
    const isWhole = "whole" in form.dataset; // practice: what is right is shown when all is rated
    if (!open || (form.dataset.warned && !isWhole) || "preview" in form.dataset) return false;
    form.dataset.warned = "yes";
    focusRow(open);
    if (isWhole) notice(say("Rate every dimension; then you see the right values."), "notice-warn");
    else notice(say("Some dimensions have no answer yet. Continue again to leave them open."), "notice-warn");
    return true;
  }

  // Once an item: who stayed, or came back to what was answered, goes on by hand.
  let goesOnByItself = Keys.advance && !isLocked(rows[0]);
  function advance() {
    if (!goesOnByItself || !isAllAnswered()) return;
    Advance.begin(main.querySelector("#advance"), () => main.querySelector("#next")?.click(), () => { goesOnByItself = false; });
  }

  if (reworded) disable(true);

  const always = {
    next: () => main.querySelector("#next")?.click(),
    back: () => main.querySelector("#back")?.click(),
    down: (row) => focusRow(rows.slice(rows.indexOf(row) + 1).find((each) => !each.hidden) ?? row),
    up: (row) => focusRow(rows.slice(0, rows.indexOf(row)).findLast((each) => !each.hidden) ?? row),
    first_unrated: () => document.getElementById("first-open")?.click(),
    guideline: () => document.getElementById("guideline")?.click(),
    flagged: () => document.getElementById("flagged")?.click(),
    find: () => Find.begin(main),
    fold: () => Find.fold(main),
    help: () => main.querySelector("#keys").showModal(),
    escape: (row) => {
      if (!Find.clear(main)) getSelection().removeAllRanges();
      form.querySelector("[popover]:popover-open")?.hidePopover();
      if (document.activeElement.closest(".document, .summary, .note")) focusRow(row);
    },
  };
  const whileOpen = {
    unsure: (row) => field(row, "unsure").click(),
    cannot_rate: (row) => field(row, "cannot_rate").click(),
    step: addStep,
    undo,
    comment: (row) => { select(row); field(row, "comment").focus(); },
    not_applicable: (row) => rate(row, "n"),
    keep,
    evidence: (row) => changeEvidence(row, evidence.add),
    unmark: (row) => changeEvidence(row, () => evidence.remove(row, evidence.count(row) - 1)),
  };
  const REMARKS = ["unsure", "cannot_rate", "comment", "step"];

  function act(name, row) {
    if (whileOpen[name] && isLocked(row)) return;
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
    if (["ArrowLeft", "ArrowRight"].includes(event.key) && rows.includes(target)) { // into the scale, where arrows choose
      (radios(target).find((radio) => radio.checked) ?? radios(target)[0])?.focus({ preventScroll: true });
      event.preventDefault();
      return;
    }
    const asked = askedAt(target, event);
    if (!asked || ("value" in asked && isLocked(focused()))) return;
    const isArrow = event.key.startsWith("Arrow");
    if (isArrow && target.closest(".document, .summary")) return;
    if (event.key === "Enter" && target.closest("summary, button, a:not(#next, #back)")) return;
    event.preventDefault();
    if (event.repeat && !isArrow) return; // a key that is held down answers once
    if (Keys.settle(asked.value) === "10") return;
    const row = focused();
    if (asked.value) Keys.take(asked.value, "oneAndTen" in row.dataset, (key) => rate(row, key), () => showOne(row));
    else if (asked.action === "escape" && target.tagName === "TEXTAREA") {
      target.closest("[popover]")?.hidePopover();
      focusRow(rowOf(target) ?? row);
    }
    else if (asked.action === "next" && target.type === "number" && target.value !== "") moveOn(row);
    else if (asked.action === "next" && Questions.isComposed(row) && isAnswered(row) && row.contains(target)) moveOn(row);
    else act(asked.action, row);
  }

  // With little height, as on a page enlarged to 400 %, the page scrolls; otherwise the dock stays in view.
  const isLow = matchMedia("(max-height: 30em)").matches;

  // --- what is still waiting is shown; where the page comes into view, the first open dimension has the focus ---
  for (const row of rows) {
    const waiting = Unsent.of(annotator, row.dataset.url);
    if (waiting?.assignment === assignment) showAnswer(row, waiting);
    else describe(row);
    Spans.list(row);
    given.set(row, state(row));
  }
  showConditions();
  const unsentNote = privateNote && Unsent.of(annotator, privateNote.dataset.url);
  if (unsentNote?.assignment === assignment) privateNote.value = unsentNote.comment;
  markNote();

  const scrollers = [...main.querySelectorAll(".document, .summary")];
  let scrolled = [];
  function enter() {
    time.begin();
    Reservation.follow({ url: hold, annotator, assignment });
    goesOnByItself = goesOnByItself && !isAllAnswered();
    wasComplete = isAllAnswered();
    Find.show(main);
    const open = rows.find((row) => !isAnswered(row)) ?? rows[0];
    select(open); // what changes the layout comes before what asks for it
    scrolled.forEach((top, index) => { scrollers[index].scrollTop = top; });
    if (window.top === window) focusRow(open); // a preview inside another page leaves the focus where it is
    if (isLow) window.scrollTo(0, 0); // the text comes first
    output.update();
    reworded?.querySelector("button").focus({ preventScroll: true });
    main.querySelector("#feedback")?.focus({ preventScroll: true });
    selectionChanged();
  }
  function leave() {
    saveChanged();
    Advance.end();
    time.tick();
    scrolled = scrollers.map((each) => each.scrollTop);
  }
  const suggestPause = () => notice(say("You have rated for 50 minutes. A short pause keeps your ratings steady."), "notice-pause");
  return { main, annotator, suggestPause, assignment, guideline: Number(form.dataset.guideline), readWording, lock, notice, enter, leave, tick: time.tick, saveChanged, holdsBack, saved, refused, savedElsewhere, keydown, selectionChanged };
}
