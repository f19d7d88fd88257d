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
  const hasAnswer = (row) => valueOf(row) !== "" || field(row, "cannot_rate").checked;
  const isAnswered = (row) => !("again" in row.dataset) && hasAnswer(row);
  const isAllAnswered = () => rows.every(isAnswered);

  function setValue(row, value) {
    if (typed(row)) typed(row).value = value === "not_applicable" ? "" : value ?? "";
    for (const radio of radios(row)) radio.checked = value !== null && radio.value === String(value);
  }

  const describe = (row) => Press.after(() => {
    const comment = field(row, "comment").value;
    const passages = Passages.kept(field(row, "evidence")).length;
    row.querySelector(".says").textContent = field(row, "cannot_rate").checked ? (comment ? say("Cannot rate") : say("Cannot rate: say why in a comment")) : chosen(row)?.dataset.says ?? "";
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

  return { rows, field, panel, rowOf, rowAt, radios, control, valueOf, hasAnswer, isAnswered, isAllAnswered, setValue, describe, fill };
}
