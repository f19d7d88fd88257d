"""An annotator's own work in Round I, also for programs that rate: reserve items, read, rate."""

import json
from typing import Any

from django.utils.translation import gettext, gettext_noop
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from annotate.api.forms import valid
from annotate.api.operations import ApiView, reads, writes
from annotate.api.values import Data, Flag, Input, Number, Points, Text, Whole
from annotate.core import access
from annotate.core.errors import InvalidValueError, NotReadyError
from annotate.core.guidelines import guideline_of
from annotate.core.models import Assignment, Membership, Rating, Role, Round
from annotate.core.page import request_user
from annotate.core.rounds import round_one
from annotate.rating.api.ratings import PassageRow
from annotate.rating.commands.assignments import reserve_items
from annotate.rating.commands.ratings import save_rating
from annotate.rating.forms import NOT_APPLICABLE, AnswerForm
from annotate.rating.queries.assignments import own_order
from annotate.rating.queries.work import ItemPage, item_page

# An item is addressed by its position in the annotator's own order: its key would reveal its system.

NOT_OPENED = gettext_noop("Round I has not been opened, so there is nothing to rate yet.")
PRACTISE = gettext_noop("Pass practice on its page before you rate.")
OTHERWISE = {"not_applicable", "seconds", "evidence"}  # fields with another format on the page
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
        # The form takes "not applicable" as a value.
        sent = self.check(AnswerInput)
        entered = {name: value for name, value in sent.items() if name not in OTHERWISE}
        if sent.get("not_applicable"):
            if sent.get("value") is not None:
                raise InvalidValueError(gettext("Either give a value or say why there is none, not both."))
            entered["value"] = NOT_APPLICABLE
        passages = [[each["part"], each["start"], each["end"]] for each in sent.get("evidence", [])]
        form_fields = {**entered, "evidence": json.dumps(passages), "active_seconds": sent.get("seconds")}
        form = valid(AnswerForm(form_fields))
        dimension = guideline_of(page.assignment.round).dimension(key)
        if dimension is None:
            raise InvalidValueError(gettext("This round has no such dimension."))
        saved = save_rating(
            assignment=page.assignment,
            dimension=dimension,
            answer=form.answer(),
            by=request_user(request),
            sent=form.to_sent(),
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
        raise NotReadyError(gettext(PRACTISE))
    return item_page(assignment)
