// Disputes about a text, one at work: one key keeps or changes the value; typing never does. The discussion follows
// what others do.
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
  let isSending = false;

  window.addEventListener("pageshow", () => { shownAt = performance.now(); });

  // A key that comes too early is ignored where one sees it: in the answer bar, for a moment.
  const IGNORED = 2_500;
  let ignoring = 0;
  function ignore(sentence) {
    const line = document.getElementById("ignored");
    if (!line) return;
    line.textContent = sentence;
    line.hidden = false;
    clearTimeout(ignoring);
    ignoring = setTimeout(() => { line.hidden = true; }, IGNORED);
  }

  // Where the focus is when what had it is gone: at the answers, and on none, so that a key still held gives none.
  const content = document.getElementById("content");
  const home = () => (document.querySelector("#reworded button, #answer-buttons:has(button)") ?? content).focus({ preventScroll: true });
  if (document.activeElement === document.body) (document.querySelector("#reworded button") ?? content).focus({ preventScroll: true });

  document.addEventListener("keydown", (event) => {
    if (event.repeat && event.target.closest("#reworded")) event.preventDefault(); // Enter that is still held reads nothing
    if (event.repeat || event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
    if (event.target.closest("textarea, select, input:not([type=checkbox], [type=radio])")) {
      if (event.key === "Escape") {
        buttons()?.classList.remove("asks");
        home();
      }
      return;
    }
    if (event.key.startsWith("Arrow") && event.target.closest(".document, .summary, #decision")) return;
    const asked = Keys.asked(event);
    const buttonOf = (key) => {
      const found = document.querySelector(key === "10" ? ':is(#answer-buttons button, #decision input):is([name=value], [name=keep])[value="10"]:not([hidden])' : `[data-keys~="${CSS.escape(key)}"]`);
      return found?.closest("details:not([open])") ? null : found; // a settled dispute takes answers when one asks for it
    };
    const button = buttonOf(event.key.toLowerCase()) ?? (asked?.value && buttonOf(asked.value));
    if ((button || asked) && Keys.settle(asked?.value)) { // "1" is answered now: this key was not meant for what follows
      event.preventDefault();
      return;
    }
    if (!button && (help(asked?.action) || DisputeTexts.act(asked?.action) || takeUp(asked?.action))) event.preventDefault();
    if (asked?.value && chooseBy(asked.value)) event.preventDefault();
    else if (asked?.action === "next" && composed() && event.target.matches("body, #content, #answer-buttons, .row, .row *:not(button)")) {
      event.preventDefault();
      document.querySelector("#answer [data-change]")?.click();
      return;
    }
    const typed = /^[0-9]$/.test(event.key) && document.querySelector(":is(#answer, #decision) input[type=number]");
    if (typed) typed.focus(); // the digit goes on into it
    if (!button) return;
    event.preventDefault();
    const key = event.key.toLocaleUpperCase();
    if (isSending) return void ignore(say("{key} was ignored: your last answer is being saved.", { key }));
    if (performance.now() - shownAt <= UNREAD) return void ignore(say("{key} was ignored: this dispute has just appeared. Press it again.", { key }));
    if (button !== buttonOf("1")) press(button);
    else Keys.take("1", document.querySelector("[data-one-and-ten]"), (key) => press(buttonOf(key)), () => button.classList.add("waits"));
  });

  // A value that an adjudicator chooses by key is followed by its reason.
  function press(button) {
    button?.click();
    if (button?.form?.id === "decision") button.form.elements.note.focus();
  }

  // Enter sends the reason of a decision, or the one that was asked for; Shift and Enter begin a new line.
  document.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || event.shiftKey || event.isComposing || event.repeat) return;
    const main = event.target.matches("#note") ? event.target.form.querySelector(".decide")
      : event.target.matches("#comment") && document.querySelector("#answer-buttons.asks [name=keep]:not([hidden])");
    if (!main) return;
    event.preventDefault();
    main.click();
  });

  // --- an answer of several pieces is put together in the input of its kind -----------------------------------------
  const composed = () => document.querySelector(":is(#answer, #decision) .row.composed");
  const ignored = (sentence) => { ignore(sentence); tell(sentence); };

  // Whether a digit chose something in it.
  function chooseBy(key) {
    const row = composed();
    return Boolean(row && !document.querySelector(`[data-keys~="${key}"]`) && Questions.digit(row, key));
  }
  function fillIn(data) {
    Questions.fill(composed(), data);
    Spans.mark(composed());
  }
  document.addEventListener("change", ({ target }) => {
    const row = target.closest(".row.composed");
    if (!row || !target.matches("[data-field], [data-none]")) return;
    Questions.settle(target);
    Questions.compose(row);
    Spans.mark(row);
  });
  document.addEventListener("pointerdown", (event) => { if (event.target.closest("[data-severity]")) event.preventDefault(); }); // the selection stays
  document.addEventListener("click", ({ target }) => {
    const { severity } = target.closest(".composed [data-severity]")?.dataset ?? {};
    if (severity && !Spans.add(composed(), severity)) ignored(say("Select the words to mark in the text first."));
    const { addSpan } = target.closest("[data-add-span]")?.dataset ?? {};
    if (addSpan) Spans.take(composed(), JSON.parse(addSpan));
    const { fill: data } = target.closest("[data-fill]")?.dataset ?? {};
    if (data) {
      fillIn(data);
      target.form.elements.note.focus();
    }
    if (addSpan) composed().scrollIntoView({ block: "nearest" });
  });
  document.addEventListener("htmx:oobAfterSwap", ({ detail }) => { if (detail.target.id === "answer-buttons" && composed()) fillIn(composed().querySelector("[data-answer]").value); });
  document.addEventListener("texts:renewed", () => { if (composed()) Spans.mark(composed()); });
  // An answer without all of its pieces is not sent.
  document.addEventListener("click", (event) => {
    const send = event.target.closest("[data-change]");
    if (!send || Questions.isComplete(composed())) return;
    event.preventDefault();
    event.stopPropagation();
    ignored(say("This answer is not complete; give every part of it."));
  }, { capture: true });

  // --- keeping a value asks for its reason, where there is none yet ------------------------------------------------
  const buttons = () => document.getElementById("answer-buttons");
  document.addEventListener("click", (event) => {
    const keep = event.target.closest("#answer-buttons [name=keep]");
    if (!keep || keep.form.elements.comment.value.trim() || DisputeTexts.countEvidence()) return;
    event.preventDefault();
    event.stopPropagation();
    buttons().classList.add("asks");
    tell(buttons().querySelector(".keep-question").textContent);
    // On a screen that is touched, the keyboard would cover the reasons that can be chosen.
    (matchMedia("(pointer: coarse)").matches ? buttons().querySelector("[name=differs]") : keep.form.elements.comment).focus();
  }, { capture: true });

  const keys = document.getElementById("keys");
  document.querySelector("[data-open]")?.addEventListener("click", () => keys.showModal());
  keys?.querySelector("[data-close]").addEventListener("click", () => keys.close());
  function help(action) {
    if (action === "help") keys?.showModal();
    return action === "help";
  }

  // The dispute above or below the one at work, by the keys that lead to another dimension.
  function takeUp(action) {
    const towards = { up: "previousElementSibling", down: "nextElementSibling" }[action];
    const link = towards && document.querySelector(".at-work")?.[towards];
    link?.click();
    return Boolean(link);
  }

  // --- sending ------------------------------------------------------------------------------------------------
  document.addEventListener("htmx:configRequest", (event) => {
    const token = document.cookie.match(/csrftoken=([^;]+)/)?.[1]; // signing in again, in another window, renews it
    if (!token) return;
    event.detail.headers["X-CSRFToken"] = token;
    delete event.detail.parameters.csrfmiddlewaretoken;
  });

  document.addEventListener("htmx:beforeRequest", ({ detail }) => { isSending ||= detail.requestConfig.verb === "post"; });
  document.addEventListener("htmx:afterRequest", (event) => {
    const isLeaving = event.detail.xhr.getResponseHeader("HX-Redirect"); // until the next page is there, keys are for none
    if (event.detail.requestConfig.verb === "post" && !isLeaving) isSending = false;
    const { status } = event.detail.xhr;
    const { elt, formData, verb } = event.detail.requestConfig;
    if (verb === "post") {
      const isAnswer = elt.id === "answer" && !formData.has("only_send"); // a message that comes twice would stand twice
      if (taken(status)) sent(event.detail.requestConfig);
      if (isAnswer && (taken(status) || status === 422)) KeptAnswers.drop(elt.getAttribute("action"));
      if (status === 422 && !elt.isConnected) KeptAnswers.tellRefusal(elt.getAttribute("action"), event.detail.xhr.responseText, formData);
      else note(status, isAnswer && (!status || status >= 500) && KeptAnswers.put(elt.getAttribute("action"), formData));
      if (document.activeElement === document.body) home(); // whatever took what had the focus
    } else if (!status && elt.matches(".folded")) {
      note(status, false);
    }
    follow();
  });

  const taken = (status) => status >= 200 && status < 300;

  // What is typed and not sent outlives the page, in this window.
  const texts = () => document.querySelectorAll("#answer textarea, #decision textarea");
  const kept = (text) => `${text.form.getAttribute("action")} ${text.form.elements.rater?.value} ${text.name}`;
  const fill = () => { for (const text of texts()) text.value ||= sessionStorage.getItem(kept(text)) ?? ""; };
  document.addEventListener("input", ({ target }) => {
    if ([...texts()].includes(target)) sessionStorage.setItem(kept(target), target.value);
  });
  function sent({ elt: form, parameters }) {
    if (form.id === "undo") return tell(say("You withdrew your answer."));
    for (const text of form.querySelectorAll("textarea")) {
      sessionStorage.removeItem(kept(text));
      text.value = "";
    }
    if (parameters.only_send) return tell(say("Your message was received."));
    if (form.id === "answer") DisputeTexts.sent(form);
    return tell(document.querySelector("#answered span")?.textContent ?? "");
  }
  const tell = (what) => { news.textContent = what; };

  // On a call one stays with the dispute that is talked about.
  const stay = () => document.getElementById("stay");
  document.addEventListener("change", ({ target }) => {
    if (target === stay()) sessionStorage.setItem("stay", target.checked ? "on" : "");
  });

  function begin() {
    fill();
    if (composed()) fillIn(composed().querySelector("[data-answer]").value);
    showValues();
    if (stay()) stay().checked ||= sessionStorage.getItem("stay") === "on";
  }

  // Scroll the values into view above the answers, if a long text or another dispute pushed them down.
  function showValues() {
    const work = document.querySelector(".at-work");
    const scroller = [work?.closest(".dispute"), document.scrollingElement].find((each) => each && each.scrollHeight > each.clientHeight);
    const values = work?.querySelector(".axis, .categories, .held-parts, .held-ranks, .held-spans");
    if (!scroller || !values) return;
    const seen = scroller === document.scrollingElement ? { top: 0, bottom: innerHeight } : scroller.getBoundingClientRect();
    const bar = document.querySelector(":is(#answer, #decision)")?.getBoundingClientRect().top ?? innerHeight;
    const { top, bottom } = values.getBoundingClientRect();
    const below = bottom + 8 - Math.min(bar, seen.bottom);
    if (below > 0 || top < seen.top) scroller.scrollBy({ top: Math.min(below, top - seen.top), behavior: "instant" });
  }

  function note(status, isKept) {
    document.getElementById("unsent")?.remove();
    if (status !== 422) document.getElementById("refusal").replaceChildren();
    if (taken(status) || status === 422) return;
    const line = document.createElement("p");
    line.id = "unsent";
    line.className = `notice ${isKept ? "notice-warn" : "notice-bad"}`;
    line.setAttribute("role", "alert");
    line.textContent = isKept
      ? say("There is no connection. This device keeps your answer and sends it when the connection is back.")
      : say("This was not saved; what you have typed is still here. Try again, or copy it and load this page again.");
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

  // Another dispute about the same text is taken up: the texts stay, with what is folded, found and selected in them.
  function takenUp() {
    begin();
    Keys.forget();
    shownAt = stirredAt = performance.now();
    document.querySelector(".at-work").scrollIntoView({ block: "nearest" });
    showValues();
    home();
  }

  document.addEventListener("htmx:afterSwap", ({ detail }) => {
    if (detail.target.id === "at-work") takenUp();
    DisputeTexts.show();
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

  begin();
  follow();
})();
