// A dispute: one key keeps or changes the value; typing never does. The discussion follows what others do.
"use strict";

(() => {
  const UNREAD = 300; // ms in which a key is still meant for what was shown before
  const LIVE = 1_000; // ms between two looks at what others do, while anything goes on here
  const QUIET = 10_000; // and when nothing has, in all windows of this dispute and by this person, for so long:
  const LONG = 15 * 60_000;
  const discussion = () => document.getElementById("discussion");
  const news = document.getElementById("news");
  let shownAt = performance.now();
  let stirredAt = shownAt;
  let timer = 0;
  let before = null;

  window.addEventListener("pageshow", () => { shownAt = performance.now(); });

  // Where the focus is when what had it is gone: at the answers, and on none, so that a key still held gives none.
  const content = document.getElementById("content");
  const home = () => (document.querySelector("#answer-buttons:has(button)") ?? content).focus({ preventScroll: true });
  if (document.activeElement === document.body) content.focus({ preventScroll: true });

  document.addEventListener("keydown", (event) => {
    if (event.repeat || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.target.closest("textarea, select, input:not([type=checkbox], [type=radio])")) {
      if (event.key === "Escape") home();
      return;
    }
    const asked = Keys.asked(event);
    const buttonOf = (key) => document.querySelector(`[data-keys~="${CSS.escape(key)}"]`);
    const button = buttonOf(event.key.toLowerCase()) ?? (asked?.value && buttonOf(asked.value));
    if (!button && DisputeTexts.act(asked?.action)) event.preventDefault();
    const typed = /^[0-9]$/.test(event.key) && document.querySelector("#answer input[type=number]");
    if (typed) typed.focus(); // the digit goes on into it
    if (!button) return;
    event.preventDefault();
    if (performance.now() - shownAt > UNREAD) button.click();
  });

  // --- sending ------------------------------------------------------------------------------------------------
  document.addEventListener("htmx:configRequest", (event) => {
    const token = document.cookie.match(/csrftoken=([^;]+)/)?.[1]; // signing in again, in another window, renews it
    if (!token) return;
    event.detail.headers["X-CSRFToken"] = token;
    delete event.detail.parameters.csrfmiddlewaretoken;
  });

  document.addEventListener("htmx:afterRequest", (event) => {
    const { status } = event.detail.xhr;
    if (event.detail.requestConfig.verb === "post") {
      if (taken(status)) sent(event.detail.requestConfig.elt);
      note(status);
    }
    follow();
  });

  const taken = (status) => status >= 200 && status < 300;
  const SAID = { reply: say("Your post is sent."), undo: say("Your answer is taken back.") };

  // What is typed and not sent outlives the page, in this window.
  const texts = () => document.querySelectorAll("#reply textarea, #answer textarea, #decision textarea");
  const kept = (text) => `${location.pathname} ${text.form.elements.rater?.value} ${text.name}`;
  for (const text of texts()) text.value ||= sessionStorage.getItem(kept(text)) ?? "";
  document.addEventListener("input", ({ target }) => {
    if ([...texts()].includes(target)) sessionStorage.setItem(kept(target), target.value);
  });
  function sent(form) {
    if (form.id === "answer") DisputeTexts.sent();
    for (const text of texts()) {
      if (text.form !== form) continue;
      sessionStorage.removeItem(kept(text));
      text.value = "";
    }
    news.textContent = SAID[form.id] ?? document.querySelector("#answered span")?.textContent ?? "";
  }

  // On a call one stays with the dispute that is talked about.
  const stay = document.getElementById("stay");
  if (stay) {
    stay.checked ||= sessionStorage.getItem("stay") === "on";
    stay.addEventListener("change", () => sessionStorage.setItem("stay", stay.checked ? "on" : ""));
  }

  function note(status) {
    document.getElementById("unsent")?.remove();
    if (status !== 422) document.getElementById("refusal").replaceChildren();
    if (taken(status) || status === 422) return;
    const line = document.createElement("p");
    line.id = "unsent";
    line.className = "notice notice-bad";
    line.setAttribute("role", "alert");
    line.textContent = say("This was not saved; what you have typed is still here. Try again, or copy it and load this page again.");
    discussion().before(line);
  }

  // --- an update says what is new, and leaves what has the focus where it is -----------------------------------
  const told = () => [...discussion().querySelectorAll("[data-news]")];

  document.addEventListener("htmx:beforeSwap", ({ detail }) => {
    if (detail.target !== discussion()) return;
    if (detail.requestConfig.verb === "get" && Press.isOn()) { // news under a finger would move what it is on
      detail.shouldSwap = false;
      Press.after(look);
      return;
    }
    const held = document.activeElement;
    before = { told: new Set(told().map((each) => each.dataset.news)), held, top: held.getBoundingClientRect().top };
  });

  document.addEventListener("htmx:afterSwap", () => {
    DisputeTexts.follow();
    if (!before) return;
    const fresh = told().filter((each) => each.dataset.news && !before.told.has(each.dataset.news));
    for (const each of fresh) each.classList.add("fresh");
    if (fresh.length) {
      news.textContent = fresh.map((each) => each.dataset.news.trim()).join(" ");
      stirredAt = performance.now();
    }
    if (fresh.some((each) => !each.closest(".thread"))) shownAt = performance.now();
    const marks = before.held.dataset?.marks; // the one thing in the discussion that can have the focus
    if (marks) discussion().querySelector(`[data-marks="${CSS.escape(marks)}"]`)?.focus({ preventScroll: true });
    else if (before.held !== document.body && before.held.isConnected) {
      const moved = before.held.getBoundingClientRect().top - before.top;
      const scroller = [before.held.closest(".dispute"), document.scrollingElement].find((each) => each && each.scrollHeight > each.clientHeight);
      scroller?.scrollBy({ top: moved, behavior: "instant" });
    }
    if (document.activeElement === document.body && before.held !== document.body) home();
    before = null;
  });

  // --- following ----------------------------------------------------------------------------------------------
  function follow() {
    clearTimeout(timer);
    if (!discussion()?.hasAttribute("hx-get") || "asleep" in discussion().dataset || document.hidden) return;
    timer = setTimeout(look, performance.now() - stirredAt < LONG ? LIVE : QUIET);
  }
  const look = () => { if (discussion()?.hasAttribute("hx-get")) htmx.trigger(discussion(), "refresh"); };

  function stir() {
    const wasQuiet = performance.now() - stirredAt >= LONG;
    stirredAt = performance.now();
    if (wasQuiet) look();
  }
  for (const sign of ["keydown", "pointermove", "pointerdown", "scroll"]) document.addEventListener(sign, stir, { capture: true, passive: true });

  document.addEventListener("visibilitychange", () => {
    stirredAt = performance.now();
    if (document.hidden) clearTimeout(timer);
    else look();
  });

  follow();
})();
