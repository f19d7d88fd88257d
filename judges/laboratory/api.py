"""The laboratory over the API: judges that learn from people, and variants of judges."""

from decimal import Decimal
from typing import Any

from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from annotate.api.forms import form_input, valid
from annotate.api.operations import ApiView, reads, writes
from annotate.api.values import Amount, ChoiceValue, Input, Number, Text, Whole
from annotate.core.access import project_for_admin, project_for_reader
from annotate.core.models import Project
from annotate.core.page import request_user
from judges.core.access import (
    drafting_in,
    panel_in,
    project_for_judges,
    project_for_routing,
    proposal_in,
    search_in,
)
from judges.core.models import Drafting, Experiment, ExperimentVariant, Panel, PromptSearch, Proposal
from judges.laboratory.commands.draftings import discard_drafting, plan_drafting, start_drafting
from judges.laboratory.commands.experiments import plan_of_experiment, start_experiment
from judges.laboratory.commands.panels import change_panel, compute_panel, make_panel
from judges.laboratory.commands.proposals import (
    accept_proposal,
    dismiss_proposal,
    draw_parts,
    edit_proposal,
    propose_examples,
    propose_text,
    send_to_raters,
    undo_draw,
)
from judges.laboratory.commands.searches import cancel_search, plan_search, start_search
from judges.laboratory.factors import SCALES
from judges.laboratory.forms import (
    LONGEST_ADDITION,
    AcceptForm,
    ExperimentForm,
    PanelForm,
    PartsForm,
    ProposeForm,
    SearchForm,
    TextForm,
)
from judges.laboratory.queries.cases import parts_of, proposals_of
from judges.laboratory.queries.panels import PanelFigures, PanelValues, members_of, panel_figures
from judges.laboratory.queries.searches import DraftingState, SearchState, state_of_drafting, state_of_search
from judges.runs.api import PlanShape


def _dimension() -> Text:
    return Text(max_length=100, help_text="The key of a dimension whose values are amounts.")


DraftingInput = form_input(
    "DraftingInput",
    ProposeForm,
    without=("kind", "dimension", "nearest"),
    draft=ChoiceValue(
        choices=[Proposal.Kind.CLARIFICATION, Proposal.Kind.WORDING],
        default=Proposal.Kind.CLARIFICATION,
        help_text="What each proposal is.",
    ),
    dimension=_dimension(),
)
ExamplesInput = form_input(
    "ExamplesInput",
    ProposeForm,
    without=("kind", "drafter", "budget", "dimension"),
    dimension=_dimension(),
)
ProposalInput = form_input("ProposalInput", TextForm, without=("dimension",), dimension=_dimension())
ProposalText = form_input("ProposalText", AcceptForm)
SearchInput = form_input("SearchInput", SearchForm)


DocumentPartsInput = form_input("DocumentPartsInput", PartsForm)


class DocumentPartsRow(serializers.Serializer[Any]):
    """The division of the documents: for teaching, for selecting, and held out."""

    teach = serializers.IntegerField(help_text="Documents for teaching; 0 before the draw.")
    select = serializers.IntegerField(help_text="Documents for selecting.")
    held_out = serializers.IntegerField()
    documents = serializers.IntegerField()
    most = serializers.IntegerField(help_text="Number of documents that can still be selected.")
    advised = serializers.IntegerField(help_text="Recommended size of each of both parts.")
    in_use = serializers.CharField(help_text="Why the draw cannot be undone; empty where it can be.")


class ProposalRow(serializers.ModelSerializer[Proposal]):
    """A change of a judge's prompt on one dimension."""

    judge = serializers.CharField(source="judge.name")
    dimension = serializers.CharField(source="dimension.key")
    units = serializers.SerializerMethodField(help_text="Document and system of each unit it comes from.")
    candidate = serializers.IntegerField(
        source="candidate_id", allow_null=True, help_text="The judge whose prompt has it."
    )
    guideline_version = serializers.IntegerField(
        source="guideline.version", default=None, allow_null=True, help_text="In which raters read it."
    )

    def get_units(self, proposal: Proposal) -> list[list[str]]:
        return [[item.document.key, item.system.name] for item in proposal.items.all()]

    class Meta:
        model = Proposal
        fields = (
            *("id", "judge", "dimension", "kind", "status", "text", "about", "units", "problem"),
            *("drafted_by", "cost", "candidate", "guideline_version", "created_at", "decided_at"),
        )


class DecisionInput(Input):
    """The fields of a decision."""

    text = Text(
        required=False, max_length=LONGEST_ADDITION, help_text="To accept: as edited. Left out: as it is."
    )
    note = Text(required=False, max_length=500, help_text="To send: what changed and why.")


class BudgetOfStep(Input):
    """The budget of a step, from now on."""

    budget = Amount(required=False, min_value=0.0001, help_text="For all of it. Left out: as it is.")


class DraftingRow(serializers.ModelSerializer[Drafting]):
    """Proposals that a model drafts."""

    judge = serializers.CharField(source="judge.name")
    dimension = serializers.CharField(source="dimension.key")
    drafter = serializers.CharField(source="drafter.name")

    class Meta:
        model = Drafting
        fields = ("id", "judge", "dimension", "drafter", "status", "reason", "budget", "spent", "created_at")


class DraftingDetail(serializers.Serializer[DraftingState]):
    """A drafting, its progress, and the maximum number of remaining calls; a cost of null is unknown."""

    drafting = DraftingRow()
    total = serializers.IntegerField()
    done = serializers.IntegerField()
    failed = serializers.IntegerField()
    calls_left = serializers.IntegerField(source="left.calls")
    cost_left = serializers.DecimalField(source="left.cost", max_digits=20, decimal_places=8, allow_null=True)
    proposals = serializers.SerializerMethodField(help_text="Their ids.")

    def get_proposals(self, state: DraftingState) -> list[int]:
        return sorted(each.pk for each in state.drafting.proposals.all())


class PromptSearchRow(serializers.ModelSerializer[PromptSearch]):
    """A search for the wording that agrees best with people."""

    judge = serializers.CharField(source="judge.name")
    dimension = serializers.CharField(source="dimension.key")
    run = serializers.IntegerField(source="run_id", allow_null=True, help_text="Of the stage under way.")

    class Meta:
        model = PromptSearch
        fields = (
            *("id", "judge", "dimension", "status", "reason", "rounds", "round", "step", "stages", "stage"),
            *("planned_calls", "planned_cost", "most_calls", "budget", "run", "created_at"),
        )


class SearchCandidateRow(serializers.ModelSerializer[Proposal]):
    """A combination of proposals that a search tries."""

    judge = serializers.IntegerField(source="candidate_id", allow_null=True)
    parts = serializers.SerializerMethodField(help_text="Ids of the proposals that it combines.")

    def get_parts(self, candidate: Proposal) -> list[int]:
        return sorted(each.pk for each in candidate.parts.all())

    class Meta:
        model = Proposal
        fields = ("judge", "about", "parts", "dropped_after", "ranks")


class PromptSearchDetail(serializers.Serializer[SearchState]):
    """A search, its candidates, and what its runs have spent."""

    search = PromptSearchRow()
    progress = serializers.CharField(help_text="What happens now, or why it waits; empty where nothing does.")
    spent = serializers.DecimalField(max_digits=20, decimal_places=8)
    chosen = serializers.IntegerField(
        source="chosen.candidate_id", default=None, allow_null=True, help_text="The judge that it chose."
    )
    candidates = SearchCandidateRow(many=True)


class PartsOfProject(ApiView):
    """The documents for teaching and for selecting."""

    about = "alignment"

    @reads(DocumentPartsRow)
    def get(self, request: Request, slug: str) -> Response:
        """Show the division of the documents."""
        return Response(DocumentPartsRow(parts_of(project_for_reader(request.user, slug))).data)

    @writes(DocumentPartsRow, accepts=DocumentPartsInput, status=201)
    def post(self, request: Request, slug: str) -> Response:
        """Split the documents for teaching and for selecting; a part that has documents keeps them."""
        project = project_for_routing(request.user, slug)
        draw_parts(project=project, **self.check(DocumentPartsInput), by=request_user(request))
        return Response(DocumentPartsRow(parts_of(project)).data, status=201)

    @writes(None, status=204)
    def delete(self, request: Request, slug: str) -> Response:
        """Undo the split, unless other data depends on it."""
        undo_draw(project=project_for_routing(request.user, slug), by=request_user(request))
        return Response(status=204)


class Proposals(ApiView):
    """The proposals for judges of a project."""

    about = "alignment"

    @reads(ProposalRow, paged=True)
    def get(self, request: Request, slug: str) -> Response:
        """List proposals, without the combinations of searches."""
        return self.page(proposals_of(project_for_reader(request.user, slug)), ProposalRow)

    @writes(ProposalRow, accepts=ProposalInput, status=201)
    def post(self, request: Request, slug: str) -> Response:
        """Create a proposal with your own wording."""
        project = project_for_routing(request.user, slug)
        data = valid(TextForm(self.check(ProposalInput), project=project)).cleaned_data
        return _proposal(propose_text(**data, by=request_user(request)), status=201)


class ProposedExamples(ApiView):
    """Examples chosen from the development documents."""

    about = "alignment"

    @writes(ProposalRow, accepts=ExamplesInput, status=201)
    def post(self, request: Request, slug: str) -> Response:
        """Propose units as examples for a judge's prompt."""
        project = project_for_routing(request.user, slug)
        sent = self.check(ExamplesInput)
        # No model drafts examples, so any drafter is valid.
        sent |= {"kind": Proposal.Kind.EXAMPLES, "drafter": sent.get("judge")}
        form = valid(ProposeForm(sent, project=project))
        return _proposal(propose_examples(**form.examples(), by=request_user(request)), status=201)


class ProposalView(ApiView):
    """A proposal."""

    about = "alignment"

    @reads(ProposalRow)
    def get(self, request: Request, slug: str, pk: int) -> Response:
        """Show a proposal."""
        return _proposal(proposal_in(project_for_reader(request.user, slug), pk))

    @writes(ProposalRow, accepts=ProposalText)
    def patch(self, request: Request, slug: str, pk: int) -> Response:
        """Change the wording of an undecided proposal."""
        proposal = proposal_in(project_for_routing(request.user, slug), pk)
        text = self.check(ProposalText)["text"]
        return _proposal(edit_proposal(proposal=proposal, text=text, by=request_user(request)))


class ProposalStep(ApiView):
    """A decision on a proposal."""

    about = "alignment"
    steps = ("accept", "dismiss", "send")

    @writes(ProposalRow, accepts=DecisionInput)
    def post(self, request: Request, slug: str, pk: int, step: str) -> Response:
        """Accept it as a separate judge, dismiss it, or send an accepted clarification to the raters."""
        proposal = proposal_in(project_for_routing(request.user, slug), pk)
        given, by = self.check(DecisionInput), request_user(request)
        if step == "accept":
            accept_proposal(proposal=proposal, text=given.get("text", proposal.text), by=by)
        elif step == "dismiss":
            dismiss_proposal(proposal=proposal, by=by)
        else:
            send_to_raters(proposal=proposal, note=given.get("note", ""), by=by)
        return _proposal(proposal)


class Draftings(ApiView):
    """Draftings of models for judges of a project."""

    about = "alignment"

    @reads(DraftingRow, paged=True)
    def get(self, request: Request, slug: str) -> Response:
        """List draftings."""
        project = project_for_reader(request.user, slug)
        draftings = Drafting.objects.filter(judge__project=project, search=None)
        return self.page(draftings.select_related("judge", "dimension", "drafter"), DraftingRow)

    @writes(DraftingDetail, accepts=DraftingInput, status=201)
    def post(self, request: Request, slug: str) -> Response:
        """Plan a drafting; no model is called before its step `start`."""
        project = project_for_routing(request.user, slug)
        sent = self.check(DraftingInput)
        form = valid(ProposeForm({**sent, "kind": sent["draft"]}, project=project))
        return _drafting(plan_drafting(**form.drafting(), by=request_user(request)), status=201)


class DraftingView(ApiView):
    """A drafting."""

    about = "alignment"

    @reads(DraftingDetail)
    def get(self, request: Request, slug: str, pk: int) -> Response:
        """Show a drafting, its progress and the remaining calls."""
        return _drafting(drafting_in(project_for_reader(request.user, slug), pk))


class DraftingStep(ApiView):
    """A step of a drafting."""

    about = "alignment"
    steps = ("start", "discard")

    @writes(DraftingDetail, accepts=BudgetOfStep)
    def post(self, request: Request, slug: str, pk: int, step: str) -> Response:
        """Start the missing calls in a worker (`start`), or drop them (`discard`)."""
        project = project_for_routing(request.user, slug)
        drafting, by = drafting_in(project, pk), request_user(request)
        budget = _budget(self.check(BudgetOfStep))
        if step == "start":
            start_drafting(drafting=drafting, budget=budget, by=by)
        else:
            discard_drafting(drafting=drafting, by=by)
        return _drafting(drafting_in(project, pk))


class PromptSearches(ApiView):
    """Searches for better prompts of judges of a project."""

    about = "alignment"

    @reads(PromptSearchRow, paged=True)
    def get(self, request: Request, slug: str) -> Response:
        """List searches."""
        project = project_for_reader(request.user, slug)
        searches = PromptSearch.objects.filter(judge__project=project)
        return self.page(searches.select_related("judge", "dimension"), PromptSearchRow)

    @writes(PromptSearchDetail, accepts=SearchInput, status=201)
    def post(self, request: Request, slug: str) -> Response:
        """Plan a search over proposals; no model is called before its step `start`."""
        project = project_for_routing(request.user, slug)
        form = valid(SearchForm(self.check(SearchInput), project=project))
        return _search(plan_search(**form.values(), by=request_user(request)), status=201)


class PromptSearchView(ApiView):
    """A search for a better prompt."""

    about = "alignment"

    @reads(PromptSearchDetail)
    def get(self, request: Request, slug: str, pk: int) -> Response:
        """Show a search and its candidates."""
        return _search(search_in(project_for_reader(request.user, slug), pk))


class PromptSearchStep(ApiView):
    """A step of a search for a better prompt."""

    about = "alignment"
    steps = ("start", "cancel")

    @writes(PromptSearchDetail, accepts=BudgetOfStep)
    def post(self, request: Request, slug: str, pk: int, step: str) -> Response:
        """Start or resume it (`start`), or end it permanently (`cancel`)."""
        search, by = search_in(project_for_routing(request.user, slug), pk), request_user(request)
        budget = _budget(self.check(BudgetOfStep))
        if step == "start":
            start_search(search=search, budget=budget, by=by)
        else:
            cancel_search(search=search, by=by)
        return _search(search)


def _budget(sent: dict[str, Any]) -> Decimal | None:
    # Through text: a float would add digits that no admin entered.
    return None if sent.get("budget") is None else round(Decimal(str(sent["budget"])), 4)


def _proposal(proposal: Proposal, *, status: int = 200) -> Response:
    found = Proposal.objects.select_related("judge", "dimension", "guideline")
    loaded = found.prefetch_related("items__document", "items__system").get(pk=proposal.pk)
    return Response(ProposalRow(loaded).data, status=status)


def _drafting(drafting: Drafting, *, status: int = 200) -> Response:
    return Response(DraftingDetail(state_of_drafting(drafting)).data, status=status)


def _search(search: PromptSearch, *, status: int = 200) -> Response:
    return Response(PromptSearchDetail(state_of_search(search)).data, status=status)


class ExperimentInput(Input):
    """A judge, and the values of factors in addition to the judge's."""

    base = Whole(help_text="The id of the judge that is varied; it is one of the variants.")
    prompts = serializers.ListField(
        child=Text(max_length=60),
        required=False,
        help_text="Ids of prompts, in quotes, or shipped:KEY of a method or of a wording of it.",
    )
    models = serializers.ListField(
        child=serializers.RegexField(r"^[^,]+$", max_length=100), required=False, help_text="At its endpoint."
    )
    temperatures = serializers.ListField(child=Number(min_value=0, max_value=2), required=False)
    samples = serializers.ListField(child=Whole(min_value=1, max_value=100), required=False)
    scales = serializers.ListField(
        child=ChoiceValue(choices=list(SCALES)), required=False, help_text="Scales of its own."
    )
    orders = serializers.ListField(
        child=Text(max_length=20),
        required=False,
        help_text="Of the dimensions of one call, as a judge’s `call_order`, for methods that ask so.",
    )
    dimensions = serializers.ListField(
        child=Text(max_length=100), required=False, help_text="Keys. Left out: all scales."
    )
    documents = Whole(
        required=False, min_value=1, help_text="Size of a sample of the documents that results use."
    )
    budget = Amount(required=False, min_value=0.0001, help_text="Of the run.")


class FactorRow(serializers.Serializer[Any]):
    """A factor that an experiment varies."""

    key = serializers.CharField(help_text="Such as temperature.")
    levels = serializers.ListField(child=serializers.CharField(), help_text="The base judge's own first.")


class VariantRow(serializers.ModelSerializer[ExperimentVariant]):
    """A judge of an experiment."""

    id = serializers.IntegerField(source="judge_id", help_text="Of the judge.")
    name = serializers.CharField(source="judge.name")

    class Meta:
        model = ExperimentVariant
        fields = ("id", "name")


class ExperimentRow(serializers.ModelSerializer[Experiment]):
    """An experiment, by its run."""

    run = serializers.IntegerField(source="run_id")
    factors = FactorRow(many=True)
    judges = VariantRow(
        many=True, source="variants", help_text="One of each combination; the last factor changes fastest."
    )

    class Meta:
        model = Experiment
        fields = ("run", "factors", "judges")


def _read_experiment(project: Project, sent: dict[str, Any]) -> ExperimentForm:
    for name in ("models", "temperatures", "samples"):
        # The form, which checks both requests, has lists as text with commas.
        sent[name] = ", ".join(map(str, sent.get(name, ())))
    return valid(ExperimentForm(sent, project=project))


class Experiments(ApiView):
    """The experiments of a project."""

    about = "judges"

    @reads(ExperimentRow, paged=True)
    def get(self, request: Request, slug: str) -> Response:
        """List experiments."""
        project = project_for_judges(request.user, slug)
        found = Experiment.objects.filter(run__project=project).prefetch_related("variants__judge")
        return self.page(found.order_by("pk"), ExperimentRow)

    @writes(ExperimentRow, accepts=ExperimentInput, status=201)
    def post(self, request: Request, slug: str) -> Response:
        """Create the judge of each combination of values, and start one run of them all.

        A judge with the same prompt and settings is reused. Repeating the request starts nothing.
        """
        project = project_for_admin(request.user, slug)
        form, by = _read_experiment(project, self.check(ExperimentInput)), request_user(request)
        budget = form.cleaned_data["budget"]
        started = start_experiment(
            project=project, design=form.design(), budget=budget, by=by, **form.scope()
        )
        found = Experiment.objects.prefetch_related("variants__judge").get(pk=started.pk)
        return Response(ExperimentRow(found).data, status=201)


class ExperimentPreview(ApiView):
    """A preview of an experiment."""

    about = "judges"

    @writes(PlanShape, accepts=ExperimentInput)
    def post(self, request: Request, slug: str) -> Response:
        """Show the calls and cost of an experiment; nothing is written."""
        project = project_for_admin(request.user, slug)
        form = _read_experiment(project, self.check(ExperimentInput))
        return Response(PlanShape(plan_of_experiment(project, form.design(), **form.scope())).data)


PanelInput = form_input("PanelInput", PanelForm, usual={"rule": Panel.Rule.MEAN.value})


class PanelRow(serializers.ModelSerializer[Panel]):
    """A panel: several judges as one."""

    id = serializers.IntegerField(source="judge_id", help_text="The panel's id among judges.")
    name = serializers.CharField(source="judge.name")
    members = serializers.SerializerMethodField(help_text="The names of its judges.")

    class Meta:
        model = Panel
        fields = ("id", "name", "members", "rule", "development_share", "computed_at")

    def get_members(self, panel: Panel) -> list[str]:
        return [judge.name for judge in members_of(panel)]


class PanelDimensionRow(serializers.Serializer[Any]):
    """The values of a panel on a dimension."""

    dimension = serializers.CharField(source="dimension.key")
    values = serializers.SerializerMethodField(help_text="Items with a value.")
    mean_spread = serializers.FloatField(
        allow_null=True, help_text="The mean standard deviation among members; null without any."
    )
    weights = serializers.ListField(
        source="weights.weights",
        default=None,
        allow_null=True,
        child=serializers.FloatField(),
        help_text="Learned, in the order of the members.",
    )
    intercept = serializers.FloatField(source="weights.intercept", default=None, allow_null=True)
    problem = serializers.CharField(help_text="Why there are no values; empty if there are.")

    def get_values(self, found: PanelValues) -> int:
        return int((found.values == found.values).sum())  # nan differs from itself


class PanelDetail(serializers.Serializer[Any]):
    """A panel and what its members' present values come to."""

    panel = PanelRow()
    dimensions = PanelDimensionRow(many=True)
    development_documents = serializers.ListField(
        child=serializers.CharField(), help_text="Keys of the documents that weights are learned from."
    )


class Panels(ApiView):
    """The panels of a project."""

    about = "judges"

    @reads(PanelRow, paged=True)
    def get(self, request: Request, slug: str) -> Response:
        """List panels."""
        panels = Panel.objects.filter(judge__project=project_for_judges(request.user, slug))
        return self.page(panels.select_related("judge"), PanelRow)

    @writes(PanelDetail, accepts=PanelInput, status=201)
    def post(self, request: Request, slug: str) -> Response:
        """Make one judge of several and compute its values."""
        project = project_for_admin(request.user, slug)
        form = valid(PanelForm(self.check(PanelInput), project=project))
        made = make_panel(project=project, **form.values(), by=request_user(request))
        return _panel(made, panel_figures(made), status=201)


class PanelView(ApiView):
    """A panel."""

    about = "judges"

    @reads(PanelDetail)
    def get(self, request: Request, slug: str, pk: int) -> Response:
        """Show a panel and its values on each dimension."""
        found = panel_in(project_for_judges(request.user, slug), pk)
        return _panel(found, panel_figures(found))

    @writes(PanelDetail, accepts=PanelInput)
    def put(self, request: Request, slug: str, pk: int) -> Response:
        """Change a panel that nothing uses yet, and compute its values."""
        project = project_for_admin(request.user, slug)
        panel = panel_in(project, pk)
        form = valid(PanelForm(self.check(PanelInput), project=project))
        changed = change_panel(panel=panel, **form.values(), by=request_user(request))
        return _panel(changed, panel_figures(changed))


class ComputedPanel(ApiView):
    """The values of a panel."""

    about = "judges"

    @writes(PanelDetail)
    def post(self, request: Request, slug: str, pk: int) -> Response:
        """Compute the values from the members' present values; corrected ones stay."""
        panel = panel_in(project_for_admin(request.user, slug), pk)
        figures = compute_panel(panel=panel, by=request_user(request))
        return _panel(panel_in(panel.judge.project, pk), figures)


def _panel(panel: Panel, figures: PanelFigures, *, status: int = 200) -> Response:
    detail = {
        "panel": panel,
        "dimensions": figures.by_dimension,
        "development_documents": figures.development_documents,
    }
    return Response(PanelDetail(detail).data, status=status)
