// Answers of several pieces: labels, one choice for each part or side, words, marked spans. The script
// collects a question's controls as JSON in its hidden field, which the server checks; the template names
// each piece.
"use strict";

const Questions = (() => {
  const dataField = (row) => row.querySelector(`input[type=hidden]:is([name="${row.dataset.key}-data"], [data-answer])`);
  const isComposed = (row) => Boolean(row.querySelector("[data-field], [data-none]"));
  const piece = (row) => row.querySelector("[data-field], [data-none]")?.dataset;
  const nameOf = (row) => piece(row).field ?? piece(row).none;
  const none = (row) => row.querySelector("[data-none]");
  const list = (row) => row.querySelector("[data-list]");
  const entries = (row) => [...row.querySelectorAll("[data-entry]")];
  const read = (row) => { try { return JSON.parse(dataField(row).value || "null")?.[nameOf(row)] ?? null; } catch { return null; } };
  const valueOf = (control) => ("number" in control.dataset ? Number(control.value) : control.value);

  const entered = (row) => row.querySelector("[data-field]:not([type=radio], [type=checkbox])");

  // One value for each entry. If the list has a default, entries without a choice get it.
  function listed(row) {
    const values = entries(row).map(() => null);
    for (const control of row.querySelectorAll("[data-field]:checked")) values[Number(control.dataset.index)] = valueOf(control);
    if (values.every((value) => value === null)) return null;
    const otherwise = Number(list(row).dataset.default) || null;
    const chosen = new Set(values.filter((value) => value !== null));
    return otherwise && chosen.size > 1 ? values.map((value) => value ?? otherwise) : values;
  }

  function composed(row) {
    if (row.querySelector("[data-spans]")) return read(row)?.length ? read(row) : none(row).checked ? [] : null;
    if (list(row)) return listed(row);
    if (none(row)) {
      const chosen = [...row.querySelectorAll("[data-field]:checked")].map((each) => each.value);
      return chosen.length || none(row).checked ? chosen : null;
    }
    return (entered(row) ?? row.querySelector("[data-field]:checked"))?.value.trim() || null;
  }

  function compose(row) {
    if (!isComposed(row)) return;
    const value = composed(row);
    dataField(row).value = value === null ? "" : JSON.stringify({ [nameOf(row)]: value });
  }

  function isComplete(row) {
    const value = read(row);
    return value !== null && !(list(row) && value.includes(null));
  }

  // The choice in words, for the trail.
  function shown(row) {
    const value = read(row);
    if (value === null) return "";
    if (list(row)) return isComplete(row) ? say("complete") : say("{count} of {all}", { count: value.filter((each) => each !== null).length, all: value.length });
    if (typeof value === "string") return value.length > 20 ? `${value.slice(0, 19)}…` : value;
    if (!value.length) return none(row).dataset.name;
    if (row.querySelector("[data-spans]")) return String(value.length);
    return [...row.querySelectorAll("[data-field]:checked")].map((each) => each.dataset.name).join(", ");
  }

  function fill(row, data) {
    if (!isComposed(row)) return;
    dataField(row).value = data || "";
    const value = read(row);
    if (none(row)) none(row).checked = value !== null && !value.length;
    for (const control of row.querySelectorAll("[data-field]:is([type=radio], [type=checkbox])")) {
      if (!("index" in control.dataset)) control.checked = Boolean(value?.includes(control.value));
      else control.checked = value?.[Number(control.dataset.index)] === valueOf(control);
    }
    if (entered(row)) entered(row).value = value ?? "";
    Spans.list(row);
  }

  // A choice that excludes others takes them away: none of the labels, or a rank that only one may have.
  function settle(control) {
    const row = control.closest(".row");
    if (!control.checked) return;
    if (control === none(row)) {
      for (const other of row.querySelectorAll("[data-field]:checked")) other.checked = false;
      if (row.querySelector("[data-spans]")) { dataField(row).value = ""; Spans.list(row); }
    } else if (none(row)) none(row).checked = false;
    const alike = [...row.querySelectorAll("[data-field]:checked")].filter((other) => other !== control);
    if (list(row)?.dataset.default) for (const other of alike) if (other.dataset.index === control.dataset.index) other.checked = false;
    if (list(row) && "once" in list(row).dataset) for (const other of alike) if (other.value === control.value) other.checked = false;
  }

  // The entry that a digit is about: the one with the focus, else the first without a choice.
  function current(row) {
    const open = entries(row).find((entry) => !entry.querySelector("[data-field]:checked"));
    return document.activeElement.closest?.("[data-entry]") ?? open ?? entries(row)[0];
  }

  // Handles a digit; returns "done" if all entries of a list have a choice, "taken" for other choices,
  // else "".
  function digit(row, key) {
    if (list(row)) {
      const entry = current(row);
      const control = entry?.querySelector(`[data-digit="${key}"]`);
      if (!control) return "";
      control.checked = true;
      settle(control);
      compose(row);
      const open = entries(row).slice(entries(row).indexOf(entry) + 1).find((each) => !each.querySelector("[data-field]:checked"));
      (open ?? row).focus({ preventScroll: true });
      open?.scrollIntoView({ block: "nearest" });
      return isComplete(row) ? "done" : "taken";
    }
    const severity = row.querySelector(`[data-severity][data-digit="${key}"]`);
    if (severity) { severity.click(); return ""; } // which saves what it marks
    const control = row.querySelector(`[data-digit="${key}"]`);
    if (!control) return "";
    control.click();
    return "taken";
  }

  return { compose, isComplete, shown, fill, settle, digit, isComposed, data: (row) => dataField(row)?.value ?? "", read };
})();

// Spans: a selection in the page's passages is marked with a category and a severity.
const Spans = (() => {
  const tool = (row) => row.querySelector("[data-spans]");
  const hidden = (row) => row.querySelector(`input[type=hidden]:is([name="${row.dataset.key}-data"], [data-answer])`);
  const spansOf = (row) => Questions.read(row) ?? [];
  const passage = ({ part, start, end }) => [part, start, end];

  function keep(row, spans) {
    hidden(row).value = JSON.stringify({ spans });
    list(row);
    row.dispatchEvent(new CustomEvent("spans:changed", { bubbles: true }));
  }

  // Marks the selection; returns false without one.
  function add(row, severity) {
    const main = row.closest("main");
    const everywhere = tool(row).dataset.where === "both";
    const chosen = Passages.selected(main).map(Passages.passageOf).filter(Boolean).filter(([part]) => everywhere || part === 0);
    if (!chosen.length) return false;
    const category = tool(row).querySelector("[data-category]").value;
    const made = chosen.map(([part, start, end]) => ({ part, start, end, category, severity }));
    tool(row).querySelector("[data-none]").checked = false;
    keep(row, [...spansOf(row), ...made]);
    getSelection().removeAllRanges();
    return true;
  }

  function button(text, label, act, kind) {
    const made = document.createElement("button");
    Object.assign(made, { type: "button", className: kind, textContent: text, onclick: act });
    made.setAttribute("aria-label", label);
    made.dir = "auto";
    return made;
  }

  // Adds a span that somebody else marked.
  function take(row, span) {
    tool(row).querySelector("[data-none]").checked = false;
    const same = (other) => JSON.stringify(Object.entries(other).sort()) === JSON.stringify(Object.entries(span).sort());
    keep(row, [...spansOf(row).filter((other) => !same(other)), span]);
  }

  // A span's category or severity, to choose another.
  function choice(row, index, kind, options, label) {
    const made = document.createElement("select");
    made.setAttribute("aria-label", label);
    made.append(...options.map(({ value, text }) => new Option(text, value, false, value === spansOf(row)[index][kind])));
    made.onchange = () => keep(row, spansOf(row).map((span, place) => (place === index ? { ...span, [kind]: made.value } : span)));
    return made;
  }
  const categories = (row) => [...tool(row).querySelectorAll("[data-category] option")].map(({ value, textContent }) => ({ value, text: textContent }));
  const severities = (row) => [...tool(row).querySelectorAll("[data-severity]")].map(({ dataset }) => ({ value: dataset.severity, text: dataset.name }));

  function list(row) {
    const place = row.querySelector("[data-span-list]");
    if (!place) return;
    const main = row.closest("main");
    const spans = spansOf(row);
    const named = (kind, key) => (kind === "category" ? [...tool(row).querySelectorAll("option")].find((each) => each.value === key)?.textContent : tool(row).querySelector(`[data-severity="${key}"]`)?.dataset.name) ?? key;
    place.replaceChildren(...spans.map((span, index) => {
      const item = document.createElement("li");
      const quote = Passages.quote(main, passage(span)).replace(/\s+/g, " ");
      const says = `${named("category", span.category)}, ${named("severity", span.severity)}`;
      item.dataset.severityOf = span.severity;
      const remove = button("×", say("Remove: {span}", { span: quote }), () => keep(row, spans.filter((_, other) => other !== index)), "span-remove");
      remove.disabled = row.querySelector(".fields").disabled;
      item.append(button(`❝ ${quote.length > 60 ? `${quote.slice(0, 59)}…` : quote}`, say("Show this passage: {passage}", { passage: quote }), () => Passages.show(Passages.rangeOf(main, passage(span))), "span-quote"), ...("edits" in tool(row).dataset
        ? [choice(row, index, "category", categories(row), say("Category")), choice(row, index, "severity", severities(row), say("Severity"))]
        : [Object.assign(document.createElement("span"), { className: "soft", textContent: says })]), remove);
      return item;
    }));
    if (row.classList.contains("focused")) mark(row);
  }

  // The heaviest severity has the strongest colour.
  function mark(row) {
    const main = row.closest("main");
    const order = tool(row) ? [...tool(row).querySelectorAll("[data-severity]")].sort((one, other) => one.dataset.weight - other.dataset.weight).map((each) => each.dataset.severity) : [];
    const spans = tool(row) ? spansOf(row) : [];
    const ranges = (isHeavy) => spans.filter(({ severity }) => (order.indexOf(severity) > 0) === isHeavy).map((span) => Passages.rangeOf(main, passage(span)));
    Passages.mark("span-light", ranges(false));
    Passages.mark("span-heavy", ranges(true));
  }

  return { add, take, list, mark, isIn: (row) => Boolean(tool(row)) };
})();
