"""Examples in the description of the API: `make api-examples` records them."""

import json
from pathlib import Path
from typing import Any

RECORDED = Path(__file__).with_name("examples.json")
JSON = "application/json"


def add_examples(result: dict[str, Any], **_context: Any) -> dict[str, Any]:
    """Add the example of each request, answer and error to a description."""
    recorded = json.loads(RECORDED.read_text(encoding="utf-8"))
    for operation in (each for path in result["paths"].values() for each in path.values()):
        name, responses = operation["operationId"], operation["responses"]
        example = recorded["operations"].get(name, {})
        if "request" in example:
            _refer(result, operation["requestBody"]["content"][JSON], f"{name}Request", example["request"])
        answer = next(each for status, each in responses.items() if status < "300").get("content", {})
        if "answer" in example:
            _refer(result, answer[JSON], f"{name}Answer", example["answer"])
        for kind, text in example.get("texts", {}).items():
            _refer(result, answer[kind], f"{name}{kind.partition('/')[2].partition('+')[0].title()}", text)
        for status, example in recorded["errors"].items():
            if status in responses:
                _refer(result, responses[status]["content"][JSON], f"Error{status}", example)
    return result


def _refer(result: dict[str, Any], content: dict[str, Any], name: str, example: Any) -> None:
    """Let a content have an example, which is in the description once, however many refer to it."""
    result["components"].setdefault("examples", {})[name] = {"value": example}
    content["examples"] = {name: {"$ref": f"#/components/examples/{name}"}}
