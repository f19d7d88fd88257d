// Answers that the server has not acknowledged. They are kept here until it has, on every page of a signed-in
// person, whatever happens to the page, the network or the session. Each answer is an entry of its own in the
// browser's storage; where storage fails, the page's memory holds it and says so.
"use strict";

const Unsent = (() => {
  const PREFIX = "concord-unsent/";
  const REFUSED = "concord-refused/";
  const waiting = new Map();
  const unkept = new Map(); // refusals that the browser's storage does not take
  let keptOnDevice = true;
  let lastWasRefused = false;
  let pause = 0;
  let timer = 0;
  let gathering = 0;
  let gatheringSince = 0;
  let sending = null;
  let isLeaving = false;
  let trouble = "";

  // Windows of one browser share the queue: whichever sends an answer tells the others what came of it.
  const windows = "BroadcastChannel" in window ? new BroadcastChannel("concord-unsent") : null;

  const tell = (name, detail) => document.dispatchEvent(new CustomEvent(`unsent:${name}`, { detail }));
  const nameOf = (entry) => `${PREFIX}${entry.annotator}${entry.url}`;

  // --- storage: one key an answer, so that tabs do not write over each other ----------------------------------
  function store(key, value) {
    try {
      if (value === null) localStorage.removeItem(key);
      else localStorage.setItem(key, JSON.stringify(value));
      return true;
    } catch {
      return false;
    }
  }

  function stored(prefix) {
    try {
      return Object.keys(localStorage).filter((key) => key.startsWith(prefix)).flatMap((key) => {
        try { return [[key, JSON.parse(localStorage.getItem(key))]]; } catch { return []; }
      });
    } catch {
      return [];
    }
  }

  // Whose page it is: on a shared machine nobody is shown another's answers.
  const holder = document.getElementById("refused")?.dataset.holder;

  const client = (() => {
    const key = "concord-client";
    try {
      const known = localStorage.getItem(key) ?? crypto.randomUUID?.() ?? String(Math.random()).slice(2);
      localStorage.setItem(key, known);
      return known;
    } catch {
      return String(Math.random()).slice(2);
    }
  })();

  // Later answers have greater numbers, also where the clock was set back between them.
  let last = 0;
  function sequence() {
    try { last = Math.max(last, Number(localStorage.getItem("concord-sequence"))); } catch { /* this page's alone */ }
    last = Math.max(last + 1, Date.now());
    store("concord-sequence", last);
    return last;
  }

  // --- the queue ----------------------------------------------------------------------------------------------
  for (const [, entry] of stored(PREFIX)) if (entry?.url) waiting.set(nameOf(entry), entry);

  function put(entry) {
    const whole = { ...entry, client, sequence: sequence(), holder };
    waiting.set(nameOf(whole), whole);
    keptOnDevice = store(nameOf(whole), whole);
    if (trouble) show("unsaved", say("{why}: {count} waiting", { why: trouble, count: waiting.size }));
    else show("saving", say("Saving…"));
    if (keptOnDevice && !isLeaving) gather(whole.together ? GATHER : ALONE);
    else flush(); // a page that is left would take it along
  }

  // Answers of an item go in one request: when the item is left, or after so long without a further answer, and
  // the first never waits longer than LONGEST. What goes alone, such as a note, hardly waits. All of it is in the
  // browser's storage meanwhile.
  const GATHER = 2000;
  const ALONE = 60;
  const LONGEST = 10_000;
  function gather(wait) {
    clearTimeout(gathering);
    gatheringSince ||= Date.now();
    const left = gatheringSince + LONGEST - Date.now();
    gathering = setTimeout(flush, Math.max(0, Math.min(wait, left)));
  }

  function take(entry) {
    if (waiting.get(nameOf(entry))?.sequence !== entry.sequence) return;
    waiting.delete(nameOf(entry));
    store(nameOf(entry), null);
  }

  const of = (annotator, url) => waiting.get(`${PREFIX}${annotator}${url}`);
  const count = () => waiting.size;

  window.addEventListener("storage", (event) => {
    if (event.key?.startsWith(REFUSED) && event.newValue) tell("refused", { entry: JSON.parse(event.newValue) });
    if (!event.key?.startsWith(PREFIX)) return;
    if (event.newValue === null) waiting.delete(event.key);
    show();
  });

  windows?.addEventListener("message", ({ data: { entry, reply } }) => {
    if (waiting.get(nameOf(entry))?.sequence === entry.sequence) waiting.delete(nameOf(entry));
    tell("saved-elsewhere", { entry, reply });
    show();
  });

  // --- sending, the oldest first ------------------------------------------------------------------------------
  function show(state = null, text = "") {
    const unkept = state !== "saved" && !keptOnDevice;
    if (state) tell("state", { state, text: unkept ? say("{state}. This device keeps no copy: leave the page open", { state: text }) : text });
    else if (waiting.size) tell("state", { state: "unsaved", text: say("{count} waiting", { count: waiting.size }) });
    else tell("state", lastWasRefused ? { state: "refused", text: say("Not saved") } : { state: "saved", text: say("Saved") });
    for (const place of document.querySelectorAll("[data-unsent]")) {
      place.hidden = !waiting.size;
      place.textContent = say("{count} of your answers did not reach the server yet. They stay on this device; sign in again here to send them.", { count: waiting.size });
    }
  }

  function flush() {
    clearTimeout(timer);
    clearTimeout(gathering);
    gatheringSince = 0;
    sending ??= sendAll().finally(() => { sending = null; });
    return sending;
  }

  async function sendAll() {
    for (;;) {
      const entries = [...waiting.values()].sort((one, other) => one.sequence - other.sequence);
      if (!entries.length) { pause = 0; show(); return; }
      show("saving", say("Saving…"));
      if (!(await send(entries.filter((entry) => goesWith(entry, entries[0]))))) return;
    }
  }

  // Answers of one person about one item go together; a private note, or what an older page left, goes alone.
  const goesWith = (entry, first) => entry === first || (Boolean(first.together) && ["together", "annotator", "assignment"].every((name) => entry[name] === first[name]));

  function later(why) {
    trouble = why;
    show("unsaved", say("{why}: {count} waiting", { why, count: waiting.size }));
    pause = Math.min((pause || 0.5) * 2, 30);
    timer = setTimeout(flush, pause * 1000);
    return false;
  }

  const APART = ["url", "together", "about", "shown", "holder"]; // about an entry, and not for the server
  const sent = (entry) => Object.entries(entry).filter(([name, value]) => value !== false && !APART.includes(name));

  function request(entries) {
    const [{ url, together, annotator, assignment }] = entries;
    if (entries.length === 1) return [url, new URLSearchParams(sent(entries[0]))];
    const answers = JSON.stringify(entries.map((entry) => Object.fromEntries(sent(entry))));
    return [together, new URLSearchParams({ annotator, assignment, answers })];
  }

  const MOST_KEPT_ALIVE = 60_000; // characters; browsers take 64 KiB
  // Signing in again, in another window, renews the token. Rejects where nobody answers.
  async function post(address, body) {
    const token = document.cookie.match(/csrftoken=([^;]+)/)?.[1] ?? document.querySelector("[name=csrfmiddlewaretoken]")?.value ?? "";
    // A page that is being left still sends what is small enough for that.
    const keepalive = (document.hidden || isLeaving) && String(body).length < MOST_KEPT_ALIVE;
    const response = await fetch(address, { method: "POST", body, headers: { "X-CSRFToken": token }, signal: AbortSignal.timeout(15_000), keepalive });
    return { response, reply: await response.json().catch(() => ({})) };
  }
  const isSignedOut = (response, reply) => response.status === 401 || response.status === 403 || reply.code === "not_yours";

  async function send(entries) {
    const [address, body] = request(entries);
    const { response, reply } = await post(address, body).catch(() => ({}));
    if (!response) return later(say("Not saved, no connection"));
    const replies = entries.length === 1 ? [reply] : reply.answers;
    if (response.ok && Number.isInteger(reply.guideline)) tell("guideline", reply.guideline);
    const isReply = (each) => Number.isInteger(each?.revision) || (entries.length > 1 && Boolean(each?.message));
    if (response.ok && replies?.length === entries.length && replies.every(isReply)) {
      return entries.every((entry, index) => (Number.isInteger(replies[index].revision) ? acknowledged(entry, replies[index]) : refused(entry, replies[index])));
    }
    if (isSignedOut(response, reply)) {
      show("unsaved", say("{why}: {count} waiting", { why: say("Not saved, signed out"), count: waiting.size }));
      tell("signed-out", { message: reply.message ?? "", code: reply.code });
      return false;
    }
    // The page that sent it is gone in this version: without this, it would keep all later answers waiting.
    if ([404, 405, 410].includes(response.status) && !reply.message) {
      return entries.every((entry) => refused(entry, { code: "gone", message: say("This page is gone") }));
    }
    if (response.ok || response.status >= 500 || response.status === 429 || !reply.message) return later(say("Not saved, trying again"));
    return entries.every((entry) => refused(entry, reply));
  }

  function acknowledged(entry, reply) {
    take(entry);
    const newer = waiting.get(nameOf(entry));
    if (newer) { newer.revision = reply.revision; store(nameOf(newer), newer); }
    pause = 0;
    lastWasRefused = false;
    trouble = "";
    forget(refusalOf(entry));
    tell("saved", { entry, reply });
    windows?.postMessage({ entry, reply });
    return true;
  }

  // --- what the server will never take is kept, until the person puts it away; see causes.js -----------------
  const refusalOf = (entry) => `${REFUSED}${entry.annotator}/${entry.assignment}${entry.url}`;

  function refused(entry, { code, message }) {
    take(entry);
    lastWasRefused = true;
    const whole = { ...entry, code, message };
    if (!store(refusalOf(whole), whole)) unkept.set(refusalOf(whole), whole);
    tell("refused", { entry: whole });
    return true;
  }

  const refusals = () => [...stored(REFUSED), ...unkept];
  function forget(key) {
    unkept.delete(key);
    store(key, null);
  }

  for (const sign of ["focus", "online"]) window.addEventListener(sign, () => flush());
  document.addEventListener("visibilitychange", () => flush());
  window.addEventListener("pageshow", () => { isLeaving = false; });
  window.addEventListener("pagehide", () => {
    isLeaving = true;
    flush();
  });

  // Another page shows what was given, so the server has it first, if it answers soon.
  const settled = () => Promise.race([flush(), new Promise((resolve) => { setTimeout(resolve, 2000); })]);
  window.addEventListener("click", (event) => {
    const link = event.target.closest?.("a[href]");
    if (!link || !waiting.size || event.defaultPrevented || event.button || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
    if (link.target || link.origin !== location.origin || link.hasAttribute("download") || link.getAttribute("href").startsWith("#")) return;
    event.preventDefault();
    settled().then(() => location.assign(link.href));
  });

  return { put, of, count, flush, settled, post, isSignedOut, refusals, forget, waiting: () => [...waiting.values()] };
})();

// The mark in the bar is the same on every page that has it.
document.addEventListener("unsent:state", ({ detail: { state, text } }) => Press.after(() => {
  const mark = document.getElementById("save-mark");
  if (!mark) return;
  mark.dataset.state = state;
  mark.textContent = state === "saved" && mark.dataset.quiet ? "" : text;
}));
