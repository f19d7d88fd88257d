// What stopped the saving: one message for each cause, at one place above the work. It says what happened, what to do,
// and what was not stored, which can be copied. What a page learns it passes on as `cause`, so that work can be locked.
"use strict";

const Causes = (() => {
  // Causes that end the work on a page; every other is about single answers, and is told apart by its sentence.
  const ENDING = ["round_closed", "place_gone", "membership_closed"];
  const SESSION = ["signed_out", "not_yours"];
  const place = () => document.getElementById("refused");
  const told = new Map(); // what is not about a stored refusal: code to sentence

  const NEXT = {
    round_closed: () => say("If something listed here still matters, copy it and send it to the project’s admins."),
    membership_closed: () => say("If something listed here still matters, copy it and send it to the project’s admins."),
    signed_out: () => say("You can go on rating: your answers are stored on this device until you sign in again."),
    not_yours: () => say("Your answers are stored on this device until you sign in again."),
  };

  // --- what each cause is, with the answers that it kept from being stored -----------------------------------------
  const isMine = (entry) => !entry.holder || entry.holder === place()?.dataset.holder;
  const nameOf = ({ code, message }) => ([...ENDING, ...SESSION].includes(code) ? code : message);

  function causes() {
    const found = new Map([...told].map(([code, message]) => [code, { code, message, entries: [], keys: [] }]));
    const refusals = Unsent.refusals().filter(([, entry]) => isMine(entry)).sort(([, one], [, other]) => one.sequence - other.sequence);
    for (const [key, entry] of refusals) {
      const name = nameOf(entry);
      if (!found.has(name)) found.set(name, { code: entry.code, message: entry.message, entries: [], keys: [] });
      if (entry.about) found.get(name).entries.push(entry);
      found.get(name).keys.push(key);
    }
    for (const code of SESSION) if (found.has(code)) found.get(code).entries = Unsent.waiting().filter((entry) => entry.about && isMine(entry));
    return found;
  }

  // Copy an answer of several pieces whole: words unchanged, everything else in the form sent by the server.
  function wholeAnswer(data) {
    try { return JSON.parse(data || "{}").text ?? data; } catch { return data; }
  }

  function answerAsText({ about, shown, value, data, cannot_rate, unsure, comment }) {
    const isNote = value === undefined;
    const answer = wholeAnswer(data) || shown || value || (cannot_rate ? say("Cannot rate") : say("no value"));
    const parts = [!isNote && answer, unsure && say("unsure"), comment && `“${comment}”`];
    return `${about}: ${parts.filter(Boolean).join(", ")}`;
  }

  const asText = ({ message, entries }) => [message, say("Not stored:"), ...entries.map(answerAsText)].join("\n");

  // --- showing them ----------------------------------------------------------------------------------------------------
  function make(kind, properties, ...children) {
    const made = Object.assign(document.createElement(kind), properties);
    made.append(...children);
    return made;
  }
  const button = (text, act) => make("button", { type: "button", textContent: text, onclick: act });

  function sessionLinks(code) {
    const { login, logout } = place().dataset;
    const door = code === "not_yours" ? [say("Sign out"), logout] : [say("Sign in"), login];
    return [
      make("a", { className: "button button-main", textContent: door[0], href: door[1], target: "_blank", rel: "opener" }),
      button(say("Send again"), () => document.dispatchEvent(new Event("causes:again"))),
    ];
  }

  function actionsOf(name, cause) {
    const { code, entries } = cause;
    const next = code === "place_gone" && place().dataset.resume;
    return [
      ...(SESSION.includes(code) ? sessionLinks(code) : []),
      ...(next ? [make("a", { className: "button button-main", textContent: say("Next item"), href: next })] : []),
      ...(entries.length ? [button(say("Copy the unsaved input"), ({ currentTarget }) => copyText(asText(causes().get(name)), currentTarget))] : []),
      ...(SESSION.includes(code) ? [] : [button(say("Put away"), () => putAway(name))]),
    ];
  }

  function putAway(name) {
    for (const key of causes().get(name).keys) Unsent.forget(key);
    told.delete(name);
    draw();
    (place().querySelector("button") ?? document.getElementById("content")).focus();
  }

  // A message that stands is filled anew, so that it is read out once however often its cause arrives.
  function draw() {
    if (!place()) return;
    const found = causes();
    for (const code of SESSION) if (!place().dataset.login) found.delete(code);
    for (const old of [...place().children]) if (!found.has(old.dataset.cause)) old.remove();
    for (const [name, cause] of found) fill(sectionOf(name), name, cause);
  }

  function sectionOf(name) {
    const standing = [...place().children].find((each) => each.dataset.cause === name);
    if (standing) return standing;
    const what = make("p", { className: "cause-what" });
    what.setAttribute("role", "alert");
    const made = make("section", { className: "notice notice-bad cause" }, what, make("ul", { className: "cause-answers" }), make("p", { className: "actions" }));
    made.dataset.cause = name;
    place().append(made);
    if (!document.activeElement.matches("textarea, input[type=number]")) made.scrollIntoView({ block: "nearest", behavior: "instant" });
    return made;
  }

  function fill(section, name, cause) {
    const [what, list, actions] = section.children;
    const listed = cause.entries.length || SESSION.includes(cause.code);
    const text = [cause.message, listed && NEXT[cause.code]?.(), cause.entries.length && say("Not stored:")].filter(Boolean).join(" ");
    if (what.textContent !== text) what.textContent = text;
    const answers = cause.entries.map(answerAsText);
    if (answers.join("\n") !== [...list.children].map((each) => each.textContent).join("\n")) list.replaceChildren(...answers.map((each) => make("li", { dir: "auto", textContent: each })));
    if (actions.dataset.made !== String(answers.length > 0)) {
      actions.dataset.made = String(answers.length > 0);
      actions.replaceChildren(...actionsOf(name, cause));
    }
  }

  const show = () => Press.after(draw);

  // --- learning them ---------------------------------------------------------------------------------------------------
  const spread = ({ code, assignment }) => {
    if (ENDING.includes(code)) document.dispatchEvent(new CustomEvent("cause", { detail: { code, assignment } }));
  };

  function tell({ code, message, assignment }) {
    for (const each of SESSION) if (SESSION.includes(code)) told.delete(each);
    told.set(code, message || say("You are signed out."));
    spread({ code, assignment });
    show();
  }

  function end(...codes) {
    for (const code of codes) told.delete(code);
    show();
  }
  const endSession = () => end(...SESSION);

  document.addEventListener("unsent:signed-out", ({ detail }) => tell({ code: detail.code === "not_yours" ? "not_yours" : "signed_out", message: detail.message }));
  document.addEventListener("unsent:refused", ({ detail: { entry } }) => {
    spread(entry);
    show();
  });
  document.addEventListener("unsent:state", () => { if (SESSION.some((code) => told.has(code))) show(); });
  for (const name of ["unsent:saved", "unsent:saved-elsewhere"]) document.addEventListener(name, endSession);
  document.addEventListener("causes:again", () => Unsent.flush());

  show();
  Unsent.flush();
  return { tell, end, endSession, ENDING };
})();
