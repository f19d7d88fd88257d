"""Rounds: how far they are, opening and closing them."""

from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from annotate.api.forms import form_input, valid
from annotate.api.operations import ApiView, reads, writes
from annotate.core.access import membership, project_for_admin, round_in
from annotate.core.models import (
    Round,
)
from annotate.core.page import request_user
from annotate.core.rounds import rounds_of
from annotate.rating.commands.deadlines import set_deadline
from annotate.rating.forms import DeadlineForm
from annotate.rating.steps import STEPS

Deadline = form_input("Deadline", DeadlineForm)


class RoundRow(serializers.ModelSerializer[Round]):
    """A round."""

    guideline_version = serializers.IntegerField(source="guideline.version")
    guideline = serializers.DictField(source="guideline.content", help_text="What the round froze.")

    class Meta:
        model = Round
        fields = (
            *("number", "status", "every_item", "work_order", "dimension_order", "deadline"),
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
    steps = STEPS

    @writes(RoundRow)
    def post(self, request: Request, slug: str, step: str) -> Response:
        """Open or close a round: open-1, close-1, open-2, close-2."""
        project = project_for_admin(request.user, slug)
        command, _ = STEPS[step]
        return Response(RoundRow(command(project=project, by=request_user(request))).data)


class RoundDeadline(ApiView):
    """The day by which raters of a round are asked to be done."""

    about = "rounds"

    @writes(RoundRow, accepts=Deadline)
    def put(self, request: Request, slug: str, number: int) -> Response:
        """Set, move or take away (null) the day by which raters are asked to be done."""
        round = round_in(project_for_admin(request.user, slug), number)
        deadline = valid(DeadlineForm(self.check(Deadline))).cleaned_data["deadline"]
        set_deadline(round=round, deadline=deadline, by=request_user(request))
        return Response(RoundRow(round_in(round.project, number)).data)
