"""Forms of the laboratory: learning of judges, and experiments with variants."""

from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any

from django import forms
from django.db.models import QuerySet
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from annotate.core.guidelines import current_guideline
from annotate.core.models import Dimension, Project
from judges.core.models import CallOrder, Judge, Panel, PromptTemplate, Proposal
from judges.core.page import offer
from judges.endpoints.queries import shipped_prompt, templates_of, usable_judges
from judges.laboratory.cases import STYLES
from judges.laboratory.factors import SCALES, CrossedDesign, Factors, design_of, spec_of
from judges.laboratory.queries.cases import (
    learning_dimensions,
    learning_judges,
    proposals_of,
    triable_proposals,
)
from judges.laboratory.queries.panels import possible_members, share_for_teaching
from judges.methods import METHODS
from judges.methods.variants import VARIANTS
from judges.runs.queries.samples import MOST_DOCUMENTS, drawable_documents

MOST_EXAMPLES = 12
LONGEST_ADDITION = 80_000  # characters: a pool of examples with their documents
MOST_CANDIDATES = 16
MOST_ROUNDS = 6
USUAL_DOCUMENTS = 20  # of an experiment
SHOWN = 60  # characters of a proposal
MOST_DRAFTED = {Proposal.Kind.CLARIFICATION: 5, Proposal.Kind.WORDING: len(STYLES)}


def _budget_field(help_text: Any) -> forms.DecimalField:
    return forms.DecimalField(
        label=_("Budget"),
        required=False,
        max_digits=12,
        decimal_places=4,
        min_value=Decimal("0.0001"),
        help_text=help_text,
    )


class PartsForm(forms.Form):
    """The numbers of documents for teaching and for selecting."""

    teach = forms.IntegerField(
        label=_("Documents for teaching"),
        min_value=0,
        help_text=_("Examples and errors to learn from come from these."),
    )
    select = forms.IntegerField(
        label=_("Documents for selecting"),
        min_value=0,
        help_text=_("Prompts are ranked on these, so none of their ratings stands in a prompt."),
    )


class PanelForm(forms.Form):
    """Several judges as one: a name, the members, and how their values are combined."""

    name = forms.CharField(max_length=80, widget=forms.TextInput(attrs={"dir": "auto"}))
    members = forms.ModelMultipleChoiceField(
        Judge.objects.none(),
        widget=forms.CheckboxSelectMultiple,
        error_messages={"required": _("Choose at least two judges.")},
    )
    rule = forms.ChoiceField(label=_("How they combine"), choices=Panel.Rule.choices)
    development_percent = forms.IntegerField(
        label=_("Percent of the documents for learning weights"),
        required=False,
        min_value=1,
        max_value=90,
        help_text=_("For learned weights only. The panel has no values on these documents."),
    )

    def __init__(self, *args: Any, project: Project, **options: Any) -> None:
        super().__init__(*args, **options)
        offer(self, "members", possible_members(project))
        if share_for_teaching(project, Panel.Rule.WEIGHTS):  # weights are learned there
            del self.fields["development_percent"]

    def values(self) -> dict[str, Any]:
        entered = self.cleaned_data
        percent = entered.get("development_percent") if entered["rule"] == Panel.Rule.WEIGHTS else None
        return {
            "name": entered["name"],
            "members": list(entered["members"]),
            "rule": entered["rule"],
            "development_share": None if percent is None else percent / 100,
        }


class JudgeOnDimensionForm(forms.Form):
    """A judge, on a dimension."""

    judge = forms.ModelChoiceField(Judge.objects.none(), label=_("Judge"), empty_label=None)
    dimension = forms.ModelChoiceField(
        Dimension.objects.none(), label=_("Dimension"), empty_label=None, to_field_name="key"
    )


class AlignForm(JudgeOnDimensionForm):
    """The judge that learns, and the dimension; by default the ones of the latest proposal."""

    def __init__(self, entered: Mapping[str, Any], *, project: Project) -> None:
        judges, dimensions = learning_judges(project), learning_dimensions(project)
        latest = proposals_of(project).filter(judge__in=judges).first()
        first, key = judges.first(), dimensions.first()
        if latest:
            first, key = latest.judge, latest.dimension
        usual = {"judge": first.pk if first else "", "dimension": key.key if key else ""}
        # The form is always bound, so the first visit needs values, too.
        super().__init__({**usual, **{name: entered[name] for name in usual if name in entered}})
        offer(self, "judge", judges.select_related("endpoint", "template"))
        offer(self, "dimension", dimensions)
        self.has_judge = first is not None


class PromptChangeForm(JudgeOnDimensionForm):
    """The judge with the prompt to change, the dimension, and the kind of change."""

    kind = forms.ChoiceField(
        label=_("Propose"), choices=Proposal.Kind.choices, initial=Proposal.Kind.CLARIFICATION
    )

    def __init__(self, entered: Any, *, project: Project, auto_id: str = "id_%s") -> None:
        super().__init__(entered, auto_id=auto_id)
        offer(self, "judge", learning_judges(project))
        offer(self, "dimension", learning_dimensions(project))


class ProposeForm(PromptChangeForm):
    """The drafting of a change: the drafter, the number of proposals, and the budget."""

    count = forms.IntegerField(
        label=_("Maximum number"),
        min_value=1,
        max_value=MOST_EXAMPLES,
        initial=4,
        help_text=_(
            "Examples in one proposal; or clarifications (up to 5) or wordings (up to 3), each as"
            " a separate proposal."
        ),
    )
    nearest = forms.BooleanField(
        required=False,
        label=_("Choose examples for each item"),
        help_text=_("Each prompt shows the nearest of up to 30 examples, never of the item’s document."),
    )
    drafter = forms.ModelChoiceField(
        Judge.objects.none(),
        label=_("Drafted by the model of"),
        empty_label=None,
        help_text=_("Clarifications and wordings take one call each. Examples take none."),
    )
    budget = _budget_field(_("For these calls. Empty: no limit."))

    def __init__(self, entered: Any, *, project: Project) -> None:
        super().__init__(entered, project=project)
        offer(self, "drafter", usable_judges(project))

    @property
    def proposes_examples(self) -> bool:
        return bool(self.cleaned_data["kind"] == Proposal.Kind.EXAMPLES)

    def examples(self) -> dict[str, Any]:
        """Return the arguments of `propose_examples`, from valid input."""
        return {name: self.cleaned_data[name] for name in ("judge", "dimension", "count", "nearest")}

    def drafting(self) -> dict[str, Any]:
        """Return the arguments of `plan_drafting`, from valid input."""
        data = self.cleaned_data
        most = min(int(data["count"]), MOST_DRAFTED[Proposal.Kind(data["kind"])])
        return {name: data[name] for name in ("judge", "dimension", "kind", "drafter", "budget")} | {
            "most": most
        }


class StartForm(forms.Form):
    """The budget of a drafting or search, from now on."""

    budget = _budget_field(_("For the whole search, including past spending. Empty: unchanged."))


class _ProposalsField(forms.ModelMultipleChoiceField):  # type: ignore[type-arg]
    """Proposals, each labelled with its judge, its dimension and its first words."""

    widget = forms.CheckboxSelectMultiple

    def label_from_instance(self, obj: Any) -> str:
        text = " ".join(obj.text.split())
        short = text if len(text) <= SHOWN else f"{text[: SHOWN - 1]}…"
        return f"{obj.get_kind_display()} {obj.pk} ({obj.judge.name}, {obj.dimension.name}): {short}"


class SearchForm(forms.Form):
    """The proposals that a search combines, the number of rounds, and the limits on calls and cost."""

    proposals = _ProposalsField(
        Proposal.objects.none(),
        label=_("Proposals to combine"),
        help_text=_("For one judge and one dimension. They need not be accepted."),
    )
    most_candidates = forms.IntegerField(
        label=_("Maximum number of candidates"),
        min_value=1,
        max_value=MOST_CANDIDATES,
        initial=8,
        help_text=_("Combinations of these proposals in the first round."),
    )
    rounds = forms.IntegerField(
        label=_("Maximum number of rounds"),
        min_value=1,
        max_value=MOST_ROUNDS,
        initial=2,
        help_text=_(
            "Before each further round, a model drafts additions from the errors of the best candidate."
        ),
    )
    drafter = forms.ModelChoiceField(
        Judge.objects.none(),
        label=_("Drafted by the model of"),
        required=False,
        empty_label=_("the judge itself"),
    )
    most_calls = forms.IntegerField(
        label=_("Maximum number of calls"),
        required=False,
        min_value=1,
        help_text=_("With a lower limit, the search uses fewer documents. Empty: no limit."),
    )
    budget = _budget_field(_("For the whole search. Empty: no limit."))

    def __init__(
        self, entered: Any, *, project: Project, proposals: QuerySet[Proposal] | None = None
    ) -> None:
        super().__init__(entered, auto_id="search_%s")  # next to another form with a budget
        offer(self, "proposals", triable_proposals(project) if proposals is None else proposals)
        self.fields["proposals"].initial = proposals  # those of the displayed judge and dimension
        offer(self, "drafter", usable_judges(project))

    def clean_proposals(self) -> list[Proposal]:
        """Return the proposals; reject a selection with several judges or dimensions."""
        chosen = list(self.cleaned_data["proposals"])
        if len({(each.judge_id, each.dimension_id) for each in chosen}) > 1:
            raise forms.ValidationError(gettext("Choose proposals for one judge and one dimension."))
        return chosen

    def values(self) -> dict[str, Any]:
        """Return the arguments of `plan_search`, from valid input."""
        first = self.cleaned_data["proposals"][0]
        return {"judge": first.judge, "dimension": first.dimension, **self.cleaned_data}


class TextForm(PromptChangeForm):
    """A change that a person wrote."""

    text = forms.CharField(
        label=_("Text"),
        max_length=20_000,
        widget=forms.Textarea(attrs={"rows": 6, "dir": "auto"}),
        help_text=_("Text to add to the prompt. For another wording, the whole prompt."),
    )

    def __init__(self, entered: Any, *, project: Project) -> None:
        # The page has another form with a judge and a dimension.
        super().__init__(entered, project=project, auto_id="own_%s")


class AcceptForm(forms.Form):
    """A proposal as edited by a person."""

    text = forms.CharField(
        label=_("Added to the prompt"), max_length=LONGEST_ADDITION, widget=forms.Textarea(attrs={"rows": 6})
    )


class SendForm(forms.Form):
    """The reason for a new version of the raters' guideline."""

    note = forms.CharField(label=_("What changed and why"), max_length=500)


_SHIPPED = "shipped:"


class _ListField(forms.CharField):
    """Values separated by commas."""

    def __init__(self, of: Callable[[str], Any], message: object, **how: Any) -> None:
        super().__init__(required=False, max_length=400, **how)
        self._of, self._message = of, message

    def clean(self, value: Any) -> Any:
        parts = [part.strip() for part in super().clean(value).split(",")]
        try:
            # A value that is entered twice is one level.
            return list(dict.fromkeys(self._of(part) for part in parts if part))
        except ValueError as error:
            raise forms.ValidationError(str(self._message)) from error


def _temperature(written: str) -> float:
    if not 0 <= (value := float(written)) <= 2:
        raise ValueError
    return value


def _samples(written: str) -> int:
    if not 1 <= (value := int(written)) <= 100:
        raise ValueError
    return value


class ExperimentForm(forms.Form):
    """A base judge and the values of factors in addition to its own."""

    base = forms.ModelChoiceField(
        Judge.objects.none(),
        label=_("Judge that is varied"),
        empty_label=None,
        help_text=_("It is one of the variants; the others differ from it in what you choose below."),
    )
    prompts = forms.MultipleChoiceField(
        label=_("Other methods and wordings"),
        required=False,
        widget=forms.SelectMultiple(attrs={"size": 8}),
        help_text=_("Prompts of the project, and those included in Concord."),
    )
    models = _ListField(str, "", label=_("Other models"), help_text=_("With commas, at the same endpoint."))
    temperatures = _ListField(
        _temperature,
        _("Write numbers from 0 to 2 with commas between them."),
        label=_("Other temperatures"),
        help_text=_("With commas: 0.7, 1"),
    )
    samples = _ListField(
        _samples,
        _("Write whole numbers from 1 to 100 with commas between them."),
        label=_("Other numbers of samples"),
        help_text=_("With commas: 5, 20."),
    )
    scales = forms.MultipleChoiceField(
        label=_("Other scales"),
        required=False,
        choices=[(key, name) for key, (name, _settings) in SCALES.items()],
        widget=forms.CheckboxSelectMultiple,
    )
    orders = forms.MultipleChoiceField(
        label=_("Other orders of dimensions"),
        required=False,
        choices=CallOrder.choices,
        widget=forms.CheckboxSelectMultiple,
        help_text=_("Of judges that ask about several dimensions in one call."),
    )
    documents = forms.IntegerField(
        label=_("Documents"),
        required=False,
        min_value=1,
        max_value=MOST_DOCUMENTS,
    )
    dimensions = forms.MultipleChoiceField(
        label=_("Dimensions"), required=False, widget=forms.CheckboxSelectMultiple
    )
    budget = _budget_field(_("The run stops when it is used up. Empty: no limit."))

    def __init__(self, entered: Mapping[str, Any] | None, *, project: Project) -> None:
        super().__init__(entered, auto_id="experiment_%s")
        self._project = project
        self._templates = {str(each.pk): each for each in templates_of(project) if _scores(each.method)}
        prompts, dimensions = self.fields["prompts"], self.fields["dimensions"]
        assert isinstance(prompts, forms.MultipleChoiceField)
        assert isinstance(dimensions, forms.MultipleChoiceField)
        offer(self, "base", usable_judges(project).filter(method__in=filter(_scores, METHODS)))
        prompts.choices = [
            (gettext("Of this project"), [(key, str(each)) for key, each in self._templates.items()]),
            (
                gettext("As shipped"),
                [
                    (f"{_SHIPPED}{key}", _label(key))
                    for key in (*METHODS, *VARIANTS)
                    if _scores(shipped_prompt(key).method)
                ],
            ),
        ]
        scales = current_guideline(project).scales
        dimensions.choices = [(each.key, each.name) for each in scales]
        dimensions.initial = [each.key for each in scales]
        self._all_dimensions = dimensions.initial
        drawable = len(drawable_documents(project, self._all_dimensions))
        # 0 is no valid number, so the field stays empty without a document to sample.
        self.fields["documents"].initial = min(USUAL_DOCUMENTS, drawable) or None
        self.fields["documents"].help_text = gettext(
            "A random sample of the {count:,} documents that results use, of {all:,}. All variants judge the "
            "same. Empty: all {count:,}."
        ).format(count=drawable, all=project.documents.filter(items__isnull=False).distinct().count())

    def clean_dimensions(self) -> list[str]:
        """Return the selected dimensions, all if none is selected."""
        chosen: list[str] = self.cleaned_data["dimensions"]
        return chosen or self._all_dimensions

    def design(self) -> CrossedDesign:
        """Return the cleaned data as judges that cross factors. Raises InvalidValueError."""
        base = spec_of(self.cleaned_data["base"], list(self._project.dimensions.all()))
        data = self.cleaned_data
        factors = Factors(
            models=data["models"],
            prompts=dict(map(self._prompt, data["prompts"])),
            temperatures=data["temperatures"],
            samples=data["samples"],
            scales=data["scales"],
            orders=[CallOrder(each) for each in data["orders"]],
        )
        return design_of(base, factors)

    def scope(self) -> dict[str, Any]:
        data = self.cleaned_data
        # A number, because a scope without one has all documents, also the documents that results exclude.
        return {"dimensions": data["dimensions"], "documents": data["documents"] or MOST_DOCUMENTS}

    def _prompt(self, key: str) -> tuple[str, PromptTemplate | str]:
        if key.startswith(_SHIPPED):
            shipped = key.removeprefix(_SHIPPED)
            return _label(shipped), shipped
        return str(self._templates[key]), self._templates[key]


def _label(key: str) -> str:
    return str(shipped_prompt(key).label)


def _scores(method: str) -> bool:
    return not (METHODS[method].asks_pairs or METHODS[method].asks_kinds)
