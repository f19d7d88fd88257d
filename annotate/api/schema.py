"""How operations stand in the OpenAPI description."""

from drf_spectacular.openapi import AutoSchema


class OperationSchema(AutoSchema):
    """Names operations after their views, and groups them by what they are about."""

    def get_operation_id(self) -> str:
        """Return such as getRound."""
        return f"{self.method.lower()}{type(self.view).__name__}"

    def get_tags(self) -> list[str]:
        """Return what the view is about."""
        return [str(getattr(self.view, "about", ""))]
