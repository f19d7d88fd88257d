"""Operations in the OpenAPI description."""

import json
from pathlib import Path
from typing import Any

from drf_spectacular.extensions import OpenApiSerializerFieldExtension
from drf_spectacular.openapi import AutoSchema

# By the name of the parameter in the URL; the example of a step is its first value.
EXAMPLES = {
    "slug": "reviews-of-boots",
    "id": 1,
    "key": "fluency",
    "number": 1,
    "position": 1,
    "delivery": 1,
    "price": 1,
    "name": "agreement",
    "ending": "csv",
}


class OperationSchema(AutoSchema):
    """Names operations after their views, and groups them by subject."""

    def get_operation(self, *args: Any, **kwargs: Any) -> Any:
        """Return the operation. Each parameter of its URL has an example; a step lists its choices."""
        found = super().get_operation(*args, **kwargs)
        for parameter in (found or {}).get("parameters", ()):
            if parameter["in"] == "path":
                steps = list(getattr(self.view, "steps", ())) if parameter["name"] == "step" else []
                parameter["schema"] |= {"enum": steps} if steps else {}
                parameter["example"] = steps[0] if steps else EXAMPLES[parameter["name"]]
        return found

    def get_operation_id(self) -> str:
        """Return the operation's name, such as getRound: its view's `operation`, else the view's name."""
        name = getattr(self.view, "operation", type(self.view).__name__.removesuffix("View"))
        return f"{self.method.lower()}{name}"

    def get_tags(self) -> list[str]:
        return [str(getattr(self.view, "about", ""))]


class AmountDescription(OpenApiSerializerFieldExtension):  # type: ignore[no-untyped-call]
    """Describes an amount of money: a number, or one in quotes."""

    target_class = "annotate.api.values.Amount"

    def map_serializer_field(self, auto_schema: AutoSchema, direction: str) -> dict[str, Any]:  # noqa: ARG002
        least = self.target.min_value
        limits = {} if least is None else {"minimum": least}
        return {"type": ["number", "string"], "pattern": f"^{self.target.PATTERN}$", **limits}


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
