"""Endpoints, prompts and judges."""

from typing import Any

from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from annotate.access import project_for_admin
from annotate.api.forms import form_input, valid
from annotate.api.operations import READ_ERRORS, WRITE_ERRORS, ApiView, operation, reads, writes
from annotate.models import Project
from annotate.views.page import request_user
from judges.access import endpoint_in, judge_in, project_for_judges
from judges.commands.endpoints import add_endpoint, try_endpoint, update_endpoint
from judges.commands.judges import add_judge, update_judge
from judges.forms.endpoints import EndpointForm, TrialForm
from judges.forms.judges import JudgeForm
from judges.models import Endpoint, Judge, PromptTemplate
from judges.queries.endpoints import endpoints_of
from judges.queries.prompts import templates_of
from judges.specification import JudgeSpec

EndpointInput = form_input("EndpointInput", EndpointForm)
TrialInput = form_input("TrialInput", TrialForm)
JudgeInput = form_input("JudgeInput", JudgeForm)


class EndpointRow(serializers.ModelSerializer[Endpoint]):
    """A server that answers for models; its key is in the environment and nowhere here."""

    class Meta:
        model = Endpoint
        fields = (
            *("id", "name", "base_url", "key_variable", "requests_per_minute", "tokens_per_minute"),
            *("input_price", "output_price", "timeout_seconds", "calls_in_flight"),
        )


class TrialRow(serializers.Serializer[Any]):
    """What came of one call."""

    text = serializers.CharField(help_text="The reply; empty where there is none.")
    problem = serializers.CharField(help_text="Why there is none, in the server's words where it has any.")
    seconds = serializers.FloatField(allow_null=True)
    input_tokens = serializers.IntegerField(allow_null=True)
    output_tokens = serializers.IntegerField(allow_null=True)
    cost = serializers.DecimalField(
        max_digits=20, decimal_places=8, allow_null=True, help_text="Null where prices or tokens are unknown."
    )


class PromptRow(serializers.ModelSerializer[PromptTemplate]):
    """A version of a prompt."""

    class Meta:
        model = PromptTemplate
        fields = ("id", "method", "name", "version", "text", "created_at")


class JudgeRow(serializers.ModelSerializer[Judge]):
    """A judge; one without an endpoint was imported."""

    class Meta:
        model = Judge
        fields = (
            *("id", "name", "endpoint", "model", "method", "template", "temperature", "samples"),
            *("max_tokens", "score_from", "structured", "created_at"),
        )


class Endpoints(ApiView):
    """The endpoints of a project."""

    about = "judges"

    @reads(EndpointRow, paged=True)
    def get(self, request: Request, slug: str) -> Response:
        """List the servers that a project's judges ask."""
        return self.page(endpoints_of(project_for_judges(request.user, slug)), EndpointRow)

    @writes(EndpointRow, accepts=EndpointInput, status=201)
    def post(self, request: Request, slug: str) -> Response:
        """Add an endpoint, with the name of the variable that holds its key."""
        project = project_for_admin(request.user, slug)
        spec = valid(EndpointForm(self.checked(EndpointInput))).to_spec()
        return Response(EndpointRow(add_endpoint(project=project, endpoint=spec)).data, status=201)


class OneEndpoint(ApiView):
    """An endpoint."""

    about = "judges"

    @reads(EndpointRow)
    def get(self, request: Request, slug: str, pk: int) -> Response:
        """Show an endpoint."""
        return Response(EndpointRow(endpoint_in(project_for_judges(request.user, slug), pk)).data)

    @writes(EndpointRow, accepts=EndpointInput)
    def put(self, request: Request, slug: str, pk: int) -> Response:
        """Make an endpoint what is sent."""
        endpoint = endpoint_in(project_for_admin(request.user, slug), pk)
        spec = valid(EndpointForm(self.checked(EndpointInput))).to_spec()
        return Response(EndpointRow(update_endpoint(endpoint=endpoint, to=spec)).data)


class TrialOfEndpoint(ApiView):
    """One call to an endpoint."""

    about = "judges"

    @operation(
        {200: TrialRow},
        (*READ_ERRORS, *WRITE_ERRORS),
        scopes=("write",),
        parameters=[],
        request=TrialInput,
    )
    def post(self, request: Request, slug: str, pk: int) -> Response:
        """Make one call and show the reply, or why there is none.

        Nothing is written, so there is no Idempotency-Key: the same request again is another call.
        """
        endpoint = endpoint_in(project_for_admin(request.user, slug), pk)
        sent = valid(TrialForm(self.checked(TrialInput))).cleaned_data
        return Response(TrialRow(try_endpoint(endpoint=endpoint, **sent)).data)


class Prompts(ApiView):
    """The prompts of a project."""

    about = "judges"

    @reads(PromptRow, paged=True)
    def get(self, request: Request, slug: str) -> Response:
        """List the versions of a project's prompts."""
        project = project_for_judges(request.user, slug)
        return self.page(PromptTemplate.objects.filter(project=project), PromptRow)


class Judges(ApiView):
    """The judges of a project."""

    about = "judges"

    @reads(JudgeRow, paged=True)
    def get(self, request: Request, slug: str) -> Response:
        """List judges."""
        return self.page(Judge.objects.filter(project=project_for_judges(request.user, slug)), JudgeRow)

    @writes(JudgeRow, accepts=JudgeInput, status=201)
    def post(self, request: Request, slug: str) -> Response:
        """Make a judge; its prompt is that of an id, or shipped:METHOD."""
        project = project_for_admin(request.user, slug)
        spec = _spec(project, self.checked(JudgeInput))
        return Response(JudgeRow(add_judge(project=project, judge=spec, by=request_user(request))).data, 201)


class OneJudge(ApiView):
    """A judge."""

    about = "judges"

    @reads(JudgeRow)
    def get(self, request: Request, slug: str, pk: int) -> Response:
        """Show a judge."""
        return Response(JudgeRow(judge_in(project_for_judges(request.user, slug), pk)).data)

    @writes(JudgeRow, accepts=JudgeInput)
    def put(self, request: Request, slug: str, pk: int) -> Response:
        """Make a judge that has no judgments what is sent."""
        project = project_for_admin(request.user, slug)
        judge, spec = judge_in(project, pk), _spec(project, self.checked(JudgeInput))
        return Response(JudgeRow(update_judge(judge=judge, to=spec, by=request_user(request))).data)


def _spec(project: Project, sent: dict[str, object]) -> JudgeSpec:
    return valid(JudgeForm(sent, endpoints=endpoints_of(project), templates=templates_of(project))).to_spec()
