"""Examples in the description of the API: one of each thing that is sent or answered, and of each error."""

from collections.abc import Iterator, Mapping
from typing import Any

from annotate.api.examples import errors, exports, material, people, projects, rating, results, webhooks

Examples = Mapping[str, Any]
JSON = "application/json"
SHAPES: Examples = {
    **projects.EXAMPLES,
    **material.EXAMPLES,
    **people.EXAMPLES,
    **rating.EXAMPLES,
    **exports.EXAMPLES,
    **results.EXAMPLES,
    **webhooks.EXAMPLES,
}


def add_examples(result: dict[str, Any], **_context: Any) -> dict[str, Any]:
    """Add the examples of projects, rating and exports, and those of errors, to a description."""
    for operation in _operations(result):
        for status, example in errors.EXAMPLES.items():
            if status in operation["responses"]:
                refer(result, operation["responses"][status]["content"][JSON], f"Error{status}", example)
        files = operation["responses"].get("200", {}).get("content", {})
        for kind, (name, content) in results.FILES.items():
            if kind in files:
                refer(result, files[kind], name, content)
    return illustrate(result, SHAPES)


def illustrate(result: dict[str, Any], shapes: Examples) -> dict[str, Any]:
    """Add examples, by the names of their schemas, to what operations take and answer."""
    for operation in _operations(result):
        for content in _contents(operation):
            if found := _example(result, content["schema"], shapes):
                refer(result, content, *found)
    return result


def refer(result: dict[str, Any], content: dict[str, Any], name: str, example: Any) -> None:
    """Let a content have an example, which is in the description once, however many refer to it."""
    result["components"].setdefault("examples", {})[name] = {"value": example}
    content["examples"] = {name: {"$ref": f"#/components/examples/{name}"}}


def _operations(result: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for path in result["paths"].values():
        yield from path.values()


def _contents(operation: dict[str, Any]) -> Iterator[dict[str, Any]]:
    answers = [answer for status, answer in operation["responses"].items() if status < "300"]
    for each in (operation.get("requestBody", {}), *answers):
        if JSON in each.get("content", {}):
            yield each["content"][JSON]


def _example(result: dict[str, Any], shape: dict[str, Any], shapes: Examples) -> tuple[str, Any] | None:
    """Return the example of a shape, also where it is a list or a page of what has one, under a name."""
    if "items" in shape:
        name = _name(shape["items"])
        return (f"{name}List", [shapes[name]]) if name in shapes else None
    name = _name(shape)
    rows = result["components"]["schemas"].get(name, {}).get("properties", {}).get("results", {})
    row = _name(rows.get("items", {}))
    if row in shapes:
        return name, {"next": None, "previous": None, "results": [shapes[row]]}
    return (name, shapes[name]) if name in shapes else None


def _name(shape: dict[str, Any]) -> str:
    return str(shape.get("$ref", "")).rpartition("/")[2]
