// The rating page: keys, answers handed to the queue in unsent.js, and word from other windows.
"use strict";

(() => {
  const form = document.getElementById("work");
  const rows = [...form.querySelectorAll(".row")];
  const notices = document.getElementById("notices");
  const { annotator, assignment, about } = form.dataset;
  const field = (row, name) => form.querySelector(`[name="${row.dataset.key}-${name}"]`);
  const panel = (row) => document.getElementById(`panel-${row.dataset.key}`);
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
    row.querySelector(".says").textContent = field(row, "cannot_rate").checked ? "Cannot rate" : chosen?.dataset.says ?? "";
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
  const tick = () => {
    const now = Date.now();
    if (!document.hidden) spent += Math.min(now - lastSign, 120_000);
    lastSign = now;
  };
  for (const sign of ["keydown", "pointerdown", "scroll"]) document.addEventListener(sign, tick, { capture: true, passive: true });
  document.addEventListener("visibilitychange", () => { if (document.hidden) spent += Math.min(Date.now() - lastSign, 120_000); lastSign = Date.now(); });

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
  const saveChanged = () => { for (const row of [...changed]) save(row); };

  document.addEventListener("unsent:saved", ({ detail: { entry, reply } }) => {
    const row = entry.assignment === assignment && rowAt(entry.url);
    if (!row) return;
    field(row, "revision").value = reply.revision;
    if (reply.replaced) notice(`${row.dataset.name} had been changed to ${spoken(reply.replaced.value, "no value")} in another window; your ${spoken(entry.value, "answer")} now stands.`, "notice-warn");
    if (reply.overtaken && !Unsent.of(annotator, entry.url)) {
      setValue(row, reply.overtaken.value);
      notice(`A later answer of yours stands: ${row.dataset.name} is ${spoken(reply.overtaken.value, "without a value")}.`, "notice-warn");
    }
    count(reply.complete);
  });

  document.addEventListener("unsent:refused", ({ detail: { entry, message } }) => {
    const row = entry.assignment === assignment && rowAt(entry.url);
    if (!row) return;
    const place = row.querySelector(".row-refusal");
    place.textContent = `Not saved: ${message}`;
    place.hidden = false;
  });

  function count(complete) {
    if (String(complete) === form.dataset.complete) return;
    form.dataset.complete = String(complete);
    for (const name of ["done", "today"]) {
      const place = document.querySelector(`[data-${name}]`);
      place.textContent = String(Number(place.textContent) + (complete ? 1 : -1));
    }
  }

  document.addEventListener("unsent:saved-elsewhere", ({ detail: { entry, reply } }) => {
    const row = entry.assignment === assignment && rowAt(entry.url);
    if (!row) return;
    const isShown = valueOf(row) === entry.value && field(row, "comment").value === entry.comment;
    field(row, "revision").value = reply.revision;
    showAnswer(row, entry);
    count(reply.complete);
    if (!isShown) notice(`${row.dataset.name} was just changed to ${spoken(entry.value, "no value")} in another window of yours.`, "notice-warn");
  });

  // --- pointer and keys ---------------------------------------------------------------------------------------
  form.addEventListener("change", (event) => {
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
    changed.add(rowOf(event.target));
    clearTimeout(typing);
    if (event.target.tagName === "TEXTAREA") typing = setTimeout(saveChanged, 800);
  });
  form.addEventListener("focusin", (event) => {
    const row = rowOf(event.target);
    if (row) select(row);
  });

  // A digit moves on; a remark that follows at once is about what was just rated.
  let justRated = null;
  document.addEventListener("pointerdown", () => { justRated = null; }, { capture: true });

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
    else document.getElementById("next")?.focus();
  }

  function keep(row) {
    if (!("again" in row.dataset) || !hasAnswer(row)) return;
    save(row);
    moveOn(row);
  }

  form.addEventListener("click", (event) => { if (event.target.closest("[data-keep]")) keep(rowOf(event.target)); });

  function goOn() {
    saveChanged();
    if (!navigator.onLine) {
      notice("There is no connection now. Your answers are kept; the next item opens when the connection is back.", "notice-warn");
      return;
    }
    const open = rows.find((row) => !row.disabled && !isAnswered(row));
    if (open && !form.dataset.warned) {
      form.dataset.warned = "yes";
      focusRow(open);
      notice("Some dimensions have no answer yet. Press Enter again to go on all the same.", "notice-warn");
      return;
    }
    document.getElementById("next")?.click();
  }

  // "Where did I stop?" is asked of the server, so it must have the last answers first; it is not waited for long.
  document.getElementById("next")?.addEventListener("click", async (event) => {
    const link = event.currentTarget;
    if (!("resume" in link.dataset) || !Unsent.count()) return;
    event.preventDefault();
    await Promise.race([Unsent.flush(), new Promise((resolve) => { setTimeout(resolve, 2000); })]);
    location.assign(link.href);
  });

  const keys = {
    ArrowDown: (row) => focusRow(rows[Math.min(rows.indexOf(row) + 1, rows.length - 1)]),
    ArrowUp: (row) => focusRow(rows[Math.max(rows.indexOf(row) - 1, 0)]),
    u: (row) => field(row, "unsure").click(),
    x: (row) => field(row, "cannot_rate").click(),
    c: (row) => { select(row); field(row, "comment").focus(); },
    n: (row) => rate(row, "n"),
    k: keep,
    "?": () => document.getElementById("keys").showModal(),
  };

  document.addEventListener("keydown", (event) => {
    const target = event.target;
    if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
    if (target.tagName === "TEXTAREA") {
      if (event.key === "Escape") focusRow(rowOf(target));
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
      if (event.shiftKey) { saveChanged(); document.getElementById("back")?.click(); } else goOn();
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
  });

  document.addEventListener("click", (event) => {
    const opener = event.target.closest("[data-open]");
    if (opener) document.getElementById(opener.dataset.open).showModal();
  });
  window.addEventListener("pageshow", (event) => { if (event.persisted) location.reload(); });
  window.addEventListener("pagehide", saveChanged);

  // On a narrow screen what explains a dimension opens under it; on a wide one below them all, so that nothing moves.
  if (matchMedia("(max-width: 800px)").matches) for (const row of rows) row.append(panel(row));

  // --- beginning: what is still waiting is shown, then the first open dimension has the focus -----------------
  for (const row of rows) {
    const waiting = Unsent.of(annotator, row.dataset.url);
    if (waiting?.assignment === assignment) showAnswer(row, waiting);
  }
  focusRow(rows.find((row) => !isAnswered(row)) ?? rows[0]);
})();
