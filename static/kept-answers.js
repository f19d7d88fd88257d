// Answers to disputes that found no server: kept on this device until one takes them, or says why not.
"use strict";

const KeptAnswers = (() => {
  const PREFIX = "concord-kept-answer/";
  const RETRY_MS = 5_000;
  const LONGEST_RETRY_MS = 60_000;
  // Whose page it is; somebody else's answers, on a shared machine, wait until that person is back.
  const rater = document.querySelector("[data-rater]")?.dataset.rater;
  const project = location.pathname.split("/").slice(0, 3).join("/");
  const keyOf = (action) => `${PREFIX}${rater}${action}`;
  const actionOf = (key) => key.slice(`${PREFIX}${rater}`.length);
  const numberOf = (action) => action.match(/(\d+)\/answer\/$/)?.[1];
  let retry = RETRY_MS;
  let timer = 0;
  let isSending = false;

  const mine = () => Object.keys(localStorage).filter((key) => key.startsWith(keyOf(`${project}/`)));

  // Answers whether it could be kept; the last answer to a dispute takes the place of those before.
  function put(action, data) {
    try {
      localStorage.setItem(keyOf(action), new URLSearchParams([...data]).toString());
    } catch {
      return false;
    }
    tryLater();
    return true;
  }
  const drop = (action) => localStorage.removeItem(keyOf(action));

  function tryLater() {
    clearTimeout(timer);
    if (mine().length) timer = setTimeout(send, retry);
    retry = Math.min(2 * retry, LONGEST_RETRY_MS);
  }

  async function send() {
    if (isSending || !rater) return;
    isSending = true;
    try {
      for (const key of mine()) await sendOne(key);
    } catch {
      // no server yet
    } finally {
      isSending = false;
      tryLater();
    }
  }

  const parse = (html) => new DOMParser().parseFromString(html, "text/html");
  const isAboutUs = (reply) => !reply.querySelector("[data-asleep]") && (reply.querySelector("#refusal")?.dataset.rater ?? rater) === rater;

  async function sendOne(key) {
    const action = actionOf(key);
    const body = localStorage.getItem(key);
    const token = document.cookie.match(/csrftoken=([^;]+)/)?.[1] ?? "";
    const headers = { "HX-Request": "true", "HX-Current-URL": location.href, "X-CSRFToken": token, "Content-Type": "application/x-www-form-urlencoded" };
    const response = await fetch(action, { method: "POST", headers, body });
    if (!response.ok && response.status !== 422) return;
    const refusal = response.ok ? null : parse(await response.text());
    if (refusal && !isAboutUs(refusal)) return; // signed out, or somebody else is signed in: when this rater is back
    if (localStorage.getItem(key) === body) localStorage.removeItem(key);
    if (refusal) {
      tellRefusal(action, refusal, new URLSearchParams(body));
      return;
    }
    for (const name of ["comment", "evidence"]) sessionStorage.removeItem(`${action} ${rater} ${name}`);
    tell(say("Your answer to dispute {number} was received.", { number: numberOf(action) }));
    const next = response.headers.get("HX-Redirect") ?? response.headers.get("HX-Replace-Url");
    if (location.pathname === action.replace(/answer\/$/, "")) location.assign(next ?? location.href);
  }

  // What was not taken, once for each reason: the values that were chosen, and what was written with them, to copy.
  function tellRefusal(action, reply, data) {
    const place = reply.querySelector("#refusal .notice-bad") ?? reply.querySelector(".notice-bad, .apart");
    const message = place?.textContent.trim() ?? "";
    const written = [data.get("value") ?? data.get("keep") ?? data.get("data"), data.get("comment")].filter(Boolean).join(": ");
    const line = [...document.querySelectorAll(".notice[data-cause]")].find((each) => each.dataset.cause === message) ?? begin(message);
    const said = say("Your answer to dispute {number} was not taken: {written}", { number: numberOf(action), written });
    line.querySelector("ul").append(Object.assign(document.createElement("li"), { className: "text", textContent: said }));
    line.querySelector("button").dataset.copy += `\n${said}`;
  }

  function begin(message) {
    const line = tell(message);
    const button = Object.assign(document.createElement("button"), { type: "button", textContent: say("Copy the unsaved input") });
    line.dataset.cause = button.dataset.copy = message;
    line.append(document.createElement("ul"), button);
    return line;
  }

  function tell(sentence) {
    const line = document.createElement("div");
    line.className = "notice";
    line.setAttribute("role", "status");
    line.append(sentence);
    (document.getElementById("news") ?? document.querySelector("[data-rater]")).after(line);
    return line;
  }

  window.addEventListener("online", () => {
    retry = RETRY_MS;
    send();
  });
  send();
  return { put, drop, tellRefusal: (action, html, data) => tellRefusal(action, parse(html), data) };
})();
