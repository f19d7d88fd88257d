"""Assignments, ratings and their history for readers of results, and an annotator's own work."""

from typing import Any

from django.utils.translation import gettext, gettext_noop
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from annotate.api.operations import ApiView, reads, writes
from annotate.api.values import Data, Flag, Input, Number, Points, Text, Whole
from annotate.core import access
from annotate.core.access import project_for_reader
from annotate.core.errors import InvalidValueError, NotReadyError
from annotate.core.guidelines import guideline_of
from annotate.core.models import Assignment, Membership, Rating, RatingChange, Role, Round
from annotate.core.page import request_user
from annotate.core.rounds import round_one
from annotate.rating.commands.assignments import reserve_items
from annotate.rating.commands.ratings import Answer, SaveOrigin, save_rating
from annotate.rating.evidence import Passage
from annotate.rating.queries.assignments import own_order
from annotate.rating.queries.work import ItemPage, item_page

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
        # Rows name document and system, and need no texts.
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
        # The manager of rounds omits the hidden checks, but a relation through assignments reaches them.
        ratings = Rating.objects.filter(
            assignment__round__project=project,
            assignment__round__number__lt=Round.CHECKS,
            **_lookups(self.filters(RatingFilter), ASSIGNED),
        )
        named = ratings.select_related(
            *("dimension", "guideline", "assignment__round", "assignment__annotator"),
            *("assignment__item__document", "assignment__item__system"),
        )
        # A guideline's content is long and would be read again for each rating.
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


# An item is addressed by its position in the annotator's own order: its key would reveal its system.

NOT_OPENED = gettext_noop("Round I has not been opened, so there is nothing to rate yet.")
PRACTISE = gettext_noop("Pass practice on its page before you rate.")
ANNOTATES = ("read", "rate")


class WorkRow(serializers.ModelSerializer[Assignment]):
    """An item in one's own order."""

    class Meta:
        model = Assignment
        fields = ("position", "started_at", "completed_at", "reserved_until")


class TakenItems(serializers.Serializer[Any]):
    """The number of reserved items."""

    taken = serializers.IntegerField()


class OwnAnswer(serializers.ModelSerializer[Rating]):
    """One's own answer."""

    value = Points(allow_null=True)
    data = Data(allow_null=True)  # type: ignore[assignment]  # a field's name is no attribute
    evidence = PassageRow(many=True, allow_null=True)

    class Meta:
        model = Rating
        fields = (
            "value",
            "data",
            "unsure",
            "cannot_rate",
            "not_applicable",
            "comment",
            "evidence",
            "revision",
        )


class RequestedDimension(serializers.Serializer[Any]):
    """A dimension to rate, with one's own answer."""

    dimension = serializers.CharField(source="dimension.key")
    name = serializers.CharField(source="dimension.name")
    scale_minimum = serializers.IntegerField(source="dimension.scale_minimum")
    scale_maximum = serializers.IntegerField(source="dimension.scale_maximum")
    scale_step = Points(source="dimension.scale_step")
    kind = serializers.CharField(source="dimension.kind", help_text="Of the question.")
    options = Data(source="dimension.options", allow_null=True, help_text="Of the question, by its kind.")
    shown_if = Data(
        source="dimension.shown_if",
        allow_null=True,
        help_text="Asked only after these answers to another one.",
    )
    rating = OwnAnswer(allow_null=True)


class WorkPart(serializers.Serializer[Any]):
    """A part of the document."""

    label = serializers.CharField()  # type: ignore[assignment]
    text = serializers.CharField()


class WorkSide(serializers.Serializer[Any]):
    """An output of a comparison."""

    number = serializers.IntegerField()
    part = serializers.IntegerField(help_text="In passages.")
    text = serializers.CharField()


class WorkItem(serializers.Serializer[Any]):
    """One item with its document and questions."""

    position = serializers.IntegerField(source="assignment.position")
    title = serializers.CharField()
    parts = WorkPart(many=True)
    text = serializers.CharField()
    sides = WorkSide(many=True, help_text="The outputs of a comparison, in the order in which you see them.")
    item_parts = serializers.SerializerMethodField(help_text="Of the text, where parts are labelled.")
    dimensions = RequestedDimension(many=True, source="rows")
    previous = serializers.IntegerField(allow_null=True)
    next = serializers.IntegerField(allow_null=True)

    def get_item_parts(self, page: ItemPage) -> list[str]:
        """Return the parts in reading order."""
        return list(page.rows[0].content.parts) if page.rows else []


class PassageInput(Input):
    """A passage as evidence: its part, start and end."""

    part = Whole(min_value=0, max_value=100_000)
    start = Whole(min_value=0, max_value=2**31 - 1)
    end = Whole(min_value=0, max_value=2**31 - 1)


class AnswerInput(Input):
    """An answer: a value, or the reason for its absence."""

    value = Points(required=False, allow_null=True, help_text="A value of the scale.")
    data = Data(  # type: ignore[assignment]  # a field's name is no attribute
        required=False, allow_null=True, help_text="An answer of several pieces, by the kind of question."
    )
    unsure = Flag(required=False)
    cannot_rate = Flag(required=False)
    not_applicable = Flag(required=False)
    comment = Text(required=False, allow_blank=True, trim_whitespace=False)
    evidence = PassageInput(many=True, required=False)
    seconds = Number(required=False, min_value=0, max_value=86_400, help_text="Spent on it so far.")
    revision = Whole(required=False, min_value=0, max_value=2**31 - 1, help_text="The one last seen.")


class AnswerReceipt(serializers.Serializer[Any]):
    """The outcome of saving an answer."""

    revision = serializers.IntegerField()
    assignment_complete = serializers.BooleanField(help_text="Whether the item is completely rated.")


class Work(ApiView):
    """One's own items."""

    about = "work"

    @reads(WorkRow, paged=True, scopes=ANNOTATES)
    def get(self, request: Request, slug: str) -> Response:
        """List one's own items of Round I in one's own order."""
        membership = access.membership(request.user, slug, Role.ANNOTATOR)
        round = round_one(membership.project)
        # By position: an order of keys would reveal which outputs are of the same system.
        return self.page(
            own_order(round, membership) if round else Assignment.objects.none(), WorkRow, by="position"
        )

    @writes(TakenItems, scopes=("rate",))
    def post(self, request: Request, slug: str) -> Response:
        """Reserve up to five more items; 0 if none are available."""
        membership = access.membership(request.user, slug, Role.ANNOTATOR)
        round = _open_round(membership)
        return Response({"taken": reserve_items(round=round, annotator=membership)})


class AssignmentView(ApiView):
    """One of the annotator's items."""

    about = "work"

    @reads(WorkItem, scopes=ANNOTATES)
    def get(self, request: Request, slug: str, position: int) -> Response:
        """Show an item with its document and one's own answers."""
        return Response(WorkItem(_page(request, slug, position)).data)


class OwnRating(ApiView):
    """One's own answer about a unit."""

    about = "work"

    @writes(AnswerReceipt, accepts=AnswerInput, scopes=("rate",))
    def put(self, request: Request, slug: str, position: int, key: str) -> Response:
        """Rate an item on a dimension; the previous answer stays in the history."""
        page = _page(request, slug, position)
        sent = self.check(AnswerInput)
        origin = SaveOrigin(sent.pop("revision", 0), sent.pop("seconds", 0))
        # Sorted as stored, so that the same passages in another order are the same answer.
        evidence = tuple(sorted(Passage(**each) for each in sent.pop("evidence", [])))
        answer = Answer(**{**sent, "data": sent.get("data") or None}, evidence=evidence)
        dimension = guideline_of(page.assignment.round).dimension(key)
        if dimension is None:
            raise InvalidValueError(gettext("This round has no such dimension."))
        saved = save_rating(
            assignment=page.assignment,
            dimension=dimension,
            answer=answer,
            by=request_user(request),
            sent=origin,
        )
        return Response({"revision": saved.revision, "assignment_complete": saved.assignment_complete})


def _open_round(membership: Membership) -> Round:
    round = round_one(membership.project)
    if round is None:
        raise NotReadyError(gettext(NOT_OPENED))
    if membership.must_practise:
        raise NotReadyError(gettext(PRACTISE))
    return round


def _page(request: Request, slug: str, position: int) -> ItemPage:
    assignment = access.assignment_for_annotator(request.user, slug, position)
    if assignment.annotator and assignment.annotator.must_practise:
        # The pages demand practice, too: a token must not bypass it.
        raise NotReadyError(gettext(PRACTISE))
    return item_page(assignment)
