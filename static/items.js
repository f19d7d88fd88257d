// Going from item to item: those ahead are loaded beforehand and put in place; what was left stays as it is, to come
// back to.
"use strict";

(() => {
  const AHEAD = 8; // items; no fewer are reserved, see LOADED_AHEAD on the server
  const ENOUGH = 5; // with so many loaded, the next ones come later, several together
  const KEPT = 20;
  const DOUBLE_CLICK_MS = 500; // a second click that comes so soon is not meant for what the first one brought
  const pages = new Map();
  let current = RatingPage(document.getElementById("content"));
  let loading = false;
  let inForce = current.guideline; // the version of the wording; what was loaded under another is loaded anew
  let shownAt = -Infinity;
  const { resume } = document.getElementById("refused").dataset; // where one goes on when an item is gone

  // --- items ahead --------------------------------------------------------------------------------------------
  // What is at an address: an item of this annotator as `page`, nothing where it is something else, and `away` where
  // the server cannot be reached. Items after it come along, `several` in all if there are so many.
  async function load(address, several = 1) {
    try {
      const response = await fetch(address, { headers: { "Concord-Ahead": several, "Concord-Guideline": current.guideline }, cache: "no-store" });
      if (response.status >= 500) return { away: true };
      if (response.status === 404) return { gone: true };
      if (!response.ok || response.redirected) return {};
      const loaded = new DOMParser().parseFromString(await response.text(), "text/html");
      const found = [];
      for (const main of loaded.querySelectorAll("main:has(#work)")) {
        const parts = found.at(-1)?.main.querySelectorAll(".document > details") ?? [];
        main.querySelector("[data-parts]")?.replaceWith(...[...parts].map((part) => part.cloneNode(true)));
        found.push(RatingPage(document.adoptNode(main)));
        await new Promise((resolve) => { setTimeout(resolve); }); // a key that comes meanwhile is answered first
      }
      const [page, ...others] = found;
      if (page?.annotator !== current.annotator) return {};
      for (const other of others) {
        const at = new URL(other.main.dataset.address, location).href;
        if (!isReady(at)) pages.set(at, other);
      }
      return { page };
    } catch {
      return { away: true };
    }
  }

  // What is kept of an address, loaded (anew) where the wording has changed since; old wording only without a server.
  const isReady = (address) => pages.get(address)?.guideline === inForce;
  async function fetched(address, several) {
    const kept = pages.get(address);
    if (isReady(address)) return { page: kept };
    const found = await load(address, several);
    if (found.page) inForce = found.page.guideline;
    return found.away && kept ? { page: kept } : found;
  }

  async function lookAhead() {
    if (loading) return;
    loading = true;
    document.body.dataset.ahead = "loading";
    const begun = [current, inForce];
    for (let page = current, steps = 0; page && steps < AHEAD; steps += 1) {
      const address = page.main.querySelector("#next:not([data-resume])")?.href;
      if (steps >= ENOUGH && !isReady(address)) break;
      page = address && (await fetched(address, AHEAD - steps)).page;
      if (page) pages.set(address, page);
    }
    loading = false;
    document.body.dataset.ahead = "ready";
    if (current !== begun[0] || inForce !== begun[1]) lookAhead();
  }

  // --- going to another item ----------------------------------------------------------------------------------
  // Between items of one document the source stays as it is: where it is scrolled and what is folded.
  function keepSource(from, to) {
    if (!from?.dataset.document || from.dataset.document !== to?.dataset.document) return () => {};
    const parts = to.querySelectorAll("details");
    from.querySelectorAll("details").forEach((part, index) => { parts[index].open = part.open; });
    const { scrollTop } = from;
    return () => { to.scrollTop = scrollTop; };
  }

  function show(page) {
    current.leave();
    Causes.end("place_gone"); // that was about the item that is left
    const scroll = keepSource(current.main.querySelector(".document"), page.main.querySelector(".document"));
    if (!page.main.querySelector("#keys")) page.main.append(current.main.querySelector("#keys"));
    current.main.replaceWith(page.main);
    current = page;
    pages.delete(location.href);
    pages.set(location.href, page);
    for (const [address, kept] of pages) if (pages.size > KEPT && kept !== page) pages.delete(address);
    page.enter();
    const keys = page.main.querySelector("[data-next]");
    if (keys) keys.search = new URLSearchParams({ next: location.pathname });
    shownAt = performance.now();
    scroll();
    Unsent.flush().then(Counter.ask);
    lookAhead();
  }

  // The page is left only for what is there: an address that nobody answers would blank it. And not under a finger,
  // whose tap would rate the next item.
  async function open(address, enter, otherwise) {
    const begun = current;
    const found = await fetched(address);
    if (current !== begun) return; // someone was quicker
    if (found.page) {
      Press.after(() => {
        if (current !== begun) return;
        enter();
        show(found.page);
      });
    } else if (found.away) {
      current.notice(say("There is no connection now. Your browser keeps your answers; the next item opens when the connection is back."), "notice-warn");
    } else {
      otherwise(found);
    }
  }

  async function go(link) {
    current.saveChanged();
    // "Where did I stop?" and "what did I give?" are asked of the server, so it must have the last answers first.
    if (("resume" in link.dataset || link.pathname.endsWith("/rate/")) && Unsent.count()) await Unsent.settled();
    open(link.href, () => history.pushState(null, "", link.href), ({ gone }) => location.assign(gone ? resume : link.href));
  }

  window.addEventListener("popstate", () => open(location.href, () => {}, () => location.reload()));

  // --- what happens is passed on to the item in view, what was saved to all -----------------------------------
  document.addEventListener("click", (event) => {
    const opener = event.target.closest("[data-open]");
    if (opener) document.getElementById(opener.dataset.open).showModal();
    const link = event.target.closest("#next, #back, #first-open, #flagged");
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    if (link.id === "next") {
      if (event.detail && performance.now() - shownAt < DOUBLE_CLICK_MS) return;
      if (current.holdsBack()) {
        shownAt = performance.now();
        return;
      }
    }
    go(link);
  });
  document.addEventListener("keydown", (event) => current.keydown(event));
  document.addEventListener("pause:due", () => current.suggestPause());
  let selecting = 0;
  document.addEventListener("selectionchange", () => {
    cancelAnimationFrame(selecting);
    selecting = requestAnimationFrame(() => Press.after(() => current.selectionChanged()));
  });
  for (const sign of ["keydown", "pointerdown", "scroll"]) document.addEventListener(sign, () => current.tick(), { capture: true, passive: true });
  document.addEventListener("visibilitychange", () => current.tick(document.hidden));
  for (const [name, method] of [["saved", "saved"], ["refused", "refused"], ["saved-elsewhere", "savedElsewhere"]]) {
    document.addEventListener(`unsent:${name}`, ({ detail }) => { for (const page of new Set([current, ...pages.values()])) page[method](detail); });
  }
  // A closed round, or a closed place in the project, ends the work on every item; a lost item that on it alone.
  document.addEventListener("cause", ({ detail: { code, assignment } }) => {
    for (const page of new Set([current, ...pages.values()])) if (code !== "place_gone" || page.assignment === assignment) page.lock();
  });
  document.addEventListener("unsent:guideline", ({ detail: version }) => {
    if (version === inForce) return;
    inForce = version;
    lookAhead();
  });
  const readEverywhere = (version) => { for (const page of new Set([current, ...pages.values()])) page.readWording(version); };
  document.addEventListener("wording:read", ({ detail }) => readEverywhere(detail));
  document.addEventListener("unsent:saved-elsewhere", ({ detail: { entry } }) => { if (entry.version) readEverywhere(entry.version); });

  // Items ahead that were given to someone else meanwhile are passed over.
  const positionIn = (address) => Number(address.match(/\/rate\/(\d+)\//)?.[1]);
  document.addEventListener("reservation:held", ({ detail: { held } }) => {
    for (const [address, page] of pages) {
      const position = positionIn(address);
      if (page !== current && position > positionIn(location.pathname) && held[position] !== page.assignment) pages.delete(address);
    }
    const next = current.main.querySelector("#next:not([data-resume])");
    const after = Object.keys(held).map(Number).find((position) => position > positionIn(location.pathname));
    if (next && after && !held[positionIn(next.href)]) next.href = next.href.replace(/\d+\/$/, `${after}/`);
    lookAhead();
  });
  // What a page from before holds is old: it is loaded anew, unless its item is gone.
  window.addEventListener("pageshow", async (event) => { if (event.persisted && await Reservation.check()) location.reload(); });
  window.addEventListener("pagehide", () => current.saveChanged());

  pages.set(location.href, current);
  current.enter();
  lookAhead();
})();
