// The reservation of the item in view, and of those loaded ahead: renewed while the page is used, and checked when one
// comes back to it, before anything is rated that cannot be stored.
"use strict";

const Reservation = (() => {
  const RENEW_MS = 60_000;
  let checkedAt = performance.now();
  let checking = null;
  let item = null; // of the item in view: where to ask, and for which place

  // Returns whether the items in view are still this person's, as far as is known.
  function check() {
    checkedAt = performance.now();
    checking ??= ask(item).finally(() => { checking = null; });
    return checking;
  }

  async function ask(asked) {
    if (!asked?.url) return true;
    const { annotator, assignment } = asked;
    const { response, reply } = await Unsent.post(asked.url, new URLSearchParams({ annotator, assignment })).catch(() => ({}));
    if (!response || asked !== item) return true;
    if (response.ok && reply.held) {
      Causes.endSession();
      document.dispatchEvent(new CustomEvent("reservation:held", { detail: reply }));
      document.dispatchEvent(new CustomEvent("unsent:guideline", { detail: reply.guideline }));
    } else if (Unsent.isSignedOut(response, reply)) {
      Causes.tell({ code: reply.code === "not_yours" ? "not_yours" : "signed_out", message: reply.message });
    } else if (Causes.ENDING.includes(reply.code)) {
      Causes.tell({ code: reply.code, message: reply.message, assignment });
      return false;
    }
    return true;
  }

  function follow(shown) {
    item = shown;
    used();
  }
  const used = () => { if (!document.hidden && performance.now() - checkedAt > RENEW_MS) check(); };

  for (const sign of ["keydown", "pointerdown", "scroll"]) document.addEventListener(sign, used, { capture: true, passive: true });
  document.addEventListener("visibilitychange", () => { if (!document.hidden) check(); });
  window.addEventListener("focus", check);
  document.addEventListener("causes:again", check);
  return { follow, check };
})();
