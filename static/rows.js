// The rows of one item's form: which there are, what each holds, and showing it.
"use strict";

function Rows(form) {
  const rows = [...form.querySelectorAll(".row")];
  const field = (row, name) => form.querySelector(`[name="${row.dataset.key}-${name}"]`);
  const panel = (row) => form.querySelector(`#panel-${row.dataset.key}`);
  const rowOf = (element) => rows.find((row) => row.contains(element) || panel(row).contains(element));
  const rowAt = (url) => rows.find((row) => row.dataset.url === url);
  const radios = (row) => [...row.querySelectorAll("input[type=radio]")];
  const typed = (row) => row.querySelector("input[type=number]");
  const chosen = (row) => radios(row).find((radio) => radio.checked);
  const control = (row) => typed(row) ?? chosen(row) ?? radios(row)[0]; // what takes the focus

  const valueOf = (row) => chosen(row)?.value ?? typed(row)?.value ?? "";
  const shownValue = (row) => chosen(row)?.closest(".point").dataset.name ?? valueOf(row);
  const hasAnswer = (row) => valueOf(row) !== "" || field(row, "cannot_rate").checked;
  const isAnswered = (row) => !("again" in row.dataset) && hasAnswer(row);
  const isAllAnswered = () => rows.every(isAnswered);

  function setValue(row, value) {
    if (typed(row)) typed(row).value = value === "not_applicable" ? "" : value ?? "";
    for (const radio of radios(row)) radio.checked = value !== null && radio.value === String(value);
  }

  // What stands behind a scale: a label is never cut, its description has a line of its own.
  function meaning(row, comment) {
    if (row.dataset.refused) return [say("Not stored")];
    if (field(row, "cannot_rate").checked) return [comment ? say("Cannot rate") : say("Cannot rate: say why in a comment")];
    const { says = "", saysMore = "" } = chosen(row)?.dataset ?? {};
    const span = (textContent, className = "") => Object.assign(document.createElement("span"), { textContent, className });
    return [says && span(saysMore ? `${says}:` : says), says && saysMore && " ", saysMore && span(saysMore, "says-more")].filter(Boolean);
  }

  const describe = (row) => Press.after(() => {
    const comment = field(row, "comment").value;
    const passages = Passages.kept(field(row, "evidence")).length;
    row.querySelector(".says").replaceChildren(...meaning(row, comment));
    const flags = [field(row, "unsure").checked && "⚑", comment && "✎", passages && `❝${passages}`];
    row.querySelector(".flags").textContent = flags.filter(Boolean).join(" ");
  });

  function fill(row, answer) {
    setValue(row, answer.value === "" ? null : answer.value);
    field(row, "unsure").checked = answer.unsure;
    field(row, "cannot_rate").checked = answer.cannot_rate;
    field(row, "comment").value = answer.comment;
    field(row, "evidence").value = answer.evidence ?? "[]";
    describe(row);
  }

  return { rows, field, panel, rowOf, rowAt, radios, control, shownValue, valueOf, hasAnswer, isAnswered, isAllAnswered, setValue, describe, fill };
}
