"""Operations of the API about rating."""

import json
from typing import Any

from django.db.models import QuerySet
from django.http import Http404
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from annotate.api.forms import form_input, valid
from annotate.api.operations import ApiView, reads, writes
from annotate.api.values import Flag, Input, Number, Text, Whole
from annotate.core import access
from annotate.core.access import membership, project_for_admin, project_for_reader, round_in
from annotate.core.errors import InvalidValueError, NotReadyError
from annotate.core.guideline import FrozenDimension
from annotate.core.guidelines import guideline_of
from annotate.core.models import (
    Assignment,
    AssignmentPlan,
    DimensionOrder,
    Membership,
    Rating,
    RatingChange,
    Role,
    Round,
    WorkOrder,
)
from annotate.core.page import request_user
from annotate.core.rounds import round_one, rounds_of
from annotate.quality.queries import must_practise
from annotate.rating.commands.assignments import reserve_items
from annotate.rating.commands.deadlines import set_deadline
from annotate.rating.commands.plans import choose_plan
from annotate.rating.commands.ratings import Sent, save_rating
from annotate.rating.commands.revising import revise_value
from annotate.rating.forms import NOT_APPLICABLE, AnswerForm, DeadlineForm
from annotate.rating.queries.places import own_order
from annotate.rating.queries.plans import plan_of
from annotate.rating.queries.work import ItemPage, item_page
from annotate.watching.views import STEPS

# How Round I is to be shared out.

Kind = AssignmentPlan.Kind


class PlanRow(serializers.ModelSerializer[AssignmentPlan]):
    """A plan."""

    class Meta:
        model = AssignmentPlan
        fields = AssignmentPlan.SETTINGS


class PlanInput(Input):
    """A plan; fixed lists are uploaded on the page “Who rates what”."""

    kind = serializers.ChoiceField([kind for kind in Kind.values if kind != Kind.LISTED])
    share = Whole(required=False, min_value=0, max_value=100, help_text="Percent that every pair shares.")
    gold_every = Whole(required=False, min_value=0, max_value=1000, help_text="0: none.")
    repeat_every = Whole(required=False, min_value=0, max_value=1000, help_text="0: none.")
    dealt_by = serializers.ChoiceField(
        AssignmentPlan.DealtBy.choices,
        required=False,
        help_text="For balanced and sharing: whether all items of a document have the same raters.",
    )
    work_order = serializers.ChoiceField(
        WorkOrder.choices, required=False, help_text="Whether the items of a document come in succession."
    )
    dimension_order = serializers.ChoiceField(
        DimensionOrder.choices, required=False, help_text="Whether each annotator has an order of their own."
    )
    revises_documents = Flag(
        required=False, help_text="By document only: whether raters may revise values at a document's end."
    )


class Plan(ApiView):
    """The plan of a project."""

    about = "rounds"

    @reads(PlanRow)
    def get(self, request: Request, slug: str) -> Response:
        """Show how items are shared out when Round I opens, for admins."""
        return Response(PlanRow(plan_of(project_for_admin(request.user, slug))).data)

    @writes(PlanRow, accepts=PlanInput)
    def put(self, request: Request, slug: str) -> Response:
        """Choose how items are shared out, before Round I opens."""
        project = project_for_admin(request.user, slug)
        choose_plan(project=project, **self.checked(PlanInput))
        return Response(PlanRow(plan_of(project)).data)


# Assignments, ratings and their history, for who reads results; raters are named as in exports.

ASSIGNED = "assignment__"


class RatingFilter(serializers.Serializer[Any]):
    """Which ratings are meant; what is not given is any."""

    round = serializers.IntegerField(required=False, min_value=1, max_value=2)
    dimension = serializers.CharField(required=False, help_text="The dimension's key.")
    rater = serializers.CharField(required=False, help_text="As exports name the rater.")
    document = serializers.CharField(required=False, help_text="The document's key.")
    system = serializers.CharField(required=False, help_text="The system's name.")


class AssignmentFilter(serializers.Serializer[Any]):
    """Which assignments are meant; what is not given is any."""

    round = serializers.IntegerField(required=False, min_value=1, max_value=2)
    rater = serializers.CharField(required=False, help_text="As exports name the rater.")
    document = serializers.CharField(required=False, help_text="The document's key.")
    system = serializers.CharField(required=False, help_text="The system's name.")


class PassageRow(serializers.Serializer[Any]):
    """A passage of the texts that a rater gave as evidence: of which part, from where to where."""

    part = serializers.IntegerField(help_text="0 is the text rated; 1, 2, … the document's parts.")
    start = serializers.IntegerField()
    end = serializers.IntegerField()


class AssignmentRow(serializers.ModelSerializer[Assignment]):
    """One of an item's places for a rater; without a rater it is free."""

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
        """Return its number among the item's places."""
        return assignment.slot + 1

    def get_units(self, assignment: Assignment) -> list[str] | None:
        """Return the dimensions that it is for, None for all of them."""
        if not assignment.partial:
            return None
        return [unit.dimension.key for unit in assignment.units.all()]


class RatingRow(serializers.ModelSerializer[Rating]):
    """A rating as it was last saved."""

    round = serializers.IntegerField(source="assignment.round.number")
    document = serializers.CharField(source="assignment.item.document.key")
    system = serializers.CharField(source="assignment.item.system.name")
    dimension = serializers.CharField(source="dimension.key")
    rater = serializers.CharField(source="assignment.annotator.pseudonym")
    revised_value = serializers.IntegerField(
        source="revised.value",
        default=None,
        allow_null=True,
        help_text="As revised at the end of a document; `value` is the independent one.",
    )
    counted = serializers.BooleanField(source="assignment.annotator.counted")
    guideline_version = serializers.IntegerField(source="guideline.version", default=None, allow_null=True)
    evidence = PassageRow(many=True, allow_null=True)

    class Meta:
        model = Rating
        fields = (
            *("id", "round", "document", "system", "dimension", "rater", "value", "revised_value"),
            *("unsure", "cannot_rate", "not_applicable", "counted", "comment", "evidence"),
            *("active_seconds", "revision", "guideline_version", "created_at", "updated_at"),
        )


class ChangeRow(serializers.ModelSerializer[RatingChange]):
    """One saved state of a rating."""

    rating = serializers.IntegerField(source="rating_id")
    guideline_version = serializers.IntegerField(source="guideline.version", default=None, allow_null=True)
    evidence = PassageRow(many=True, allow_null=True)

    class Meta:
        model = RatingChange
        fields = (
            *("rating", "revision", "at", "cause", "value_before", "value_after", "unsure", "cannot_rate"),
            *("not_applicable", "comment", "evidence", "guideline_version"),
        )


class Assignments(ApiView):
    """The assignments of a project."""

    about = "ratings"

    @reads(AssignmentRow, paged=True, filters=(AssignmentFilter,))
    def get(self, request: Request, slug: str) -> Response:
        """List the places of items, with who has them and how they came to be."""
        project = project_for_reader(request.user, slug)
        chosen = _chosen(self.filters(AssignmentFilter), "")
        places = Assignment.objects.filter(round__project=project, round__number__lt=Round.CHECKS, **chosen)
        named = places.select_related("round", "item__document", "item__system", "annotator")
        light = named.defer("item__text", "item__document__parts").prefetch_related("units__dimension")
        return self.page(light, AssignmentRow)


class Ratings(ApiView):
    """The ratings of a project."""

    about = "ratings"

    @reads(RatingRow, paged=True, filters=(RatingFilter,))
    def get(self, request: Request, slug: str) -> Response:
        """List the ratings of both rounds; hidden checks are none."""
        project = project_for_reader(request.user, slug)
        ratings = Rating.objects.filter(
            assignment__round__project=project,
            assignment__round__number__lt=Round.CHECKS,
            **_chosen(self.filters(RatingFilter), ASSIGNED),
        )
        return self.page(_with_names(ratings), RatingRow)


class RatingChanges(ApiView):
    """The history of a project's ratings."""

    about = "ratings"

    @reads(ChangeRow, paged=True)
    def get(self, request: Request, slug: str) -> Response:
        """List every saved state of every rating, in the order in which they were saved."""
        project = project_for_reader(request.user, slug)
        changes = RatingChange.objects.filter(
            rating__assignment__round__project=project, rating__assignment__round__number__lt=Round.CHECKS
        )
        return self.page(changes.select_related("guideline"), ChangeRow)


def _with_names(ratings: "QuerySet[Rating]") -> "QuerySet[Rating]":
    named = ratings.select_related(
        *("dimension", "guideline", "revised", "assignment__round", "assignment__annotator"),
        *("assignment__item__document", "assignment__item__system"),
    )
    return named.defer("assignment__item__text", "assignment__item__document__parts", "guideline__content")


def _chosen(chosen: dict[str, Any], prefix: str) -> dict[str, Any]:
    paths = {
        "round": f"{prefix}round__number",
        "dimension": "dimension__key",
        "rater": f"{prefix}annotator__pseudonym",
        "document": f"{prefix}item__document__key",
        "system": f"{prefix}item__system__name",
    }
    return {paths[name]: value for name, value in chosen.items()}


# Rounds: where they stand, opening and closing them.

Deadline = form_input("Deadline", DeadlineForm)


class RoundRow(serializers.ModelSerializer[Round]):
    """A round."""

    guideline_version = serializers.IntegerField(source="guideline.version")
    guideline = serializers.DictField(source="guideline.content", help_text="What the round froze.")

    class Meta:
        model = Round
        fields = (
            *("number", "status", "every_item", "work_order", "dimension_order"),
            *("revises_documents", "deadline"),
            *("opened_at", "closed_at", "guideline_version", "guideline"),
        )


class Rounds(ApiView):
    """The rounds of a project."""

    about = "rounds"

    @reads(RoundRow, many=True)
    def get(self, request: Request, slug: str) -> Response:
        """List the rounds that were opened, each with the guideline in force."""
        rounds = rounds_of(membership(request.user, slug).project)
        return Response(RoundRow([rounds[number] for number in sorted(rounds)], many=True).data)


class RoundStep(ApiView):
    """A step of the rounds."""

    about = "rounds"

    @writes(RoundRow)
    def post(self, request: Request, slug: str, step: str) -> Response:
        """Open or close a round: open-1, close-1, open-2, close-2."""
        project = project_for_admin(request.user, slug)
        if step not in STEPS:
            raise Http404(f"There is no such step; there are {', '.join(STEPS)}.")
        command, _ = STEPS[step]
        return Response(RoundRow(command(project=project, by=request_user(request))).data)


class RoundDeadline(ApiView):
    """The day by which raters of a round are asked to be done."""

    about = "rounds"

    @writes(RoundRow, accepts=Deadline)
    def put(self, request: Request, slug: str, number: int) -> Response:
        """Set, move or take away (null) the day by which raters are asked to be done."""
        round = round_in(project_for_admin(request.user, slug), number)
        deadline = valid(DeadlineForm(self.checked(Deadline))).cleaned_data["deadline"]
        set_deadline(round=round, deadline=deadline, by=request_user(request))
        return Response(RoundRow(round_in(round.project, number)).data)


# An annotator's own work in Round I, also for raters that are programs: take items, read, rate.
#
# An item is known by its position in the annotator's own order; nothing tells which system wrote it.

NOT_OPENED = "Round I has not been opened, so there is nothing to rate yet."
PRACTISE = "Pass practice on its page before you rate."
OTHERWISE = {"not_applicable", "seconds", "evidence"}  # what the page sends in another form
ANNOTATES = ("read", "rate")


class WorkRow(serializers.ModelSerializer[Assignment]):
    """An item of one's own order."""

    class Meta:
        model = Assignment
        fields = ("position", "started_at", "completed_at", "reserved_until")


class Taken(serializers.Serializer[Any]):
    """How many items were taken."""

    taken = serializers.IntegerField()


class OwnAnswer(serializers.ModelSerializer[Rating]):
    """What one has answered."""

    evidence = PassageRow(many=True, allow_null=True)

    class Meta:
        model = Rating
        fields = ("value", "unsure", "cannot_rate", "not_applicable", "comment", "evidence", "revision")


class AskedDimension(serializers.Serializer[Any]):
    """A dimension that one is asked to rate, with what one has answered."""

    dimension = serializers.CharField(source="dimension.key")
    name = serializers.CharField(source="dimension.name")
    scale_minimum = serializers.IntegerField(source="dimension.scale_minimum")
    scale_maximum = serializers.IntegerField(source="dimension.scale_maximum")
    rating = OwnAnswer(allow_null=True)


class WorkPart(serializers.Serializer[Any]):
    """A part of the document."""

    label = serializers.CharField()  # type: ignore[assignment]
    text = serializers.CharField()


class WorkItem(serializers.Serializer[Any]):
    """One item with its document and what is asked about it."""

    position = serializers.IntegerField(source="assignment.position")
    title = serializers.CharField()
    parts = WorkPart(many=True)
    text = serializers.CharField()
    dimensions = AskedDimension(many=True, source="rows")
    previous = serializers.IntegerField(allow_null=True)
    next = serializers.IntegerField(allow_null=True)


class PassageInput(Input):
    """A passage of the texts: of which part, from where to where."""

    part = Whole(min_value=0, max_value=100_000)
    start = Whole(min_value=0, max_value=2**31 - 1)
    end = Whole(min_value=0, max_value=2**31 - 1)


class AnswerInput(Input):
    """An answer: a value, or why there is none."""

    value = Whole(required=False, allow_null=True, help_text="A whole number on the scale.")
    unsure = Flag(required=False)
    cannot_rate = Flag(required=False)
    not_applicable = Flag(required=False)
    comment = Text(required=False, allow_blank=True, trim_whitespace=False)
    evidence = PassageInput(many=True, required=False)
    seconds = Number(required=False, min_value=0, max_value=86_400, help_text="Spent on it so far.")
    revision = Whole(required=False, min_value=0, max_value=2**31 - 1, help_text="The one last seen.")


class SavedAnswer(serializers.Serializer[Any]):
    """What became of an answer."""

    revision = serializers.IntegerField()
    assignment_complete = serializers.BooleanField(help_text="Whether the item is completely rated.")


class Work(ApiView):
    """One's own items."""

    about = "work"

    @reads(WorkRow, many=True, scopes=ANNOTATES)
    def get(self, request: Request, slug: str) -> Response:
        """List one's own items of Round I in one's own order."""
        place = access.membership(request.user, slug, Role.ANNOTATOR)
        round = round_one(place.project)
        return Response(WorkRow(own_order(round, place) if round else [], many=True).data)

    @writes(Taken, scopes=("rate",))
    def post(self, request: Request, slug: str) -> Response:
        """Take up to five more items; 0 where everything is taken."""
        place = access.membership(request.user, slug, Role.ANNOTATOR)
        round = _open_round(place)
        return Response({"taken": reserve_items(round=round, annotator=place)})


class OneWork(ApiView):
    """One of one's own items."""

    about = "work"

    @reads(WorkItem, scopes=ANNOTATES)
    def get(self, request: Request, slug: str, position: int) -> Response:
        """Show an item with its document and one's own answers."""
        return Response(WorkItem(_page(request, slug, position)).data)


class OwnRating(ApiView):
    """One's own answer about a unit."""

    about = "work"

    @writes(SavedAnswer, accepts=AnswerInput, scopes=("rate",))
    def put(self, request: Request, slug: str, position: int, key: str) -> Response:
        """Rate an item on a dimension; the answer that was there stays in the history."""
        page = _page(request, slug, position)
        form = valid(AnswerForm(_form_fields(self.checked(AnswerInput))))
        saved = save_rating(
            assignment=page.assignment,
            dimension=_asked(page, key),
            answer=form.answer(),
            by=request_user(request),
            sent=form.sent(),
        )
        return Response({"revision": saved.revision, "assignment_complete": saved.assignment_complete})


class RevisedInput(Input):
    """A value that is revised at the end of a document."""

    value = Whole(help_text="A whole number on the scale.")
    comment = Text(required=False, allow_blank=True, trim_whitespace=False)
    revision = Whole(required=False, min_value=0, max_value=2**31 - 1, help_text="The one last seen.")


class SavedRevision(serializers.Serializer[Any]):
    """What is held beside the independent value."""

    revision = serializers.IntegerField(help_text="0 where it is the independent value and always was.")
    value = serializers.IntegerField()


class OwnRevision(ApiView):
    """One's own revised value of a unit."""

    about = "work"

    @writes(SavedRevision, accepts=RevisedInput, scopes=("rate",))
    def put(self, request: Request, slug: str, position: int, key: str) -> Response:
        """Revise a value of a completely rated document; the independent value stays and counts."""
        page = _page(request, slug, position)
        sent = self.checked(RevisedInput)
        revised = revise_value(
            assignment=page.assignment,
            dimension=_asked(page, key),
            value=sent["value"],
            comment=sent.get("comment", ""),
            by=request_user(request),
            sent=Sent(sent.get("revision", 0)),
        )
        return Response({"revision": revised.revision, "value": revised.value})


def _asked(page: ItemPage, key: str) -> FrozenDimension:
    dimension = guideline_of(page.assignment.round).dimension(key)
    if dimension is None:
        raise InvalidValueError("This round has no such dimension.")
    return dimension


def _open_round(place: Membership) -> Round:
    round = round_one(place.project)
    if round is None:
        raise NotReadyError(NOT_OPENED)
    if must_practise(place):
        raise NotReadyError(PRACTISE)
    return round


def _page(request: Request, slug: str, position: int) -> ItemPage:
    assignment = access.assignment_for_annotator(request.user, slug, position)
    if assignment.annotator and must_practise(assignment.annotator):
        raise NotReadyError(PRACTISE)
    return item_page(assignment)


def _form_fields(sent: dict[str, Any]) -> dict[str, Any]:
    """Return what the page would send, where not applicable is a word in the value's place."""
    entered = {name: value for name, value in sent.items() if name not in OTHERWISE}
    if sent.get("not_applicable"):
        if sent.get("value") is not None:
            raise InvalidValueError("Either give a value or say why there is none, not both.")
        entered["value"] = NOT_APPLICABLE
    passages = [[each["part"], each["start"], each["end"]] for each in sent.get("evidence", [])]
    return {**entered, "evidence": json.dumps(passages), "active_seconds": sent.get("seconds")}
