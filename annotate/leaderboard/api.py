"""Submitting outputs to a public leaderboard, without an account."""

from typing import Any

from allauth.core.internal.ratelimit import get_ip
from django.http import Http404
from django.utils.translation import gettext
from rest_framework import serializers
from rest_framework.permissions import AllowAny
from rest_framework.request import Request
from rest_framework.response import Response

from annotate.api.operations import READ_ERRORS, WRITE_ERRORS, ApiView, operation
from annotate.leaderboard.commands import submit_outputs
from annotate.leaderboard.public_views import PublicThrottle, public_leaderboard
from annotate.leaderboard.queries import documents_with_outputs


class OutputsField(serializers.DictField):
    """Outputs by document key. The first error ends the check, because a body may have very many."""

    child = serializers.CharField(trim_whitespace=False)

    def to_internal_value(self, data: Any) -> dict[str, str]:
        """Return the outputs unchanged."""
        if not isinstance(data, dict):
            self.fail("not_a_dict", input_type=type(data).__name__)
        most = self.context["most"]
        if len(data) > most:
            raise serializers.ValidationError(
                gettext("There are {count:,} outputs, but the benchmark has {most:,} documents.").format(
                    count=len(data), most=most
                )
            )
        for key, output in data.items():
            if not isinstance(output, str):
                # A key may contain a lone surrogate, which a response in UTF-8 cannot contain.
                shown = key[:80].encode(errors="replace").decode()
                raise serializers.ValidationError(
                    gettext("The output for {key} is no text.").format(key=shown)
                )
        return data


class SubmissionInput(serializers.Serializer[Any]):
    """Outputs of a new system."""

    system = serializers.CharField(max_length=200, help_text="Its name.")
    contact = serializers.EmailField(help_text="Only the admins of the benchmark see it.")
    note = serializers.CharField(max_length=5_000, default="", allow_blank=True, help_text="About it.")
    outputs = OutputsField(help_text="The text by document key.")


class SubmissionAnswer(serializers.Serializer[Any]):
    """The received submission."""

    system = serializers.CharField()
    outputs = serializers.IntegerField(help_text="How many.")
    message = serializers.CharField(help_text="Who decides.")


class BenchmarkSubmissions(ApiView):
    """Submissions to a public leaderboard."""

    about = "leaderboard"
    # No token is read, so a submission cannot get the rights of an account by accident.
    authentication_classes = ()  # type: ignore[assignment]
    permission_classes = (AllowAny,)  # type: ignore[assignment]
    throttle_classes = (PublicThrottle,)  # type: ignore[assignment]

    @operation(
        {201: SubmissionAnswer},
        (*READ_ERRORS, *WRITE_ERRORS),
        scopes=(),
        request=SubmissionInput,
    )
    def post(self, request: Request, key: str) -> Response:
        """Submit outputs of a new system. An admin decides whether people rate them.

        Needs no token. Each document has exactly one output. An IP has 5 submissions an hour and 10 a day.
        """
        page = public_leaderboard(key)
        if page is None or not page.settings.takes_submissions:
            raise Http404(gettext("There is no such benchmark, or it takes no submissions."))
        given = self.check(SubmissionInput, most=documents_with_outputs(page.project).count())
        made = submit_outputs(shown=page.settings, address=get_ip(request._request), **given)
        message = gettext("An admin of the benchmark decides whether people rate these outputs.")
        answer = {"system": made.system, "outputs": len(made.outputs), "message": message}
        return Response(SubmissionAnswer(answer).data, status=201)
