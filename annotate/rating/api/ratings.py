"""Assignments, ratings and their history, for readers of results; raters have the names used in exports."""

from typing import Any

from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from annotate.api.operations import ApiView, reads
from annotate.api.values import Data, Points
from annotate.core.access import project_for_reader
from annotate.core.models import (
    Assignment,
    Rating,
    RatingChange,
    Round,
)

ASSIGNED = "assignment__"


class RatingFilter(serializers.Serializer[Any]):
    """A filter of ratings; an empty field matches all."""

    round = serializers.IntegerField(required=False, min_value=1, max_value=2)
    dimension = serializers.CharField(required=False, help_text="The dimension's key.")
    rater = serializers.CharField(required=False, help_text="As exports name the rater.")
    document = serializers.CharField(required=False, help_text="The document's key.")
    system = serializers.CharField(required=False, help_text="The system's name.")


class AssignmentFilter(serializers.Serializer[Any]):
    """A filter of assignments; an empty field matches all."""

    round = serializers.IntegerField(required=False, min_value=1, max_value=2)
    rater = serializers.CharField(required=False, help_text="As exports name the rater.")
    document = serializers.CharField(required=False, help_text="The document's key.")
    system = serializers.CharField(required=False, help_text="The system's name.")


class PassageRow(serializers.Serializer[Any]):
    """A passage that a rater marked as evidence: its part, start and end."""

    part = serializers.IntegerField(help_text="0 is the text rated; 1, 2, … the document's parts.")
    start = serializers.IntegerField()
    end = serializers.IntegerField()


class AssignmentRow(serializers.ModelSerializer[Assignment]):
    """An assignment of an item to a rater; free without a rater."""

    round = serializers.IntegerField(source="round.number")
    document = serializers.CharField(source="item.document.key")
    system = serializers.CharField(source="item.system.name")
    place = serializers.SerializerMethodField()
    rater = serializers.CharField(source="annotator.pseudonym", default=None, allow_null=True)
    units = serializers.SerializerMethodField(help_text="Keys of dimensions; null: all of the round's.")

    class Meta:
        model = Assignment
        fields = (
            *("id", "round", "document", "system", "place", "rater", "plan", "origin", "seed"),
            *("inclusion_probability", "units", "started_at", "completed_at"),
        )

    def get_place(self, assignment: Assignment) -> int:
        """Return its number among the item's assignments."""
        return assignment.slot + 1

    def get_units(self, assignment: Assignment) -> list[str] | None:
        """Return the dimensions of a partial assignment, None for all of them."""
        if not assignment.partial:
            return None
        return [unit.dimension.key for unit in assignment.units.all()]


class RatingRow(serializers.ModelSerializer[Rating]):
    """The current state of a rating."""

    round = serializers.IntegerField(source="assignment.round.number")
    document = serializers.CharField(source="assignment.item.document.key")
    system = serializers.CharField(source="assignment.item.system.name")
    dimension = serializers.CharField(source="dimension.key")
    rater = serializers.CharField(source="assignment.annotator.pseudonym")
    value = Points(allow_null=True)
    data = Data(  # type: ignore[assignment]  # a field's name is no attribute
        allow_null=True, help_text="Of an answer of several pieces, by the kind of question."
    )
    counted = serializers.BooleanField(source="assignment.annotator.counted")
    guideline_version = serializers.IntegerField(source="guideline.version", default=None, allow_null=True)
    evidence = PassageRow(many=True, allow_null=True)

    class Meta:
        model = Rating
        fields = (
            *("id", "round", "document", "system", "dimension", "rater", "value", "data"),
            *("unsure", "cannot_rate", "not_applicable", "counted", "comment", "evidence"),
            *("active_seconds", "revision", "guideline_version", "created_at", "updated_at"),
        )


class ChangeRow(serializers.ModelSerializer[RatingChange]):
    """One saved state of a rating."""

    rating = serializers.IntegerField(source="rating_id")
    value_before = Points(allow_null=True)
    value_after = Points(allow_null=True)
    data = Data(  # type: ignore[assignment]  # a field's name is no attribute
        allow_null=True, help_text="Beside `value_after`, by the kind of question."
    )
    guideline_version = serializers.IntegerField(source="guideline.version", default=None, allow_null=True)
    evidence = PassageRow(many=True, allow_null=True)

    class Meta:
        model = RatingChange
        fields = (
            *("rating", "revision", "at", "cause", "value_before", "value_after", "unsure", "cannot_rate"),
            *("not_applicable", "comment", "evidence", "guideline_version", "data"),
        )


class Assignments(ApiView):
    """The assignments of a project."""

    about = "ratings"

    @reads(AssignmentRow, paged=True, filters=(AssignmentFilter,))
    def get(self, request: Request, slug: str) -> Response:
        """List the assignments of items, with their raters and origin."""
        project = project_for_reader(request.user, slug)
        chosen = _lookups(self.filters(AssignmentFilter), "")
        assignments = Assignment.objects.filter(
            round__project=project, round__number__lt=Round.CHECKS, **chosen
        )
        named = assignments.select_related("round", "item__document", "item__system", "annotator")
        light = named.defer("item__text", "item__document__parts").prefetch_related("units__dimension")
        return self.page(light, AssignmentRow)


class Ratings(ApiView):
    """The ratings of a project."""

    about = "ratings"

    @reads(RatingRow, paged=True, filters=(RatingFilter,))
    def get(self, request: Request, slug: str) -> Response:
        """List the ratings of both rounds, without hidden checks."""
        project = project_for_reader(request.user, slug)
        ratings = Rating.objects.filter(
            assignment__round__project=project,
            assignment__round__number__lt=Round.CHECKS,
            **_lookups(self.filters(RatingFilter), ASSIGNED),
        )
        named = ratings.select_related(
            *("dimension", "guideline", "assignment__round", "assignment__annotator"),
            *("assignment__item__document", "assignment__item__system"),
        )
        rows = named.defer(
            "assignment__item__text", "assignment__item__document__parts", "guideline__content"
        )
        return self.page(rows, RatingRow)


class RatingChanges(ApiView):
    """The history of a project's ratings."""

    about = "ratings"

    @reads(ChangeRow, paged=True)
    def get(self, request: Request, slug: str) -> Response:
        """List every saved state of every rating, in the order of saving."""
        project = project_for_reader(request.user, slug)
        changes = RatingChange.objects.filter(
            rating__assignment__round__project=project, rating__assignment__round__number__lt=Round.CHECKS
        )
        return self.page(changes.select_related("guideline"), ChangeRow)


def _lookups(chosen: dict[str, Any], prefix: str) -> dict[str, Any]:
    paths = {
        "round": f"{prefix}round__number",
        "dimension": "dimension__key",
        "rater": f"{prefix}annotator__pseudonym",
        "document": f"{prefix}item__document__key",
        "system": f"{prefix}item__system__name",
    }
    return {paths[name]: value for name, value in chosen.items()}
