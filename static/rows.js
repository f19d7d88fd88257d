// The questions of one item's form: their fields and answers, and their steps in the trail.
"use strict";

function Rows(form) {
  const rows = [...form.querySelectorAll(".row")];
  const field = (row, name) => form.querySelector(`[name="${row.dataset.key}-${name}"]`);
  const rowOf = (element) => rows.find((row) => row.contains(element));
  const rowAt = (url) => rows.find((row) => row.dataset.url === url);
  const rowNamed = (key) => rows.find((row) => row.dataset.key === key);
  const step = (row) => form.querySelector(`[data-go="${row.dataset.key}"]`);
  const isLocked = (row) => row.querySelector(".fields").disabled;
  const radios = (row) => [...row.querySelectorAll(`input[type=radio][name="${row.dataset.key}-value"]`)];
  const typed = (row) => row.querySelector("input[type=number]");
  const chosen = (row) => radios(row).find((radio) => radio.checked);

  const valueOf = (row) => chosen(row)?.value ?? typed(row)?.value ?? "";
  const isHidden = (row) => row.hidden; // another answer hides its question
  const shownValue = (row) => chosen(row)?.closest(".point").dataset.name ?? (Questions.isComposed(row) ? Questions.shown(row) : valueOf(row));
  const isGiven = (row) => (Questions.isComposed(row) ? Questions.isComplete(row) : valueOf(row) !== "");
  const hasAnswer = (row) => isHidden(row) || valueOf(row) === "not_applicable" || isGiven(row) || field(row, "cannot_rate").checked;
  const isAnswered = (row) => !("again" in row.dataset) && hasAnswer(row);
  const isAllAnswered = () => rows.every(isAnswered);

  function setValue(row, value) {
    if (typed(row)) typed(row).value = value === "not_applicable" ? "" : value ?? "";
    for (const radio of radios(row)) radio.checked = value !== null && radio.value === String(value);
  }

  // The value and its label, as the trail shows them and screen readers hear them.
  function answerParts(row) {
    if (row.dataset.refused) return [say("Not stored")];
    if (field(row, "cannot_rate").checked) return [field(row, "comment").value ? say("Cannot rate") : say("Cannot rate: say why in a comment")];
    return [shownValue(row), chosen(row)?.dataset.says].filter(Boolean);
  }
  const answerIn = (row) => answerParts(row).join(" ");

  const describe = (row) => Press.after(() => {
    const passages = Passages.kept(field(row, "evidence")).length;
    const [value = "", label] = answerParts(row);
    const flags = [field(row, "unsure").checked && "⚑", field(row, "comment").value && "✎", passages && `❝${passages}`];
    const place = step(row);
    place.classList.toggle("is-refused", Boolean(row.dataset.refused));
    place.classList.toggle("is-rated", isAnswered(row));
    const span = label && Object.assign(document.createElement("span"), { textContent: ` ${label}` });
    place.querySelector(".says").replaceChildren(...[value, span].filter(Boolean));
    place.querySelector(".flags").textContent = flags.filter(Boolean).join(" ");
    place.title = [row.dataset.name, answerIn(row)].filter(Boolean).join(": ");
  });

  // Questions that depend on an answer appear with one of its values; the server decides it again. A hidden one keeps
  // its answer here, in case it appears again. Returns what changed, and the answers that count again.
  function showConditions() {
    const found = { hasChanged: false, again: [] };
    for (const row of rows) {
      if (!row.dataset.shownIf) continue;
      const { dimension, values } = JSON.parse(row.dataset.shownIf);
      const asked = rowNamed(dimension);
      const said = asked && !asked.hidden ? (Questions.isComposed(asked) ? Questions.read(asked) : valueOf(asked)) : null;
      const fits = (value) => (Array.isArray(said) ? said.includes(value) : Number(said) === value);
      const isShown = !asked || (said !== null && said !== "" && values.some(fits));
      if (row.hidden === !isShown) continue;
      found.hasChanged = true;
      row.hidden = !isShown;
      step(row).closest("li").hidden = !isShown;
      if (isShown && hasAnswer(row)) found.again.push(row);
    }
    return found;
  }

  function fill(row, answer) {
    setValue(row, answer.value === "" ? null : answer.value);
    Questions.fill(row, answer.data);
    field(row, "unsure").checked = answer.unsure;
    field(row, "cannot_rate").checked = answer.cannot_rate;
    field(row, "comment").value = answer.comment;
    field(row, "evidence").value = answer.evidence ?? "[]";
    describe(row);
  }

  return { rows, field, rowOf, rowAt, rowNamed, step, isLocked, radios, typed, shownValue, valueOf, answerIn, hasAnswer, isAnswered, isAllAnswered, setValue, describe, fill, showConditions };
}
