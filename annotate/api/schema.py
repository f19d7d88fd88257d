"""How operations stand in the OpenAPI description."""

from typing import Any

from drf_spectacular.extensions import OpenApiSerializerFieldExtension
from drf_spectacular.openapi import AutoSchema


class OperationSchema(AutoSchema):
    """Names operations after their views, and groups them by what they are about."""

    def get_operation_id(self) -> str:
        """Return such as getRound."""
        return f"{self.method.lower()}{type(self.view).__name__}"

    def get_tags(self) -> list[str]:
        """Return what the view is about."""
        return [str(getattr(self.view, "about", ""))]

    def _resolve_path_parameters(self, variables: list[str]) -> list[dict[str, Any]]:
        """Name the steps that a view has."""
        found: list[dict[str, Any]] = super()._resolve_path_parameters(variables)  # type: ignore[no-untyped-call]
        for each in found:
            if each["name"] == "step":
                each["schema"] = {"type": "string", "enum": list(getattr(self.view, "steps", ()))}
        return found


class AmountDescription(OpenApiSerializerFieldExtension):  # type: ignore[no-untyped-call]
    """Describes an amount of money: a number, or one in quotes."""

    target_class = "annotate.api.values.Amount"

    def map_serializer_field(self, auto_schema: AutoSchema, direction: str) -> dict[str, Any]:  # noqa: ARG002
        """Return its description."""
        least = self.target.min_value
        limits = {} if least is None else {"minimum": least}
        return {"type": ["number", "string"], "pattern": f"^{self.target.PATTERN}$", **limits}
