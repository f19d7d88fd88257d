"""Operations in the OpenAPI description."""

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
        """Return the subject of the view."""
        return [str(getattr(self.view, "about", ""))]


class AmountDescription(OpenApiSerializerFieldExtension):  # type: ignore[no-untyped-call]
    """Describes an amount of money: a number, or one in quotes."""

    target_class = "annotate.api.values.Amount"

    def map_serializer_field(self, auto_schema: AutoSchema, direction: str) -> dict[str, Any]:  # noqa: ARG002
        """Return its description."""
        least = self.target.min_value
        limits = {} if least is None else {"minimum": least}
        return {"type": ["number", "string"], "pattern": f"^{self.target.PATTERN}$", **limits}
