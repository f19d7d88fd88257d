"""Rounds: where they stand, opening and closing them, and the agreement of their raters."""

from typing import Any

from django.http import Http404
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from annotate.access import membership, project_for_admin, project_for_reader, round_in
from annotate.api.forms import form_input, valid
from annotate.api.operations import ApiView, reads, writes
from annotate.commands.deadlines import set_deadline
from annotate.forms.deadlines import DeadlineForm
from annotate.models import Round
from annotate.queries.agreement import dimension_details
from annotate.queries.rounds import rounds_of
from annotate.views.overview import STEPS
from annotate.views.page import request_user

Deadline = form_input("Deadline", DeadlineForm)


class RoundRow(serializers.ModelSerializer[Round]):
    """A round."""

    guideline_version = serializers.IntegerField(source="guideline.version")
    guideline = serializers.DictField(source="guideline.content", help_text="What the round froze.")

    class Meta:
        model = Round
        fields = (
            *("number", "status", "every_item", "deadline", "opened_at", "closed_at"),
            *("guideline_version", "guideline"),
        )


class CoefficientShape(serializers.Serializer[Any]):
    """A number with its interval and counts, or the reason why there is none."""

    name = serializers.CharField()
    label = serializers.CharField()  # type: ignore[assignment]
    value = serializers.FloatField(allow_null=True)
    counts = serializers.DictField()
    source = serializers.CharField()  # type: ignore[assignment]
    reason = serializers.CharField(allow_null=True, help_text="Why it is undefined.")
    interval = serializers.DictField(allow_null=True)
    interval_reason = serializers.CharField(allow_null=True)
    parameters = serializers.DictField()


class ComparedShape(CoefficientShape):
    """A coefficient of two raters."""

    first = serializers.CharField()
    second = serializers.CharField()


class DimensionAgreement(serializers.Serializer[Any]):
    """Everything about one dimension in one round."""

    round = serializers.IntegerField()
    measures = serializers.CharField(help_text="Round I is reliability; Round II agreement after discussion.")
    dimension = serializers.CharField()
    measurement_level = serializers.CharField()
    krippendorff_alpha = serializers.DictField(child=CoefficientShape(), help_text="By measurement level.")
    coefficients = CoefficientShape(many=True)
    rmse = ComparedShape(many=True)
    spearman_within_documents = ComparedShape(many=True)
    kendall_tau_b_within_documents = ComparedShape(many=True)
    distributions = serializers.ListField(child=serializers.DictField())
    without_value = serializers.DictField()


class CoefficientFilter(serializers.Serializer[Any]):
    """Which dimension is meant, and what the bootstrap draws."""

    dimension = serializers.CharField(required=False, help_text="The dimension's key.")
    drawn = serializers.ChoiceField(["units", "documents"], required=False, help_text="Units if not given.")


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


class Coefficients(ApiView):
    """The agreement of a round's raters."""

    about = "coefficients"

    @reads(DimensionAgreement, many=True, filters=(CoefficientFilter,))
    def get(self, request: Request, slug: str, number: int) -> Response:
        """Compute a round's coefficients per dimension, each with interval, counts and parameters."""
        round = round_in(project_for_reader(request.user, slug), number)
        chosen = self.filters(CoefficientFilter)
        keys = frozenset({chosen["dimension"]}) if "dimension" in chosen else None
        details = dimension_details(round, keys=keys, drawn=chosen.get("drawn", "units"))
        return Response([detail.as_dict() for detail in details])
