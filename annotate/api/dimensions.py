"""Dimensions with their scales."""

from collections.abc import Mapping
from typing import Any

from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from annotate.access import dimension_in, membership, project_for_admin
from annotate.api.forms import form_input, valid
from annotate.api.operations import ApiView, reads, writes
from annotate.api.values import Input, Text, Whole
from annotate.commands.dimensions import add_dimension, remove_dimension, update_dimension
from annotate.commands.wording import reword_dimension
from annotate.forms.dimensions import DimensionForm
from annotate.models import Dimension, ScalePoint
from annotate.queries.projects import is_frozen
from annotate.views.page import request_user


class PointRow(serializers.ModelSerializer[ScalePoint]):
    """What one point of a scale means."""

    class Meta:
        model = ScalePoint
        fields = ("value", "label", "description")


class DimensionRow(serializers.ModelSerializer[Dimension]):
    """A dimension as it is set up; what a round asks is in the round's guideline."""

    points = PointRow(many=True)

    class Meta:
        model = Dimension
        fields = (
            *("key", "name", "position", "definition", "guidelines", "scale_minimum", "scale_maximum"),
            *("measurement_level", "not_applicable", "dispute_threshold", "tolerance", "points"),
        )


class PointInput(Input):
    """What one point of a scale shall mean."""

    value = Whole(min_value=-1000, max_value=1000)
    label = Text(max_length=80, required=False, allow_blank=True)  # type: ignore[assignment]
    description = Text(required=False, allow_blank=True)


DimensionInput = form_input(
    "DimensionInput",
    DimensionForm,
    without=("another_point",),
    points=PointInput(many=True, required=False),
    note=Text(required=False, max_length=1000, help_text="Why the wording of an open round changes."),
)


class Dimensions(ApiView):
    """The dimensions of a project."""

    about = "dimensions"

    @reads(DimensionRow, many=True)
    def get(self, request: Request, slug: str) -> Response:
        """List a project's dimensions in their order."""
        dimensions = membership(request.user, slug).project.dimensions.prefetch_related("points")
        return Response(DimensionRow(dimensions, many=True).data)

    @writes(DimensionRow, accepts=DimensionInput, status=201)
    def post(self, request: Request, slug: str) -> Response:
        """Add a dimension after the others, before Round I opens."""
        project = project_for_admin(request.user, slug)
        form = valid(DimensionForm(_entered(self.checked(DimensionInput))))
        made = add_dimension(project=project, dimension=form.to_spec())
        return Response(DimensionRow(made).data, status=201)


class OneDimension(ApiView):
    """A dimension."""

    about = "dimensions"

    @reads(DimensionRow)
    def get(self, request: Request, slug: str, key: str) -> Response:
        """Show a dimension."""
        return Response(DimensionRow(dimension_in(membership(request.user, slug).project, key)).data)

    @writes(DimensionRow, accepts=DimensionInput)
    def put(self, request: Request, slug: str, key: str) -> Response:
        """Make a dimension what is sent; once Round I is open only its wording, with a note that says why."""
        project = project_for_admin(request.user, slug)
        dimension, sent = dimension_in(project, key), self.checked(DimensionInput)
        to = valid(DimensionForm(_entered(sent))).to_spec()
        if is_frozen(project):
            reword_dimension(dimension=dimension, to=to, note=sent.get("note", ""), by=request_user(request))
            return Response(DimensionRow(dimension_in(project, key)).data)
        return Response(DimensionRow(update_dimension(dimension=dimension, to=to)).data)

    @writes(None, status=204)
    def delete(self, request: Request, slug: str, key: str) -> Response:
        """Remove a dimension that nothing was rated on."""
        remove_dimension(dimension=dimension_in(project_for_admin(request.user, slug), key))
        return Response(status=204)


def _entered(sent: Mapping[str, Any]) -> dict[str, Any]:
    """Return what the page would send: two fields for each point."""
    fields = {name: value for name, value in sent.items() if name not in ("points", "note")}
    for point in sent.get("points", []):
        fields[f"label_{point['value']}"] = point.get("label", "")
        fields[f"description_{point['value']}"] = point.get("description", "")
    return fields
