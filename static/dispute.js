// A dispute: one key keeps or changes the value; typing never does. The discussion follows what others do.
"use strict";

(() => {
  const UNREAD = 300; // ms in which a key is still meant for the page before
  const discussion = () => document.getElementById("discussion");
  let shownAt = performance.now();
  let changedAt = shownAt;
  let lastText = "";
  let timer = 0;

  window.addEventListener("pageshow", () => { shownAt = performance.now(); });

  document.addEventListener("keydown", (event) => {
    if (event.repeat || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.target.closest("textarea, input, select")) {
      if (event.key === "Escape") event.target.blur();
      return;
    }
    const button = document.querySelector(`#answer [data-key="${CSS.escape(event.key.toLowerCase())}"]`);
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
    if (event.target.id === "reply" && event.detail.successful) event.target.reset();
    if (event.detail.requestConfig.verb === "post") note(event.detail.xhr.status);
    follow();
  });

  function note(status) {
    document.getElementById("unsent")?.remove();
    if ((status >= 200 && status < 300) || status === 422) return;
    const line = document.createElement("p");
    line.id = "unsent";
    line.className = "notice notice-bad";
    line.setAttribute("role", "alert");
    line.textContent = "This was not saved; what you have typed is still here. Try again, or copy it and load this page again.";
    discussion().before(line);
  }

  // --- following ----------------------------------------------------------------------------------------------
  function follow() {
    clearTimeout(timer);
    const seconds = Number(discussion()?.dataset.seconds ?? 0);
    if (!seconds || document.hidden) return;
    const text = discussion().textContent;
    if (text !== lastText) changedAt = performance.now();
    lastText = text;
    timer = setTimeout(() => htmx.trigger(discussion(), "refresh"), seconds * 1000 * slowness());
  }

  function slowness() {
    const minutes = (performance.now() - changedAt) / 60_000;
    return minutes < 1 ? 1 : minutes < 5 ? 3 : 10;
  }

  document.addEventListener("visibilitychange", () => {
    changedAt = performance.now();
    if (document.hidden) clearTimeout(timer);
    else if (discussion()?.dataset.seconds) htmx.trigger(discussion(), "refresh");
  });

  follow();
})();
