// The end of a document: own values side by side, changed by key or tap and handed to the queue in unsent.js.
"use strict";

(() => {
  const form = document.getElementById("held");
  const { annotator } = form.dataset;
  const cards = [...form.querySelectorAll(".held")];
  const open = cards.filter((card) => card.dataset.url);
  const cardOf = (element) => cards.find((card) => card.contains(element));
  const cardAt = (url) => open.find((card) => card.dataset.url === url);
  const field = (card, name) => card.querySelector(`[name$="-${name}"]`);
  const radios = (card) => [...card.querySelectorAll("input[type=radio]")];
  const typed = (card) => card.querySelector("input[type=number]");
  const chosen = (card) => radios(card).find((radio) => radio.checked);
  const control = (card) => typed(card) ?? chosen(card) ?? radios(card)[0] ?? card.querySelector("a");
  const valueOf = (card) => (typed(card) ?? chosen(card))?.value ?? "";

  function setValue(card, value) {
    if (typed(card)) typed(card).value = value;
    for (const radio of radios(card)) radio.checked = radio.value === String(value);
  }

  const describe = (card) => Press.after(() => {
    card.querySelector("[data-changed]").hidden = valueOf(card) === card.dataset.independent;
  });

  // --- saving -------------------------------------------------------------------------------------------------
  const sent = new Map(open.map((card) => [card, state(card)]));
  function state(card) {
    return JSON.stringify([valueOf(card), field(card, "comment").value]);
  }

  function save(card) {
    if (valueOf(card) === "" || sent.get(card) === state(card)) return;
    sent.set(card, state(card));
    describe(card);
    Press.after(() => { card.querySelector(".row-refusal").hidden = true; });
    Unsent.put({
      url: card.dataset.url,
      annotator,
      assignment: card.dataset.assignment,
      about: card.dataset.about,
      value: valueOf(card),
      comment: field(card, "comment").value,
      revision: field(card, "revision").value,
    });
  }
  const saveChanged = () => { Keys.settle(); for (const card of open) save(card); };

  function show(card, { value, comment }) {
    setValue(card, value);
    if (comment !== undefined) field(card, "comment").value = comment;
    sent.set(card, state(card));
    describe(card);
  }

  function tell(card, text) {
    Press.after(() => {
      const place = card.querySelector(".row-refusal");
      place.textContent = text;
      place.hidden = false;
    });
  }

  function saved({ detail: { entry, reply } }) {
    const card = cardAt(entry.url);
    if (!card) return;
    field(card, "revision").value = reply.revision;
    if (Unsent.of(annotator, entry.url)) return;
    if (String(reply.value) !== entry.value) show(card, { value: reply.value });
    if (reply.replaced) tell(card, say("{name} had been changed to {value} in another window; your {own} is saved now.", { name: card.dataset.about, value: reply.replaced.value, own: entry.value }));
  }
  document.addEventListener("unsent:saved", saved);
  document.addEventListener("unsent:saved-elsewhere", ({ detail }) => {
    const card = cardAt(detail.entry.url);
    if (card) show(card, detail.entry);
    saved({ detail });
  });
  document.addEventListener("unsent:refused", ({ detail: { entry } }) => {
    const card = cardAt(entry.url);
    if (card) tell(card, say("Not saved: {message}", { message: entry.message }));
  });

  // A lost item is locked alone; a closed round or place in the project locks all.
  document.addEventListener("cause", ({ detail: { code, assignment } }) => {
    for (const card of open) {
      if (code !== "place_gone" || card.dataset.assignment === assignment) card.querySelector("fieldset").disabled = true;
    }
  });

  // --- pointer and typing -------------------------------------------------------------------------------------
  let typing = 0;
  form.addEventListener("change", () => { Keys.forget(); saveChanged(); });
  form.addEventListener("input", ({ target }) => {
    if (target.tagName !== "TEXTAREA") return;
    clearTimeout(typing);
    typing = setTimeout(saveChanged, 800);
  });
  form.addEventListener("submit", (event) => { event.preventDefault(); saveChanged(); });
  window.addEventListener("pagehide", saveChanged);
  window.addEventListener("pageshow", (event) => { if (event.persisted) location.reload(); });

  // What is asked of the server next must know the last values.
  async function go(link) {
    saveChanged();
    if (Unsent.count()) await Unsent.settled();
    location.assign(link.href);
  }
  document.addEventListener("click", (event) => {
    const { target } = event;
    const opener = target.closest("[data-open]");
    if (opener) document.getElementById(opener.dataset.open).showModal();
    const unfold = target.closest("[data-unfold]");
    if (unfold) fold(cardOf(unfold));
    const link = target.closest(".steps a, .end-dimensions a, .held-head a, .end-onward");
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    go(link);
  });

  function fold(card) {
    const isOpen = card.classList.toggle("unfolded");
    card.querySelector("[data-unfold]").setAttribute("aria-expanded", String(isOpen));
  }
  for (const card of cards) {
    const text = card.querySelector(".held-text");
    card.querySelector("[data-unfold]").hidden = text.scrollHeight <= text.clientHeight + 1;
  }

  // --- keys ---------------------------------------------------------------------------------------------------
  const focused = () => cardOf(document.activeElement) ?? cards.find((card) => card.classList.contains("focused")) ?? cards[0];
  function focus(card) {
    if (!card) return;
    control(card).focus({ preventScroll: true });
    card.scrollIntoView({ block: "nearest" });
  }
  form.addEventListener("focusin", ({ target }) => {
    const card = cardOf(target);
    if (card) for (const each of cards) each.classList.toggle("focused", each === card);
  });

  function choose(card, key) {
    const radio = radios(card).find((each) => (key === "10" ? each.value : each.dataset.key) === key);
    if (!radio) return;
    radio.checked = true;
    if (!Keys.isTyping(document.activeElement)) radio.focus({ preventScroll: true });
  }

  function rate(card, key) {
    choose(card, key);
    save(card);
  }

  function showOne(card) {
    clearTimeout(typing);
    saveChanged(); // what was typed before must not end the wait
    choose(card, "1");
  }

  // Half points and the like: a digit chooses the whole point, and this the next one of the scale.
  function addStep(card) {
    const points = radios(card);
    const next = points.some((radio) => radio.checked) && points[points.findIndex((radio) => radio.checked) + 1];
    if (!next || !("steps" in form.dataset)) return;
    next.checked = true;
    next.focus({ preventScroll: true });
    save(card);
  }

  const actions = {
    step: addStep,
    next: () => document.getElementById("next").click(),
    back: () => document.getElementById("back")?.click(),
    down: (card) => focus(cards[cards.indexOf(card) + 1]),
    up: (card) => focus(cards[cards.indexOf(card) - 1]),
    comment: (card) => field(card, "comment")?.focus(),
    fold,
    guideline: () => document.getElementById("guideline").click(),
    help: () => document.getElementById("keys").showModal(),
    escape: (card) => { saveChanged(); focus(card); },
  };
  const ARROWS = { ArrowLeft: "up", ArrowRight: "down" };

  function askedAt(event) {
    const { target } = event;
    if (target.type === "number") {
      if (Keys.isPartOfNumber(event)) return null;
      const asked = Keys.asked(event);
      return asked?.value || event.key in ARROWS ? null : asked;
    }
    if (Keys.isTyping(target)) return event.key === "Escape" ? { action: "escape" } : null;
    return event.key in ARROWS ? { action: ARROWS[event.key] } : Keys.asked(event);
  }

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing || event.defaultPrevented || document.querySelector("dialog[open]")) return;
    const asked = askedAt(event);
    if (!asked || !(asked.value || asked.action in actions)) return;
    if (event.key === "Enter" && event.target.closest("summary, button, a")) return;
    event.preventDefault();
    if (event.repeat && !event.key.startsWith("Arrow")) return;
    if (Keys.settle(asked.value) === "10") return;
    const card = focused();
    if (asked.value) Keys.take(asked.value, "oneAndTen" in card.dataset, (key) => rate(card, key), () => showOne(card));
    else actions[asked.action](focused());
  });

  for (const card of open) {
    const waiting = Unsent.of(annotator, card.dataset.url);
    if (waiting?.assignment === card.dataset.assignment) show(card, waiting);
    else describe(card);
  }
  Keys.label(document);
  focus(cards[0]);
  window.scrollTo(0, 0); // what the page is for comes first
})();
