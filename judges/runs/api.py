"""Runs: preview of calls and cost, planning, steering; and judgments, also imported ones."""

from dataclasses import asdict, replace
from typing import Any

from django.db.models import QuerySet
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from annotate.api.forms import form_input, valid
from annotate.api.operations import ApiView, reads, writes
from annotate.api.values import ChoiceValue, Data, Input, Number, Text, Whole
from annotate.core.access import project_for_admin, project_for_reader
from annotate.core.models import Project
from annotate.core.page import request_user
from annotate.material.api import MOST_ROWS, as_file, refuse_lines
from annotate.material.reading.source import Source
from judges.core.access import project_for_judges, project_for_routing, rereading_in, run_in
from judges.core.errors import RunRefusedError
from judges.core.models import OF_PROJECT, Judge, Judgment, Rereading, Run
from judges.endpoints.api import InCurrency
from judges.endpoints.queries import keys_of_dimensions
from judges.interchange.commands import import_judgments
from judges.interchange.reading import JudgmentMapping
from judges.results.queries.pairings import judge_called
from judges.runs.commands.corrections import (
    ask_again,
    confirm_rereading,
    exclude_all,
    refuse_other_count,
    start_rereading,
)
from judges.runs.commands.endings import change_budget
from judges.runs.commands.runs import plan_run
from judges.runs.commands.units import set_units, units_of_project, units_proposed_by
from judges.runs.forms import BudgetForm, RereadingForm, RunForm, SelectionForm
from judges.runs.queries.judgments import answers_of, plan_of_asking
from judges.runs.queries.plans import NOTHING_MISSING, plan_of
from judges.runs.queries.runs import run_progress
from judges.runs.views import STEPS

RunInput = form_input(
    "RunInput", RunForm, optional={"judges": "those without judgments, or the first", "dimensions": "all"}
)
BudgetInput = form_input("BudgetInput", BudgetForm)
SelectionInput = form_input(
    "SelectionInput",
    SelectionForm,
    without=("act",),
    judgment=Whole(required=False, help_text="This one alone, also where a person corrected it."),
)


RereadingInput = form_input("RereadingInput", RereadingForm)


class RunRow(InCurrency, serializers.ModelSerializer[Run]):
    """A run."""

    saved_by_cache = serializers.DecimalField(
        max_digits=14,
        decimal_places=8,
        allow_null=True,
        help_text="What cached input tokens cost less; null where that is undefined, and then why.",
    )
    saved_by_cache_reason = serializers.CharField()
    currency = serializers.SerializerMethodField(help_text="Of the budget and of all costs.")

    class Meta:
        model = Run
        fields = (
            *("id", "status", "via", "reason", "keeps_messages", "reuses_answers", "budget", "spent"),
            *("reused", "reused_cost", "reused_cost_unknown", "cached_tokens", "saved_by_cache"),
            *("saved_by_cache_reason", "currency", "created_at", "started_at", "finished_at"),
        )


class RunDetail(serializers.Serializer[Any]):
    """A run and its progress."""

    run = RunRow()
    total = serializers.IntegerField()
    done = serializers.IntegerField()
    unreadable = serializers.IntegerField()
    failed = serializers.IntegerField()
    excluded = serializers.IntegerField(help_text="By a person, with a reason.")
    in_flight = serializers.IntegerField()
    planned = serializers.IntegerField()
    per_second = serializers.FloatField()
    seconds_left = serializers.FloatField(allow_null=True)


class PlanShape(InCurrency, serializers.Serializer[Any]):
    """The calls and cost of a run; a cost of null is unknown."""

    judgments = serializers.IntegerField()
    there = serializers.IntegerField(help_text="That are made or planned already.")
    calls = serializers.IntegerField()
    cost = serializers.DecimalField(max_digits=20, decimal_places=8, allow_null=True)
    currency = serializers.SerializerMethodField(help_text="Of the cost.")
    problems = serializers.ListField(child=serializers.CharField())


class JudgmentRow(serializers.ModelSerializer[Judgment]):
    """One call of a judge and its result."""

    judge = serializers.CharField(source="judge.name")
    dimension = serializers.CharField(source="dimension.key")
    document = serializers.CharField(source="item.document.key")
    system = serializers.CharField(source="item.system.name")
    other_system = serializers.CharField(source="other.system.name", default=None, allow_null=True)
    prompt = serializers.CharField(source="judge.template.name", default=None, allow_null=True)
    prompt_version = serializers.IntegerField(source="judge.template.version", default=None, allow_null=True)
    value = serializers.FloatField(
        allow_null=True, help_text="As read: on the judge's own scale, if it has one."
    )
    data = Data(allow_null=True)  # type: ignore[assignment]  # a field's name is no attribute
    mapped_value = serializers.FloatField(
        allow_null=True, help_text="On the dimension's scale; null where the judge has no scale of its own."
    )
    log_probabilities = serializers.DictField(
        child=serializers.FloatField(),
        allow_null=True,
        help_text="Natural logarithms of the probabilities of the answers at the token of the answer; "
        "null where the value is read from the text.",
    )
    parameters = serializers.DictField(help_text="The request as sent, without its messages.")
    messages = serializers.ListField(
        child=serializers.DictField(), allow_null=True, help_text="As sent; null unless the run keeps them."
    )
    asked_dimensions = serializers.SerializerMethodField(
        help_text="Keys of all dimensions of its call, in the order of the prompt; empty: its own alone. "
        "Where they are several, tokens and cost are its share."
    )

    def get_asked_dimensions(self, judgment: Judgment) -> list[str]:
        """Return keys of the dimensions that the project still has."""
        keys: dict[int, str] = self.context["keys"]
        return [keys[pk] for pk in judgment.asked_dimensions if pk in keys]

    class Meta:
        model = Judgment
        fields = (
            *("id", "run", "judge", "dimension", "document", "system", "other_system", "sample", "status"),
            *("value", "data", "mapped_value", "rationale", "reply", "reason", "problem"),
            *("prompt", "prompt_version", "parameters"),
            *(
                "messages_hash",
                "messages",
                "asked_dimensions",
                "steps",
                "log_probabilities",
                "finish_reason",
                "refusal",
                "returned_model",
            ),
            *("system_fingerprint", "input_tokens", "output_tokens", "cached_tokens", "reasoning_tokens"),
            *("cost", "seconds", "answered_at", "is_corrected", "reused_from"),
        )


class JudgmentFilter(serializers.Serializer[Any]):
    """A filter of judgments; missing fields match any judgment."""

    # SQLite raises an error for a larger number, which can be no id.
    run = serializers.IntegerField(required=False, min_value=1, max_value=2**63 - 1)
    judge = serializers.CharField(required=False, help_text="The judge's name.")
    dimension = serializers.CharField(required=False, help_text="The dimension's key.")
    status = ChoiceValue(Judgment.Status.choices, required=False)
    problem = ChoiceValue(Judgment.Problem.choices, required=False)


class JudgmentInput(Input):
    """A judgment made elsewhere: a raw reply, which the method parses, or a value."""

    judge = Text(required=False, max_length=80)
    model = Text(required=False, max_length=120)
    method = Text(max_length=20)
    document = Text(max_length=200)
    system = Text(max_length=200)
    other = Text(required=False, max_length=200, help_text="The system shown second, for pairs.")
    dimension = Text(max_length=60)
    sample = Whole(required=False, min_value=0, max_value=32_767)
    # A reply is stored exactly as the model wrote it, with its spaces.
    reply = Text(required=False, trim_whitespace=False)
    value = Number(required=False)
    rationale = Text(required=False, allow_blank=True)
    input_tokens = Whole(required=False, min_value=0, max_value=2**31 - 1)
    output_tokens = Whole(required=False, min_value=0, max_value=2**31 - 1)
    cost = Number(required=False, min_value=0)
    seconds = Number(required=False, min_value=0)


class JudgmentsInput(Input):
    """Judgments, created all or none."""

    judgments = serializers.ListField(child=JudgmentInput(), min_length=1, max_length=MOST_ROWS)


class JudgmentsMade(serializers.Serializer[Any]):
    """The result of an import of judgments."""

    made = serializers.DictField(child=serializers.IntegerField())
    already_there = serializers.DictField(child=serializers.IntegerField())


class SelectionShape(serializers.Serializer[Any]):
    """The result of a selection, and the cost of repeating all its calls; a cost of null is unknown."""

    judgments = serializers.IntegerField()
    calls = serializers.IntegerField(help_text="Without those of imported judges, which nobody can ask.")
    cost = serializers.DecimalField(max_digits=20, decimal_places=8, allow_null=True)


class ExcludedShape(serializers.Serializer[Any]):
    """The number of excluded judgments."""

    excluded = serializers.IntegerField()


class RunsApi(ApiView):
    about = "runs"


class Runs(RunsApi):
    """The runs of a project."""

    @reads(RunRow, paged=True)
    def get(self, request: Request, slug: str) -> Response:
        """List runs."""
        return self.page(Run.objects.filter(project=project_for_judges(request.user, slug)), RunRow)

    @writes(RunDetail, accepts=RunInput, status=201)
    def post(self, request: Request, slug: str) -> Response:
        """Plan a run; no model is called before its start."""
        project = project_for_admin(request.user, slug)
        form = _run_form(project, self.check(RunInput))
        scope = form.scope()
        plan = plan_of(project, scope, form.cleaned_data["via"])
        # An empty run would seem to work although no judgment is missing.
        if plan.judgments and not plan.calls:
            raise RunRefusedError(str(NOTHING_MISSING))
        run = plan_run(project=project, scope=scope, by=request_user(request), **form.how())
        return _detail(run, status=201)


class RunPreview(RunsApi):
    """The preview of a run."""

    @writes(PlanShape, accepts=RunInput)
    def post(self, request: Request, slug: str) -> Response:
        """Show the calls and cost of a run; nothing is written."""
        project = project_for_admin(request.user, slug)
        form = _run_form(project, self.check(RunInput))
        return Response(PlanShape(plan_of(project, form.scope(), form.cleaned_data["via"])).data)


class RunView(RunsApi):
    """A run."""

    @reads(RunDetail)
    def get(self, request: Request, slug: str, pk: int) -> Response:
        """Show the progress of a run."""
        return _detail(run_in(project_for_judges(request.user, slug), pk))


class RunStep(RunsApi):
    """A step of a run."""

    steps = STEPS

    @writes(RunDetail)
    def post(self, request: Request, slug: str, pk: int, step: str) -> Response:
        """Steer a run: start (also to resume), pause, cancel, or retry failed calls."""
        run = run_in(project_for_admin(request.user, slug), pk)
        return _detail(STEPS[step](run=run))


class RunBudget(RunsApi):
    """The budget of a run."""

    @writes(RunDetail, accepts=BudgetInput)
    def put(self, request: Request, slug: str, pk: int) -> Response:
        """Set another budget of a run, or none (null)."""
        run = run_in(project_for_admin(request.user, slug), pk)
        form = valid(BudgetForm(self.check(BudgetInput)))
        return _detail(change_budget(run=run, **form.cleaned_data))


class Judgments(RunsApi):
    """The judgments of a project."""

    @reads(JudgmentRow, paged=True, filters=(JudgmentFilter,))
    def get(self, request: Request, slug: str) -> Response:
        """List judgments with replies and costs, for readers of results."""
        project = project_for_reader(request.user, slug)
        paths = {"judge": "judge__name", "dimension": "dimension__key"}
        chosen = {paths.get(name, name): value for name, value in self.filters(JudgmentFilter).items()}
        judgments = Judgment.objects.filter(judge__project=project, **OF_PROJECT, **chosen)
        named = judgments.select_related(
            "judge__template", "dimension", "item__document", "item__system", "other__system"
        )
        # Texts are large, and no column of a row needs them.
        rows = named.defer("item__text", "item__document__parts", "other__text")
        return self.page(rows, JudgmentRow, keys=keys_of_dimensions(project.pk))

    @writes(JudgmentsMade, accepts=JudgmentsInput, status=201)
    def post(self, request: Request, slug: str) -> Response:
        """Import judgments made elsewhere, all or none; judges are created by name."""
        project = project_for_admin(request.user, slug)
        rows = self.check(JudgmentsInput)["judgments"]
        # The rows pass through a file, because an import checks and writes files only.
        columns = {field: field for row in rows for field in row}
        with as_file(rows) as path:
            source = Source(path, "judgments.jsonl", JudgmentMapping(columns, {}))
            report = import_judgments(project=project, source=source, by=request_user(request))
        refuse_lines(list(report.refused_lines), within="judgments")
        made = {"made": asdict(report.made), "already_there": asdict(report.already_there)}
        return Response(made, status=201)


class UnitsRow(serializers.Serializer[Any]):
    """The content units of a document."""

    document = serializers.CharField()
    units = serializers.ListField(child=Data(), help_text="Each with `text` and `weight`.")


class DocumentUnitsInput(Input):
    """The content units of a document."""

    document = Text(max_length=200, help_text="Its key.")
    units = serializers.ListField(
        child=serializers.JSONField(), help_text="Texts, or objects of `text` and `weight`."
    )


class UnitsInput(Input):
    """The content units of some documents; those of others stay."""

    documents = DocumentUnitsInput(many=True)


class UnitsFilter(serializers.Serializer[Any]):
    """Whose units are meant: those in force, or what a model proposed."""

    proposed_by = serializers.CharField(
        required=False, help_text="The name of a judge: what its model lists."
    )


class ChangedUnits(serializers.Serializer[Any]):
    """The number of documents that have other units now."""

    changed = serializers.IntegerField()


class ContentUnitsView(RunsApi):
    """The content units of documents, which the method of that name asks about."""

    @reads(UnitsRow, many=True, filters=(UnitsFilter,))
    def get(self, request: Request, slug: str) -> Response:
        """List the content units of documents in force, or those that a judge's model proposed last."""
        project = project_for_reader(request.user, slug)
        name = self.filters(UnitsFilter).get("proposed_by")
        if name is None:
            found = units_of_project(project)
        else:
            found = units_proposed_by(judge_called(list(Judge.objects.filter(project=project)), name))
        rows = [{"document": document, "units": units} for document, units in found]
        return Response(UnitsRow(rows, many=True).data)

    @writes(ChangedUnits, accepts=UnitsInput)
    def put(self, request: Request, slug: str) -> Response:
        """Give documents these content units instead of earlier ones, all or none."""
        project = project_for_admin(request.user, slug)
        units = {each["document"]: each["units"] for each in self.check(UnitsInput)["documents"]}
        changed = set_units(project=project, units=units, by=request_user(request))
        return Response(ChangedUnits({"changed": changed}).data)


class RereadingRow(serializers.ModelSerializer[Rereading]):
    """A new parse of stored replies: a preview, then the change."""

    first_changes = serializers.ListField(
        child=serializers.DictField(), help_text="The first hundred: judgment, before, after, reply."
    )

    class Meta:
        model = Rereading
        fields = ("id", "judge", "status", "reason", "would_change", "first_changes", "changed", "created_at")


class Rereadings(RunsApi):
    """New parses of stored replies."""

    @writes(RereadingRow, accepts=RereadingInput, status=201)
    def post(self, request: Request, slug: str) -> Response:
        """Start a worker's preview of the changes under the present rules; nothing changes yet."""
        project = project_for_routing(request.user, slug)
        form = valid(RereadingForm(self.check(RereadingInput), project=project))
        judge, by = form.cleaned_data["judge"], request_user(request)
        made = start_rereading(project=project, judge=judge, by=by)
        return Response(RereadingRow(made).data, status=201)


class RereadingView(RunsApi):
    """One new parse of stored replies."""

    @reads(RereadingRow)
    def get(self, request: Request, slug: str, pk: int) -> Response:
        """Show the progress and the changes."""
        return Response(RereadingRow(rereading_in(project_for_routing(request.user, slug), pk)).data)

    @writes(RereadingRow)
    def post(self, request: Request, slug: str, pk: int) -> Response:
        """Apply the previewed changes; safe to send twice."""
        found = rereading_in(project_for_routing(request.user, slug), pk)
        confirmed = confirm_rereading(rereading=found, by=request_user(request))
        return Response(RereadingRow(confirmed).data)


class SelectedJudgments(RunsApi):
    """Answers matching a filter."""

    @writes(SelectionShape, accepts=SelectionInput)
    def post(self, request: Request, slug: str) -> Response:
        """Count the matching answers and the cost of requesting them again; nothing is written."""
        found, _ = _select(project_for_routing(request.user, slug), self.check(SelectionInput))
        plan = plan_of_asking(found)
        shape = {"judgments": found.count(), "calls": plan.calls, "cost": plan.cost}
        return Response(SelectionShape(shape).data)


class RetryView(RunsApi):
    """Answers to request again."""

    @writes(RunDetail, accepts=SelectionInput, status=201)
    def post(self, request: Request, slug: str) -> Response:
        """Request all matching answers again in a new run.

        Earlier replies stay in the history.

        `shown`: the number counted before; if it has changed, no model is called.
        """
        project = project_for_routing(request.user, slug)
        found, form = _select(project, self.check(SelectionInput))
        refuse_other_count(found.count(), form.cleaned_data["shown"])
        run = ask_again(project=project, judgments=found, by=request_user(request))
        return _detail(run, status=201)


class ExcludedJudgments(RunsApi):
    """Answers excluded from all statistics."""

    @writes(ExcludedShape, accepts=SelectionInput)
    def post(self, request: Request, slug: str) -> Response:
        """Exclude all matching answers, with one reason (`note`); `shown` as for requesting again."""
        project = project_for_routing(request.user, slug)
        found, form = _select(project, self.check(SelectionInput))
        judgments = list(found.values_list("pk", flat=True))
        # The same ids count and are excluded: answers that come later are not among them.
        refuse_other_count(len(judgments), form.cleaned_data["shown"])
        by, note = request_user(request), form.cleaned_data["note"]
        excluded = exclude_all(project=project, judgments=judgments, note=note, by=by)
        return Response({"excluded": excluded})


def _select(project: Project, sent: dict[str, Any]) -> tuple[QuerySet[Judgment], SelectionForm]:
    form = valid(SelectionForm(sent, project=project))
    return answers_of(project, replace(form.selection(), only=sent.get("judgment"))), form


def _run_form(project: Project, sent: dict[str, Any]) -> RunForm:
    page = RunForm(None, project=project)
    # A request that names no judges or dimensions gets the ones that the page would select.
    usual = {name: page.get_initial_for_field(page.fields[name], name) for name in ("judges", "dimensions")}
    usual["judges"] = [judge.pk for judge in usual["judges"]]
    return valid(RunForm({**usual, **sent}, project=project))


def _detail(run: Run, *, status: int = 200) -> Response:
    return Response(RunDetail(run_progress(run)).data, status=status)
