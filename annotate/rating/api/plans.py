"""Operations of the API about the assignment plan of Round I."""

from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from annotate.api.operations import ApiView, reads, writes
from annotate.api.values import ChoiceValue, Input, Whole
from annotate.core.access import project_for_admin
from annotate.core.models import (
    AssignmentPlan,
    DimensionOrder,
    WorkOrder,
)
from annotate.rating.commands.plans import choose_plan
from annotate.rating.queries.plans import plan_of

Kind = AssignmentPlan.Kind


class PlanRow(serializers.ModelSerializer[AssignmentPlan]):
    """A plan."""

    class Meta:
        model = AssignmentPlan
        fields = AssignmentPlan.SETTINGS


class PlanInput(Input):
    """A plan; fixed lists are uploaded on the page “Assignment plan”."""

    kind = ChoiceValue([kind for kind in Kind.values if kind != Kind.LISTED])
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
