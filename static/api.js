// Trying operations of the API on their page: a form for each that is unfolded, filled with its example.
"use strict";

(() => {
  const skeleton = document.getElementById("try");
  const token = document.getElementById("api-token");
  let description;

  const read = () => (description ??= fetch(skeleton.dataset.description).then((answer) => answer.json()));

  function find(api, id) {
    for (const [path, operations] of Object.entries(api.paths)) {
      for (const [method, operation] of Object.entries(operations)) {
        if (operation.operationId === id) return { path, method: method.toUpperCase(), ...operation };
      }
    }
    return null;
  }

  function exampleOf(api, operation) {
    const content = operation.requestBody?.content?.["application/json"];
    const [example] = Object.values(content?.examples ?? {});
    return example && api.components.examples[example.$ref.split("/").pop()].value;
  }

  function fieldOf(parameter, id) {
    const choices = parameter.schema.enum;
    const field = document.createElement(choices ? "select" : "input");
    if (choices) field.append(...choices.map((choice) => new Option(choice, choice)));
    if (choices && parameter.in === "query") field.prepend(new Option("", "", true, true));
    field.id = id;
    field.name = `${parameter.in}.${parameter.name}`;
    field.required = parameter.in === "path";
    field.value = parameter.example ?? "";
    return field;
  }

  async function build(details) {
    if (details.querySelector("form")) return;
    const form = skeleton.content.firstElementChild.cloneNode(true);
    details.append(form);
    const api = await read();
    const operation = find(api, details.id);
    const parameters = (operation.parameters ?? []).filter(({ in: place, schema }) => place !== "header" && schema.type !== "object");
    for (const parameter of parameters) {
      const row = document.createElement("p");
      const label = document.createElement("label");
      label.htmlFor = `${details.id}-${parameter.name}`;
      label.textContent = parameter.name;
      row.append(label, fieldOf(parameter, label.htmlFor));
      form.querySelector("[data-parameters]").append(row);
    }
    const body = form.querySelector("textarea");
    const example = exampleOf(api, operation);
    body.closest("p").hidden = example === undefined;
    body.id = `${details.id}-body`;
    body.previousElementSibling.htmlFor = body.id;
    body.value = example === undefined ? "" : JSON.stringify(example, null, 2);
    body.rows = Math.min(body.value.split("\n").length, 20);
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      send(form, operation, parameters, body);
    });
  }

  async function send(form, operation, parameters, body) {
    const valueOf = ({ in: place, name }) => form.elements[`${place}.${name}`].value;
    const query = new URLSearchParams(parameters.filter((each) => each.in === "query" && valueOf(each)).map((each) => [each.name, valueOf(each)]));
    const path = parameters.filter((each) => each.in === "path")
      .reduce((left, each) => left.replace(`{${each.name}}`, encodeURIComponent(valueOf(each))), operation.path);
    const options = { method: operation.method, credentials: "omit", headers: { Authorization: `Bearer ${token.value.trim()}` } };
    if (body.value) Object.assign(options, { body: body.value, headers: { ...options.headers, "Content-Type": "application/json" } });
    const button = form.querySelector("button");
    const output = form.querySelector("output code");
    button.disabled = true;
    try {
      const answer = await fetch(query.size ? `${path}?${query}` : path, options);
      output.textContent = `${answer.status} ${answer.statusText}\n${await textOf(answer)}`;
    } catch (error) {
      output.textContent = String(error);
    } finally {
      button.disabled = false;
    }
  }

  async function textOf(answer) {
    const kind = answer.headers.get("Content-Type") ?? "";
    if (kind.includes("json")) return JSON.stringify(await answer.json(), null, 2);
    return kind.startsWith("text/") ? answer.text() : kind;
  }

  document.addEventListener("toggle", ({ target }) => { if (target.open && target.matches("details[data-operation]")) build(target); }, { capture: true });
  document.querySelectorAll("details[data-operation][open]").forEach(build);
})();
