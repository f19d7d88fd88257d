"""Rounds: progress, opening and closing."""

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from annotate.api.forms import form_input, valid
from annotate.api.operations import ApiView, reads, writes
from annotate.api.values import ChoiceValue, Input, Whole
from annotate.core.access import membership, project_for_admin, round_in
from annotate.core.models import AssignmentPlan, DimensionOrder, Rating, Role, Round, WorkOrder
from annotate.core.page import request_user
from annotate.core.rounds import rounds_of
from annotate.disputes.queries.activity import dispute_counts
from annotate.rating.commands.plans import choose_plan
from annotate.rating.commands.rounds import STEPS, set_deadline
from annotate.rating.forms import DeadlineForm
from annotate.rating.queries.plans import plan_of

Deadline = form_input("Deadline", DeadlineForm)


class DisputeCountsRow(serializers.Serializer[Any]):
    """The disputes of Round II. Unresolved values stay different, also in agreement after discussion."""

    total = serializers.IntegerField()
    unresolved = serializers.IntegerField()
    breakdown = serializers.CharField(help_text="The unresolved ones by status.")


class RoundRow(serializers.ModelSerializer[Round]):
    """A round."""

    guideline_version = serializers.IntegerField(source="guideline.version")
    guideline = serializers.DictField(source="guideline.content", help_text="What the round froze.")
    ratings = serializers.SerializerMethodField(help_text="Ratings with a value; null for annotators.")
    disputes = serializers.SerializerMethodField(help_text="Null for annotators and in Round I.")

    class Meta:
        model = Round
        fields = (
            *("number", "status", "every_item", "work_order", "dimension_order", "deadline"),
            *("opened_at", "closed_at", "guideline_version", "guideline"),
            *("ratings", "disputes"),
        )

    def get_ratings(self, round: Round) -> int | None:
        """Return their number. One query."""
        # Annotators must not learn the others' progress while they rate.
        if self.context["is_annotator"]:
            return None
        return Rating.objects.filter(assignment__round=round, value__isnull=False).count()

    @extend_schema_field(DisputeCountsRow(allow_null=True))
    def get_disputes(self, round: Round) -> Any:
        """Return their counts. One query."""
        if self.context["is_annotator"] or round.number != 2:
            return None
        return DisputeCountsRow(dispute_counts(round.project)).data


class Rounds(ApiView):
    """The rounds of a project."""

    about = "rounds"

    @reads(RoundRow, many=True)
    def get(self, request: Request, slug: str) -> Response:
        """List the opened rounds, each with the guideline in force."""
        own_membership = membership(request.user, slug)
        rounds = rounds_of(own_membership.project)
        context = {"is_annotator": own_membership.role == Role.ANNOTATOR}
        return Response(RoundRow([rounds[each] for each in sorted(rounds)], many=True, context=context).data)


class RoundStep(ApiView):
    """A step of the rounds."""

    about = "rounds"
    steps = STEPS

    @writes(RoundRow)
    def post(self, request: Request, slug: str, step: str) -> Response:
        """Open or close a round: open-1, close-1, open-2, close-2."""
        project = project_for_admin(request.user, slug)
        command, _ = STEPS[step]
        return _round(command(project=project, by=request_user(request)))


class RoundDeadline(ApiView):
    """The due date of a round for its raters."""

    about = "rounds"

    @writes(RoundRow, accepts=Deadline)
    def put(self, request: Request, slug: str, number: int) -> Response:
        """Set, move or remove (null) the due date of a round."""
        round = round_in(project_for_admin(request.user, slug), number)
        deadline = valid(DeadlineForm(self.check(Deadline))).cleaned_data["deadline"]
        set_deadline(round=round, deadline=deadline, by=request_user(request))
        return _round(round_in(round.project, number))


def _round(round: Round) -> Response:
    return Response(RoundRow(round, context={"is_annotator": False}).data)


class PlanRow(serializers.ModelSerializer[AssignmentPlan]):
    """A plan."""

    class Meta:
        model = AssignmentPlan
        fields = AssignmentPlan.SETTINGS


class PlanInput(Input):
    """A plan; fixed lists are uploaded on the page “Assignment plan”."""

    kind = ChoiceValue([kind for kind in AssignmentPlan.Kind.values if kind != AssignmentPlan.Kind.LISTED])
    share = Whole(required=False, min_value=0, max_value=100, help_text="Percent that every pair shares.")
    gold_every = Whole(required=False, min_value=0, max_value=1000, help_text="0: none.")
    repeat_every = Whole(required=False, min_value=0, max_value=1000, help_text="0: none.")
    dealt_by = ChoiceValue(
        AssignmentPlan.DealtBy.choices,
        required=False,
        help_text="For balanced and sharing: whether all items of a document have the same raters.",
    )
    work_order = ChoiceValue(
        WorkOrder.choices, required=False, help_text="Whether the items of a document come in succession."
    )
    dimension_order = ChoiceValue(
        DimensionOrder.choices, required=False, help_text="Whether each annotator has an order of their own."
    )


class Plan(ApiView):
    """The plan of a project."""

    about = "rounds"

    @reads(PlanRow)
    def get(self, request: Request, slug: str) -> Response:
        """Show the assignment plan of Round I, for admins."""
        return Response(PlanRow(plan_of(project_for_admin(request.user, slug))).data)

    @writes(PlanRow, accepts=PlanInput)
    def put(self, request: Request, slug: str) -> Response:
        """Choose the assignment plan, before Round I opens."""
        project = project_for_admin(request.user, slug)
        choose_plan(project=project, **self.check(PlanInput))
        return Response(PlanRow(plan_of(project)).data)
