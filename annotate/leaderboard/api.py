"""Submitting outputs to a public leaderboard, without an account."""

from typing import Any

from django.http import Http404
from django.utils.translation import gettext
from rest_framework import serializers
from rest_framework.exceptions import Throttled
from rest_framework.permissions import AllowAny
from rest_framework.request import Request
from rest_framework.response import Response

from annotate.api.operations import READ_ERRORS, WRITE_ERRORS, ApiView, operation
from annotate.core.models import PublicLeaderboard
from annotate.leaderboard.commands import may_submit, submit_outputs

DAY = 24 * 3600


class SubmissionInput(serializers.Serializer[Any]):
    """Outputs of a new system."""

    system = serializers.CharField(max_length=200, help_text="Its name.")
    contact = serializers.EmailField(help_text="Only the admins of the benchmark see it.")
    note = serializers.CharField(max_length=5_000, default="", allow_blank=True, help_text="About it.")
    outputs = serializers.DictField(
        child=serializers.CharField(trim_whitespace=False), help_text="The text by document key."
    )


class SubmissionAnswer(serializers.Serializer[Any]):
    """What was received."""

    system = serializers.CharField()
    outputs = serializers.IntegerField(help_text="How many.")
    message = serializers.CharField(help_text="Who decides.")


class BenchmarkSubmissions(ApiView):
    """Submissions to a public leaderboard."""

    about = "leaderboard"
    authentication_classes = ()  # type: ignore[assignment]
    permission_classes = (AllowAny,)  # type: ignore[assignment]
    throttle_classes = ()  # type: ignore[assignment]

    @operation(
        {201: SubmissionAnswer},
        (*READ_ERRORS, *WRITE_ERRORS),
        scopes=(),
        request=SubmissionInput,
    )
    def post(self, request: Request, key: str) -> Response:
        """Submit outputs of a new system. An admin decides whether people rate them.

        Needs no token. Each document has exactly one output. An IP address has 5 submissions an hour and 10
        a day.
        """
        shown = PublicLeaderboard.objects.filter(key=key, is_public=True, takes_submissions=True)
        found = shown.select_related("project").first()
        if found is None:
            raise Http404(gettext("There is no such benchmark, or it takes no submissions."))
        given = self.check(SubmissionInput)
        if not may_submit(request._request):
            raise Throttled(wait=DAY)
        made = submit_outputs(shown=found, **given)
        message = gettext("An admin of the benchmark decides whether people rate these outputs.")
        answer = {"system": made.system, "outputs": len(made.outputs), "message": message}
        return Response(SubmissionAnswer(answer).data, status=201)
