// Renders <figure class="chart"> from the JSON next to it, with Observable Plot. Colours are the page's custom
// properties, so charts follow light and dark. Points have names for pointer, keyboard and screen readers; a click
// opens the units behind a point, and hovering a rater or system highlights it in every chart of the page.
"use strict";

(() => {
  const SERIES = 6, LETTER = 7, LINE = 26;
  const SYMBOLS = ["circle", "square", "triangle", "diamond", "star", "cross"];
  const colour = (series) => `var(--series-${series % SERIES + 1})`;
  const unique = (points, part) => [...new Set(points.map((each) => each[part] ?? ""))];
  const shorten = (text, most) => {
    if (text.length <= most) return text;
    const end = Math.floor((most - 1) / 2);
    return `${text.slice(0, most - 1 - end)}…${text.slice(text.length - end)}`; // variants differ at the end
  };

  // Observable Plot puts a <style> into each SVG, which the policy of pages rejects once it is in the document;
  // results.css has its rules.
  function plot(options) {
    const svg = Plot.plot({ className: "chart-plot", style: undefined, ...options });
    svg.querySelectorAll("style").forEach((each) => each.remove());
    for (const group of svg.querySelectorAll("g[aria-label]")) { // a name needs a role, and points have their own
      group.dataset.part = group.getAttribute("aria-label");
      group.removeAttribute("aria-label");
    }
    return svg;
  }

  function extent(points, lines = []) {
    const all = points.flatMap((each) => [each.value, each.low, each.high]).concat(lines).filter(Number.isFinite);
    const low = Math.min(...all), high = Math.max(...all), room = (high - low || 1) * 0.04;
    return [low < 0 || low > room ? low - room : low, high + room];
  }

  const inPanel = (points, name) => points.filter((each) => (each.panel ?? "") === name);

  // Each kind: draws a panel of points into an SVG of this width. `chart` is the whole, with shared ranges.
  const draw = {
    intervals(points, width, chart) {
      const rows = chart.rows(points), left = Math.min(width * 0.5, 12 + LETTER * Math.max(...rows.map((each) => each.length), 4));
      const most = Math.floor((left - 12) / LETTER), series = chart.series, step = 0.5 / series.length;
      const panel = points[0].panel ?? "";
      const bands = (chart.bands ?? []).flatMap((each) => {
        if (panel) return each.row === panel ? [{ ...each, from: -0.5, to: rows.length - 0.5 }] : [];
        const row = rows.indexOf(each.row);
        return row < 0 ? [] : [{ ...each, from: row - 0.45, to: row + 0.45 }];
      });
      const at = (each) => rows.indexOf(each.row) + (series.indexOf(each.series) - (series.length - 1) / 2) * step;
      return plot({
        width, height: 48 + (chart.lines.length ? 14 : 0) + rows.length * Math.max(LINE, 15 * series.length), marginLeft: left, marginRight: 14,
        marginTop: chart.lines.length ? 24 : 10, marginBottom: 34,
        x: { domain: chart.domain, label: chart.axis || null, grid: true, ticks: Math.max(2, Math.floor(width / 90)) },
        y: { domain: [-0.5, rows.length - 0.5], reverse: true, ticks: rows.map((_, place) => place), tickSize: 0,
          tickFormat: (place) => shorten(rows[place] ?? "", most), label: null },
        marks: [
          Plot.rect(bands, { x1: "low", x2: "high", y1: (each) => each.from, y2: (each) => each.to, fill: "var(--band)", title: "note" }),
          Plot.ruleX(chart.lines, { stroke: "var(--good)", strokeDasharray: "4 4" }),
          Plot.text(chart.lines, { x: (each) => each, frameAnchor: "top", dy: -14, text: (each) => String(each).replace(/^0/, ""), fill: "var(--soft)" }),
          ...series.flatMap((name, place) => {
            const own = points.filter((each) => each.series === name);
            const fill = colour(place);
            return [
              Plot.ruleY(own.filter((each) => Number.isFinite(each.low)), { x1: "low", x2: "high", y: at, stroke: fill, strokeWidth: 2.5, strokeLinecap: "round" }),
              pointed(Plot.dot, own, { x: "value", y: at, fill, symbol: SYMBOLS[place % SERIES], r: 4.5 }),
            ];
          }),
        ],
      });
    },
    heat(points, width, chart) {
      const rows = unique(points, "row"), columns = unique(points, "column");
      const left = Math.min(width * 0.5, 12 + LETTER * Math.max(...rows.map((each) => each.length), 4));
      const room = Math.max(4, Math.floor((width - left) / columns.length / LETTER));
      const turned = columns.some((each) => each.length > room) && room < 9;
      return plot({
        width, height: 56 + (turned ? 50 : 0) + rows.length * 30, marginLeft: left, marginTop: (chart.across ? 40 : 26) + (turned ? 50 : 0), marginBottom: 10, marginRight: turned ? 44 : 10,
        x: { domain: columns, axis: "top", tickSize: 0, label: chart.across || null, tickRotate: turned ? -40 : 0, tickFormat: (each) => shorten(each, turned ? 14 : room) },
        y: { domain: rows, tickSize: 0, label: chart.up || null, tickFormat: (each) => shorten(each, Math.floor((left - 12) / LETTER)) },
        marks: [
          pointed(Plot.cell, points, { x: "column", y: "row", inset: 1, rx: 3, fill: "var(--wash)" }),
          Plot.text(points, { x: "column", y: "row", text: "shown", fill: "var(--ink)", pointerEvents: "none" }),
        ],
      });
    },
    shares(points, width, chart) {
      const rows = unique(points, "row"), left = Math.min(width * 0.5, 12 + LETTER * Math.max(...rows.map((each) => each.length), 4));
      const shade = (each) => chart.series.indexOf(each.series);
      const svg = plot({
        width, height: 44 + rows.length * 34, marginLeft: left, marginRight: 14,
        x: { domain: [0, 1], label: null, tickFormat: (each) => `${Math.round(100 * each)} %`, ticks: Math.max(2, Math.floor(width / 90)) },
        y: { domain: rows, tickSize: 0, label: null, tickFormat: (each) => shorten(each, Math.floor((left - 12) / LETTER)) },
        marks: [
          pointed(Plot.barX, points, { x: "value", y: "row", z: "series", fill: "var(--wash)", inset: 0.5, order: shade }),
          Plot.text(points.filter((each) => each.value > 0.05), Plot.stackX({ x: "value", y: "row", z: "series", order: shade, text: "shown", fill: "var(--ink)", pointerEvents: "none" })),
        ],
      });
      return svg;
    },
    box(points, width, chart) {
      const rows = chart.rows(points), left = Math.min(width * 0.5, 12 + LETTER * Math.max(...rows.map((each) => each.length), 4));
      const most = Math.floor((left - 12) / LETTER), end = (place) => (each) => each.ends[place];
      const y = (each) => rows.indexOf(each.row);
      return plot({
        width, height: 44 + rows.length * LINE, marginLeft: left, marginRight: 14,
        x: { domain: chart.domain, label: null, grid: true, ticks: Math.max(2, Math.floor(width / 90)) },
        y: { domain: [-0.5, rows.length - 0.5], reverse: true, ticks: rows.map((_, place) => place), tickSize: 0, tickFormat: (place) => shorten(rows[place] ?? "", most), label: null },
        marks: [
          Plot.ruleY(points, { x1: end(0), x2: end(4), y, stroke: "var(--soft)" }),
          pointed(Plot.rect, points, { x1: end(1), x2: end(3), y1: (each) => y(each) - 0.3, y2: (each) => y(each) + 0.3, fill: colour(0), fillOpacity: 0.5 }),
          Plot.ruleX(points, { x: end(2), y1: (each) => y(each) - 0.36, y2: (each) => y(each) + 0.36, stroke: "var(--ink)", strokeWidth: 2 }),
        ],
      });
    },
    scatter(points, width, chart) {
      return plot({
        width, height: Math.min(width, 260), marginRight: 14, marginBottom: 36,
        x: { domain: chart.across_domain, label: chart.across, grid: true, ticks: 4 },
        y: { domain: chart.domain, label: chart.up, grid: true, ticks: 4 },
        r: { range: [2, 9] },
        marks: [
          Plot.ruleX(points.filter((each) => Number.isFinite(each.low)), { x: "x", y1: "low", y2: "high", stroke: colour(0), strokeOpacity: 0.4 }),
          pointed(Plot.dot, points, { x: "x", y: "value", r: points.some((each) => each.size) ? "size" : 4.5, fill: colour(0), fillOpacity: 0.7 }),
        ],
      });
    },
    lines(points, width, chart) {
      return plot({
        width, height: Math.min(width, 240), marginRight: 14, marginBottom: 36,
        x: { domain: chart.across_domain, label: chart.across, grid: true, ticks: 4 },
        y: { domain: [Math.min(0, chart.domain[0]), chart.domain[1]], label: chart.up, grid: true, ticks: 4 },
        marks: chart.series.flatMap((name, place) => {
          const own = points.filter((each) => each.series === name);
          return [
            Plot.areaY(own.filter((each) => Number.isFinite(each.low)), { x: "x", y1: "low", y2: "high", fill: colour(place), fillOpacity: 0.15 }),
            Plot.lineY(own, { x: "x", y: "value", stroke: colour(place), strokeWidth: 1.6 }),
            pointed(Plot.dot, own, { x: "x", y: "value", fill: colour(place), symbol: SYMBOLS[place % SERIES], r: 3.5 }),
          ];
        }),
      });
    },
  };

  // Marks whose elements stand for points: Plot binds each element to the place of its point in the mark's data.
  let marked = [];
  function pointed(mark, points, options) {
    marked.push(points);
    return mark(points, { ...options, className: "chart-points" });
  }

  const mix = (share, series) => `color-mix(in oklab, ${colour(series)} ${Math.round(100 * Math.min(1, Math.abs(share)) * 0.55)}%, var(--panel))`;

  function nameElements(svg, chart) {
    svg.querySelectorAll(".chart-points").forEach((group, place) => {
      const points = marked[place];
      for (const element of group.children) {
        const point = points[element.__data__];
        if (!point) continue;
        element.classList.add("chart-point");
        element.setAttribute("role", point.url ? "link" : "img");
        element.setAttribute("aria-label", point.note);
        element.setAttribute("tabindex", "-1");
        element.dataset.name = point.name ?? "";
        if (point.url) element.dataset.url = point.url;
        // 0 is the middle: values below it take another colour.
        if (chart.kind === "heat") element.style.fill = mix(point.value / chart.most, point.value < 0 ? 1 : 0);
        if (chart.kind === "shares") element.style.fill = mix(0.3 + 0.7 * chart.series.indexOf(point.series) / Math.max(1, chart.series.length - 1), 0);
      }
    });
    marked = [];
  }

  function legend(chart) {
    const list = document.createElement("ul");
    list.className = "chart-legend";
    for (const [place, name] of chart.series.entries()) {
      const item = document.createElement("li");
      const mark = document.createElementNS("http://www.w3.org/2000/svg", "svg");
      mark.setAttribute("viewBox", "-6 -6 12 12");
      mark.setAttribute("aria-hidden", "true");
      const shape = document.createElementNS("http://www.w3.org/2000/svg", "path");
      shape.setAttribute("d", chart.kind === "shares" ? "M-5-5h10v10h-10z" : d3.symbol(d3[`symbol${SYMBOLS[place % SERIES].replace(/^./, (letter) => letter.toUpperCase())}`], 50)());
      shape.style.fill = chart.kind === "shares" ? mix(0.3 + 0.7 * place / Math.max(1, chart.series.length - 1), 0) : colour(place);
      mark.append(shape);
      item.dataset.name = name;
      item.append(mark, name);
      list.append(item);
    }
    if (chart.bands?.length) {
      const item = document.createElement("li");
      item.className = "chart-band";
      item.append(chart.band_name ?? "");
      list.append(item);
    }
    return list;
  }

  function render(figure) {
    const data = figure.querySelector('script[type="application/json"]');
    const area = figure.querySelector(".chart-area");
    if (!data || !area || typeof Plot === "undefined") return;
    const chart = JSON.parse(data.textContent);
    const panels = unique(chart.points, "panel");
    chart.series = (chart.series ?? unique(chart.points, "series")).filter((name) => chart.points.some((each) => (each.series ?? "") === name));
    chart.lines ??= [];
    chart.rows = (points) => unique(points, "row");
    const ends = chart.kind === "box" ? chart.points.flatMap(({ panel, ends: all }) => all.map((value) => ({ panel, value }))) : chart.points;
    chart.domain = extent([...ends, ...(chart.bands ?? [])], [...chart.lines, ...(chart.from_zero ? [0] : [])]);
    if (chart.points.some((each) => Number.isFinite(each.x))) chart.across_domain = extent(chart.points.map((each) => ({ value: each.x })));
    const whole = chart.domain, reaches = panels.map((name) => Math.max(...extent(inPanel(ends, name)).map(Math.abs)));
    // One range lets panels be compared, unless their scales differ: means of 1 to 5 next to some of 0 to 100.
    const alike = Math.max(...reaches) <= 1.1 || Math.max(...reaches) <= 5 * Math.min(...reaches);
    const width = area.clientWidth;
    if (!width) return;
    figure.dataset.width = width;
    const labels = LETTER * Math.max(...chart.points.map((each) => each.row?.length ?? 8));
    const across = Math.max(1, Math.min(panels.length, Math.floor(width / (115 + Math.min(180, labels))), 4));
    const grid = document.createElement("div");
    grid.className = `chart-panels chart-panels-${across}`;
    for (const name of panels) {
      const panel = document.createElement("div");
      if (name) {
        const title = document.createElement("p");
        title.className = "chart-panel-title";
        title.textContent = name;
        panel.append(title);
      }
      chart.domain = alike ? whole : extent(inPanel(ends, name), chart.lines);
      const svg = draw[chart.kind](inPanel(chart.points, name), Math.floor((width - (across - 1) * 16) / across), chart);
      svg.setAttribute("role", "group");
      svg.setAttribute("aria-label", [chart.title, name].filter(Boolean).join(": "));
      nameElements(svg, chart);
      panel.append(svg);
      grid.append(panel);
    }
    area.replaceChildren(...(chart.series.length > 1 || chart.bands?.length ? [legend(chart)] : []), grid);
    area.querySelector(".chart-point")?.setAttribute("tabindex", "0");
  }

  // Points: named under the pointer and with the focus; arrows go from point to point.
  const label = document.createElement("div");
  label.className = "plot-name";
  label.setAttribute("aria-hidden", "true"); // the point itself is heard
  label.hidden = true;
  const pointOf = ({ target }) => (target instanceof Element ? target.closest(".chart-point") : null);

  function place(box, at) {
    const { left, top, bottom, width } = at.getBoundingClientRect();
    const most = document.documentElement.clientWidth - box.offsetWidth - 4;
    const above = top - box.offsetHeight - 6;
    box.style.left = `${Math.max(4, Math.min(left + width / 2 - box.offsetWidth / 2, most)) + scrollX}px`;
    box.style.top = `${(above < 0 ? bottom + 6 : above) + scrollY}px`;
  }

  function name(point) {
    label.textContent = point.getAttribute("aria-label");
    document.body.append(label);
    label.hidden = false;
    place(label, point);
    highlight(point.dataset.name);
  }
  function unname() { label.hidden = true; highlight(""); }

  function highlight(wanted) {
    const all = [...document.querySelectorAll(".chart-point")];
    const known = wanted && all.some((each) => each.dataset.name !== wanted);
    for (const each of all) each.classList.toggle("is-faded", Boolean(known) && each.dataset.name !== wanted);
  }

  function go(from, step) {
    const points = [...from.closest(".chart").querySelectorAll(".chart-point")];
    const to = points[(points.indexOf(from) + step + points.length) % points.length];
    from.setAttribute("tabindex", "-1");
    to.setAttribute("tabindex", "0");
    to.focus();
  }

  for (const starts of ["pointerover", "focusin"]) {
    document.addEventListener(starts, (event) => { const point = pointOf(event); if (point) name(point); });
  }
  for (const ends of ["pointerout", "focusout"]) {
    document.addEventListener(ends, (event) => { if (pointOf(event)) unname(); });
  }
  document.addEventListener("click", (event) => { const url = pointOf(event)?.dataset.url; if (url) location.assign(url); });
  document.addEventListener("keydown", (event) => {
    const point = pointOf(event);
    if (!point || event.ctrlKey || event.metaKey || event.altKey) return;
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    if (step) { event.preventDefault(); go(point, step); }
    if (event.key === "Enter" && point.dataset.url) location.assign(point.dataset.url);
    if (event.key === "Escape") unname();
  });

  // Values of tables: their details open on hover and focus, too; a click keeps them open.
  const detailsOf = (value) => document.getElementById(value.getAttribute("popovertarget"));
  let waits = 0;
  const valueOf = ({ target }) => (target instanceof Element ? target.closest(".figure-value") : null);
  function open(value) {
    const details = detailsOf(value);
    if (!details || details.matches(":popover-open")) return;
    details.showPopover();
  }
  document.addEventListener("pointerover", (event) => {
    if (event.pointerType === "touch") return;
    const inside = event.target instanceof Element && event.target.closest(".figure-details");
    if (inside) { clearTimeout(waits); return; }
    const value = valueOf(event);
    if (!value) return;
    clearTimeout(waits);
    waits = setTimeout(() => open(value), 120);
  });
  document.addEventListener("pointerout", (event) => {
    const from = event.target instanceof Element && event.target.closest(".figure-value, .figure-details");
    if (!from || from.contains(event.relatedTarget)) return;
    clearTimeout(waits);
    waits = setTimeout(() => {
      for (const each of document.querySelectorAll(".figure-details:popover-open:not(.is-kept)")) each.hidePopover();
    }, 250);
  });
  document.addEventListener("focusin", (event) => {
    const value = valueOf(event);
    if (value?.matches(":focus-visible")) open(value);
  });
  // The browser toggles on a click: what a hover has opened stays open instead.
  document.addEventListener("click", (event) => {
    const value = valueOf(event), details = value && detailsOf(value);
    if (!details?.matches(":popover-open") || details.classList.contains("is-kept")) return;
    details.classList.add("is-kept");
    event.preventDefault();
  }, true);
  document.addEventListener("toggle", (event) => {
    const details = event.target;
    if (!(details instanceof HTMLElement) || !details.classList.contains("figure-details")) return;
    if (event.newState === "closed") { details.classList.remove("is-kept"); return; }
    const value = document.querySelector(`[popovertarget="${details.id}"]`);
    if (value) place(details, value);
  }, true);

  // Choices apply on change; without this script their button does it.
  document.addEventListener("change", (event) => {
    if (event.target instanceof Element) event.target.closest("form.result-choices")?.requestSubmit();
  });

  const renderAll = (root) => { for (const each of root.querySelectorAll("figure.chart")) render(each); };
  document.documentElement.classList.add("has-charts");
  renderAll(document);
  document.addEventListener("htmx:load", (event) => {
    if (event.detail?.elt && event.detail.elt !== document.body) renderAll(event.detail.elt.parentElement ?? document);
  });
  let resized = 0;
  addEventListener("resize", () => {
    clearTimeout(resized);
    resized = setTimeout(() => {
      for (const each of document.querySelectorAll("figure.chart")) {
        if (Number(each.dataset.width) !== each.querySelector(".chart-area").clientWidth) render(each);
      }
    }, 150);
  });
})();
