"""Endpoints, prompts and judges."""

import json
from dataclasses import fields
from typing import Any

from django.conf import settings
from django.db import transaction
from django.utils.translation import gettext
from django.views.decorators.debug import sensitive_variables
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from annotate.api.forms import form_input, valid
from annotate.api.operations import READ_ERRORS, WRITE_ERRORS, ApiView, operation, reads, writes
from annotate.api.values import ChoiceValue, Input, Text
from annotate.core.access import project_for_admin
from annotate.core.errors import NotFoundError
from annotate.core.models import Project, System
from annotate.core.page import request_user
from judges.core.access import (
    dimension_in,
    endpoint_in,
    judge_in,
    model_price_in,
    project_for_judges,
    template_in,
)
from judges.core.judge_settings import names_of_settings
from judges.core.models import Endpoint, EndpointKey, Judge, PromptTemplate, ScoreFrom
from judges.core.specification import EndpointSpec, JudgeSpec
from judges.endpoints.archiving import archive, delete_unused, unarchive
from judges.endpoints.commands import (
    LONGEST_KEY,
    add_endpoint,
    add_judge,
    create_template,
    edit_template,
    edit_wording,
    enter_key,
    remove_key,
    remove_model_price,
    set_model_price,
    try_endpoint,
    update_endpoint,
    update_judge,
)
from judges.endpoints.forms.endpoints import EndpointForm, ModelPriceForm, TrialForm, initial_endpoint
from judges.endpoints.forms.judges import (
    LONGEST_TEXT,
    SHIPPED,
    JudgeForm,
    dimensions_line,
    initial_judge,
    stop_lines,
    table_line,
)
from judges.endpoints.prices import model_prices_of
from judges.endpoints.queries import (
    endpoints_of,
    entered_key_of,
    keys_of_dimensions,
    usual_trial,
)
from judges.methods import METHODS
from judges.methods.reading.reader import LONGEST as LONGEST_PATTERN
from judges.methods.scales import MOST_POINTS

EndpointInput = form_input(
    "EndpointInput",
    EndpointForm,
    # A token proves who calls, so no password is due; the key has its own write-only field.
    without=("key", "password"),
    usual=initial_endpoint(None),
    key=Text(
        required=False,
        write_only=True,
        allow_blank=True,
        max_length=LONGEST_KEY,
        help_text="Kept encrypted for this address's server, and in no answer. Left out: it stays as it is.",
    ),
)
TrialInput = form_input(
    "TrialInput",
    TrialForm,
    optional={"model": "the model of the endpoint's newest judge", "message": "a short one"},
)
ModelPriceInput = form_input("ModelPriceInput", ModelPriceForm)
JudgeInput = form_input(
    "JudgeInput",
    JudgeForm,
    optional={
        "template": "shipped:rts",
        **dict.fromkeys(("temperature", "samples", "score_from"), "as the prompt's method is meant"),
    },
    # The form reads these as lines of text, while JSON has lists and objects.
    without=("stop", "extra_body", "scale_table", "asked_together"),
    asked_together=serializers.ListField(
        child=Text(max_length=60),
        required=False,
        help_text="Keys of the dimensions of one call in their order, for methods that ask about several; "
        "empty: all.",
    ),
    stop=serializers.ListField(
        child=Text(trim_whitespace=False), required=False, max_length=4, help_text="Texts that end a reply."
    ),
    scale_table=serializers.ListField(
        child=serializers.FloatField(),
        required=False,
        max_length=MOST_POINTS,
        help_text="The dimension's value for each point of the own scale; empty: linear, ends to ends.",
    ),
    extra_body=serializers.DictField(
        required=False, help_text="Further fields of each request, sent as they are; no keys."
    ),
)


class EndpointRow(serializers.ModelSerializer[Endpoint]):
    """A server that answers for models. The response never contains its key."""

    has_key = serializers.SerializerMethodField(help_text="Whether a key was entered, for whatever server.")

    def get_has_key(self, endpoint: Endpoint) -> bool:
        """Return True if a key was entered."""
        # Django raises a kind of AttributeError if there is no such row.
        return hasattr(endpoint, "entered_key")

    class Meta:
        model = Endpoint
        fields = (
            "id",
            *(each.name for each in fields(EndpointSpec)),
            *("has_key", "unanswered_since", "failure", "archived_at"),
        )


class InCurrency:
    """Has the field `currency`."""

    def get_currency(self, _row: object) -> str:
        """Return the installation's currency."""
        code: str = settings.CURRENCY
        return code


def _price(source: str) -> serializers.DecimalField:
    return serializers.DecimalField(max_digits=12, decimal_places=6, allow_null=True, source=source)


class KeyInput(Input):
    """A key for an endpoint's server."""

    key = Text(write_only=True, max_length=LONGEST_KEY, help_text="Kept encrypted, and in no answer.")


class KeyRow(serializers.Serializer[Any]):
    """Metadata of an entered key."""

    server = serializers.CharField(
        source="origin", help_text="The only server that it is sent to: scheme, host and port."
    )
    ends_with = serializers.CharField(help_text="Its last four characters; empty for a short key.")
    entered_at = serializers.DateTimeField()
    entered_by = serializers.SerializerMethodField(help_text="Null where the account is gone.")
    is_used = serializers.BooleanField(
        help_text="False when the endpoint's address became that of another server: enter the key again."
    )

    def get_entered_by(self, key: EndpointKey) -> str | None:
        """Return the name of who entered it."""
        return str(key.entered_by) if key.entered_by else None


class TrialRow(serializers.Serializer[Any]):
    """The result of one call."""

    text = serializers.CharField(help_text="The reply; empty where there is none.")
    problem = serializers.CharField(help_text="Why there is none, in the server's words where it has any.")
    seconds = serializers.FloatField(allow_null=True)
    input_tokens = serializers.IntegerField(allow_null=True)
    output_tokens = serializers.IntegerField(allow_null=True)
    cost = serializers.DecimalField(
        max_digits=20, decimal_places=8, allow_null=True, help_text="Null where prices or tokens are unknown."
    )


class ModelPriceShape(InCurrency, serializers.Serializer[Any]):
    """The prices of a model at an endpoint, for a million tokens. Null: unknown."""

    id = serializers.IntegerField(allow_null=True, help_text="Null where nobody entered prices for it.")
    model = serializers.CharField()
    input_price = _price("cost.prices.input")
    output_price = _price("cost.prices.output")
    cached_price = _price("cost.prices.cached")
    batch_share = serializers.DecimalField(max_digits=4, decimal_places=3, source="cost.prices.batch_share")
    currency = serializers.SerializerMethodField(help_text="Of all costs of this installation.")
    as_of = serializers.DateField(allow_null=True, source="cost.as_of")
    origin = serializers.CharField(source="cost.origin", help_text="Where they come from; empty: unknown.")


class PromptRow(serializers.ModelSerializer[PromptTemplate]):
    """A version of a prompt."""

    wordings = serializers.SerializerMethodField(
        help_text="Texts of dimensions with a wording of their own, by the dimension's key."
    )

    def get_wordings(self, template: PromptTemplate) -> dict[str, str]:
        """Return the wordings of dimensions that the project still has."""
        keys: dict[str, str] = self.context["keys"]
        return {keys[pk]: text for pk, text in template.wordings.items() if pk in keys}

    class Meta:
        model = PromptTemplate
        fields = ("id", "method", "name", "version", "text", "wordings", "pattern", "created_at")


class JudgeRow(serializers.ModelSerializer[Judge]):
    """A judge; a judge without an endpoint was imported. Null or empty parameters are not sent."""

    stop = serializers.ListField(child=serializers.CharField(), help_text="Texts that end a reply.")
    scale_table = serializers.ListField(
        child=serializers.FloatField(), help_text="The dimension's value for each point of its own scale."
    )
    extra_body = serializers.DictField(help_text="Further fields of each request.")
    asked_together = serializers.SerializerMethodField(
        help_text="Keys of the dimensions of one call, for methods that ask about several; empty: all."
    )

    reference = serializers.SlugRelatedField[System](
        slug_field="name",
        read_only=True,
        allow_null=True,
        help_text="The system whose text of the same document its prompt shows; null: none.",
    )

    def get_asked_together(self, judge: Judge) -> list[str]:
        """Return keys of the dimensions that the project still has."""
        keys: dict[int, str] = self.context["keys"]
        return [keys[pk] for pk in judge.asked_together if pk in keys]

    class Meta:
        model = Judge
        fields = (
            *("id", "name", "endpoint", "model", "method", "template"),
            *names_of_settings(),
            *("created_at", "archived_at"),
        )


class JudgesApi(ApiView):
    about = "judges"


class Endpoints(JudgesApi):
    """The endpoints of a project."""

    @reads(EndpointRow, paged=True)
    def get(self, request: Request, slug: str) -> Response:
        """List the endpoints of a project's judges, archived ones too."""
        return self.page(endpoints_of(project_for_judges(request.user, slug), archived=None), EndpointRow)

    @writes(EndpointRow, accepts=EndpointInput, status=201)
    def post(self, request: Request, slug: str) -> Response:
        """Add an endpoint, with its key if it needs one."""
        project = project_for_admin(request.user, slug)
        form = valid(EndpointForm(self.check(EndpointInput)))
        key, by = form.cleaned_data["key"], request_user(request)
        made = add_endpoint(project=project, spec=form.to_spec(), key=key, by=by)
        return Response(EndpointRow(made).data, status=201)


class PricesOfEndpoint(JudgesApi):
    """The prices of models at an endpoint."""

    @reads(ModelPriceShape, many=True)
    def get(self, request: Request, slug: str, pk: int) -> Response:
        """List the prices of the models that an endpoint's judges use."""
        found = model_prices_of(endpoint_in(project_for_judges(request.user, slug), pk))
        return Response(ModelPriceShape(found, many=True).data)

    @writes(ModelPriceShape, accepts=ModelPriceInput, status=201)
    def post(self, request: Request, slug: str, pk: int) -> Response:
        """Set the prices of a model, replacing earlier prices."""
        endpoint = endpoint_in(project_for_admin(request.user, slug), pk)
        spec = valid(ModelPriceForm(self.check(ModelPriceInput))).to_spec()
        set_model_price(endpoint=endpoint, spec=spec)
        # Read like the list, so that a written price has the same shape.
        row = next(each for each in model_prices_of(endpoint) if each.model == spec.model)
        return Response(ModelPriceShape(row).data, status=201)


class EndpointPriceView(JudgesApi):
    """The prices that people entered for a model."""

    @writes(None, status=204)
    def delete(self, request: Request, slug: str, pk: int, price: int) -> Response:
        """Remove prices; the endpoint's own or listed prices apply again."""
        remove_model_price(price=model_price_in(project_for_admin(request.user, slug), pk, price))
        return Response(status=204)


class EndpointView(JudgesApi):
    """An endpoint."""

    @reads(EndpointRow)
    def get(self, request: Request, slug: str, pk: int) -> Response:
        """Show an endpoint."""
        return Response(EndpointRow(endpoint_in(project_for_judges(request.user, slug), pk)).data)

    @writes(EndpointRow, accepts=EndpointInput)
    def put(self, request: Request, slug: str, pk: int) -> Response:
        """Replace all settings of an endpoint."""
        endpoint = endpoint_in(project_for_admin(request.user, slug), pk)
        form = valid(EndpointForm(self.check(EndpointInput, standing=initial_endpoint(endpoint))))
        key, by = form.cleaned_data["key"], request_user(request)
        changed = update_endpoint(endpoint=endpoint, spec=form.to_spec(), key=key, by=by)
        return Response(EndpointRow(changed).data)

    @writes(None, status=204)
    def delete(self, request: Request, slug: str, pk: int) -> Response:
        """Delete an endpoint without judges."""
        endpoint = endpoint_in(project_for_admin(request.user, slug), pk)
        delete_unused(unused=endpoint, by=request_user(request))
        return Response(status=204)


class ArchiveOfEndpoint(JudgesApi):
    """Whether an endpoint is archived."""

    @writes(EndpointRow)
    def put(self, request: Request, slug: str, pk: int) -> Response:
        """Archive an endpoint: neither it nor its judges are called. Its data stays."""
        endpoint = endpoint_in(project_for_admin(request.user, slug), pk)
        archive(kept=endpoint, by=request_user(request))
        return Response(EndpointRow(endpoint).data)

    @writes(EndpointRow)
    def delete(self, request: Request, slug: str, pk: int) -> Response:
        """Offer an archived endpoint again."""
        endpoint = endpoint_in(project_for_admin(request.user, slug), pk)
        unarchive(kept=endpoint, by=request_user(request))
        return Response(EndpointRow(endpoint).data)


class KeyOfEndpoint(JudgesApi):
    """The key that was entered for an endpoint."""

    @reads(KeyRow)
    def get(self, request: Request, slug: str, pk: int) -> Response:
        """Show the server of the key, the time and the person who entered it; never the key."""
        key = entered_key_of(endpoint_in(project_for_admin(request.user, slug), pk))
        if key is None:
            raise NotFoundError(gettext("No key was entered for this endpoint."))
        return Response(KeyRow(key).data)

    # An error report must not contain the key from the request.
    @sensitive_variables()
    @writes(KeyRow, accepts=KeyInput)
    def put(self, request: Request, slug: str, pk: int) -> Response:
        """Enter a key for the endpoint's server, replacing the previous one."""
        endpoint = endpoint_in(project_for_admin(request.user, slug), pk)
        enter_key(endpoint=endpoint, key=self.check(KeyInput)["key"], by=request_user(request))
        return Response(KeyRow(entered_key_of(endpoint)).data)

    @writes(None, status=204)
    def delete(self, request: Request, slug: str, pk: int) -> Response:
        """Delete the key; copies of it remain valid until the provider revokes it."""
        endpoint = endpoint_in(project_for_admin(request.user, slug), pk)
        remove_key(endpoint=endpoint, by=request_user(request))
        return Response(status=204)


class TrialOfEndpoint(JudgesApi):
    """One call to an endpoint."""

    @operation(
        {200: TrialRow}, (*READ_ERRORS, *WRITE_ERRORS), scopes=("write",), parameters=[], request=TrialInput
    )
    def post(self, request: Request, slug: str, pk: int) -> Response:
        """Make one call and show the reply, or the reason why there is none.

        Nothing is written, so there is no Idempotency-Key: the same request again is another call.
        """
        endpoint = endpoint_in(project_for_admin(request.user, slug), pk)
        sent = valid(TrialForm({**usual_trial(endpoint), **self.check(TrialInput)})).cleaned_data
        return Response(TrialRow(try_endpoint(endpoint=endpoint, **sent)).data)


class PromptChangeInput(Input):
    """The prompt, with the rule for parsing replies and wordings of single dimensions."""

    text = Text(max_length=LONGEST_TEXT, trim_whitespace=False)
    pattern = Text(
        required=False,
        allow_blank=True,
        max_length=LONGEST_PATTERN,
        help_text="A regular expression for replies that the rules cannot read; empty: the rules.",
    )
    wordings = serializers.DictField(
        child=Text(max_length=LONGEST_TEXT, trim_whitespace=False),
        required=False,
        help_text="The whole text for a dimension, by its key. Dimensions not named keep theirs; one "
        "that gets the common text has no wording of its own.",
    )


class PromptInput(PromptChangeInput):
    """A prompt to create."""

    method = ChoiceValue(choices=list(METHODS))
    name = Text(max_length=80)


class Prompts(JudgesApi):
    """The prompts of a project."""

    @reads(PromptRow, paged=True)
    def get(self, request: Request, slug: str) -> Response:
        """List the versions of a project's prompts."""
        project = project_for_judges(request.user, slug)
        prompts = PromptTemplate.objects.filter(project=project)
        return self.page(prompts, PromptRow, keys=_keys_in_wordings(project))

    @writes(PromptRow, accepts=PromptInput, status=201)
    # One transaction for a prompt and its wordings: either all of them exist or none.
    @transaction.atomic
    def post(self, request: Request, slug: str) -> Response:
        """Create the first version of a prompt for a method."""
        project, sent = project_for_admin(request.user, slug), self.check(PromptInput)
        content = {name: sent.get(name, "") for name in ("method", "name", "text", "pattern")}
        made = create_template(project=project, by=request_user(request), **content)
        return Response(_prompt_row(_add_wordings(request, made, sent)), 201)


class PromptView(JudgesApi):
    """A version of a prompt."""

    @reads(PromptRow)
    def get(self, request: Request, slug: str, pk: int) -> Response:
        """Show a version of a prompt."""
        return Response(_prompt_row(template_in(project_for_judges(request.user, slug), pk)))

    @writes(PromptRow, accepts=PromptChangeInput)
    @transaction.atomic
    def put(self, request: Request, slug: str, pk: int) -> Response:
        """Change a version without judgments, or create the next one; the response states which."""
        template, sent = template_in(project_for_admin(request.user, slug), pk), self.check(PromptChangeInput)
        pattern = sent.get("pattern", template.pattern)
        by = request_user(request)
        changed = edit_template(template=template, text=sent["text"], pattern=pattern, by=by)
        return Response(_prompt_row(_add_wordings(request, changed, sent)))


def _add_wordings(request: Request, template: PromptTemplate, sent: dict[str, Any]) -> PromptTemplate:
    for key, text in sent.get("wordings", {}).items():
        dimension = dimension_in(template.project, key)
        # The first wording may write the next version, to which the others then go.
        template = edit_wording(template=template, dimension=dimension, text=text, by=request_user(request))
    return template


def _prompt_row(template: PromptTemplate) -> Any:
    return PromptRow(template, context={"keys": _keys_in_wordings(template.project)}).data


def _keys_in_wordings(project: Project) -> dict[str, str]:
    return {str(pk): key for pk, key in keys_of_dimensions(project.pk).items()}


def _judge_row(judge: Judge) -> Any:
    return JudgeRow(judge, context={"keys": keys_of_dimensions(judge.project_id)}).data


class Judges(JudgesApi):
    """The judges of a project."""

    @reads(JudgeRow, paged=True)
    def get(self, request: Request, slug: str) -> Response:
        """List judges."""
        project = project_for_judges(request.user, slug)
        return self.page(Judge.objects.filter(project=project), JudgeRow, keys=keys_of_dimensions(project.pk))

    @writes(JudgeRow, accepts=JudgeInput, status=201)
    def post(self, request: Request, slug: str) -> Response:
        """Create a judge.

        `prompt` is the id of a prompt, or shipped:KEY for a method or one of its wordings.
        """
        project = project_for_admin(request.user, slug)
        spec = _spec(project, self.check(JudgeInput))
        return Response(_judge_row(add_judge(project=project, judge=spec, by=request_user(request))), 201)


class JudgeView(JudgesApi):
    """A judge."""

    @reads(JudgeRow)
    def get(self, request: Request, slug: str, pk: int) -> Response:
        """Show a judge."""
        return Response(_judge_row(judge_in(project_for_judges(request.user, slug), pk)))

    @writes(JudgeRow, accepts=JudgeInput)
    def put(self, request: Request, slug: str, pk: int) -> Response:
        """Replace all settings of a judge without judgments."""
        project = project_for_admin(request.user, slug)
        judge = judge_in(project, pk)
        spec = _spec(project, self.check(JudgeInput), judge)
        # A client may repeat the request: equal values are accepted, even for a judge with judgments.
        return Response(
            _judge_row(update_judge(judge=judge, to=spec, by=request_user(request), may_be_same=True))
        )

    @writes(None, status=204)
    def delete(self, request: Request, slug: str, pk: int) -> Response:
        """Delete an unused judge: one without judgments, policies or calibrations."""
        judge = judge_in(project_for_admin(request.user, slug), pk)
        delete_unused(unused=judge, by=request_user(request))
        return Response(status=204)


class ArchiveOfJudge(JudgesApi):
    """Whether a judge is archived."""

    @writes(JudgeRow)
    def put(self, request: Request, slug: str, pk: int) -> Response:
        """Archive a judge: it is no longer offered or called. Its data stays."""
        judge = judge_in(project_for_admin(request.user, slug), pk)
        archive(kept=judge, by=request_user(request))
        return Response(_judge_row(judge))

    @writes(JudgeRow)
    def delete(self, request: Request, slug: str, pk: int) -> Response:
        """Offer an archived judge again."""
        judge = judge_in(project_for_admin(request.user, slug), pk)
        unarchive(kept=judge, by=request_user(request))
        return Response(_judge_row(judge))


def _spec(project: Project, sent: dict[str, Any], standing: Judge | None = None) -> JudgeSpec:
    shipped = str(sent.get("template", "")).removeprefix(SHIPPED)
    # The form below reports an unknown endpoint with its field.
    endpoint = next((each for each in endpoints_of(project) if each.pk == sent.get("endpoint")), None)
    usual = initial_judge(None, shipped=shipped, endpoint=endpoint)
    if sent.get("score_from") == ScoreFrom.PROBABILITIES:  # these are of plain replies
        usual["structured"] = False
    if standing is not None:
        # A change names some settings, and all others keep their values.
        usual = {name: value for name, value in initial_judge(standing).items() if name in usual}
    sent = {**usual, **sent}
    # The form reads lists in the notation of its fields, so both ways have one validation.
    sent["scale_table"] = table_line(sent.get("scale_table", ()))
    sent["stop"], sent["extra_body"] = (
        stop_lines(sent.get("stop", ())),
        json.dumps(sent.get("extra_body", {})),
    )
    sent["asked_together"] = dimensions_line(sent.get("asked_together", ()))
    return valid(JudgeForm(sent, project=project, is_new=standing is None)).to_spec()
