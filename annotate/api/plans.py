"""How Round I is to be shared out."""

from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from annotate.access import project_for_admin
from annotate.api.operations import ApiView, reads, writes
from annotate.api.values import Input, Whole
from annotate.commands.plans import choose_plan
from annotate.models import AssignmentPlan
from annotate.queries.plans import plan_of

Kind = AssignmentPlan.Kind


class PlanRow(serializers.ModelSerializer[AssignmentPlan]):
    """A plan."""

    class Meta:
        model = AssignmentPlan
        fields = ("kind", "share", "gold_every", "repeat_every")


class PlanInput(Input):
    """A plan; fixed lists are uploaded on the page “Who rates what”."""

    kind = serializers.ChoiceField([kind for kind in Kind.values if kind != Kind.LISTED])
    share = Whole(required=False, min_value=0, max_value=100, help_text="Percent that every pair shares.")
    gold_every = Whole(required=False, min_value=0, max_value=1000, help_text="0: none.")
    repeat_every = Whole(required=False, min_value=0, max_value=1000, help_text="0: none.")


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
