"""What is drawn, proposed and decided."""

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from django import forms
from django.db.models import QuerySet
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from annotate.core.models import Dimension, Project
from judges.alignment.queries.cases import learning_dimensions, learning_judges, triable_proposals
from judges.alignment.wording import STYLES
from judges.core.models import Judge, Proposal
from judges.endpoints.queries import usable_judges
from judges.results.queries.pairings import scoring_judges

MOST_EXAMPLES = 12
MOST_CANDIDATES = 16
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


class DevelopmentForm(forms.Form):
    """How many of the documents are for learning."""

    percent = forms.IntegerField(
        label=_("Percent of the documents"),
        min_value=1,
        max_value=90,
        initial=30,
        help_text=_(
            "Drawn once, at random, by whole documents. No figure about judges uses them from then on."
        ),
    )

    @property
    def share(self) -> float:
        """The checked input as a share."""
        return float(self.cleaned_data["percent"]) / 100


class JudgeOnDimensionForm(forms.Form):
    """A judge, on a dimension."""

    judge = forms.ModelChoiceField(Judge.objects.none(), label=_("Judge"), empty_label=None)
    dimension = forms.ModelChoiceField(
        Dimension.objects.none(), label=_("Dimension"), empty_label=None, to_field_name="key"
    )

    def offer(self, name: str, rows: QuerySet[Any]) -> None:
        """Let a field choose among these rows."""
        field = self.fields[name]
        assert isinstance(field, forms.ModelChoiceField)
        field.queryset = rows


class PilotForm(JudgeOnDimensionForm):
    """Which judge is looked at, on which dimension; the first of each where nothing is chosen."""

    def __init__(self, entered: Mapping[str, Any], *, project: Project) -> None:
        judges, dimensions = scoring_judges(project), learning_dimensions(project)
        first, key = judges.first(), dimensions.first()
        usual = {"judge": first.pk if first else "", "dimension": key.key if key else ""}
        super().__init__({**usual, **{name: entered[name] for name in usual if name in entered}})
        self.offer("judge", judges.select_related("endpoint", "template"))
        self.offer("dimension", dimensions)
        self.has_judge = first is not None


class PromptChangeForm(JudgeOnDimensionForm):
    """Whose prompt is to change, on which dimension, and how."""

    kind = forms.ChoiceField(
        label=_("Propose"), choices=Proposal.Kind.choices, initial=Proposal.Kind.CLARIFICATION
    )

    def __init__(self, entered: Any, *, project: Project, auto_id: str = "id_%s") -> None:
        super().__init__(entered, auto_id=auto_id)
        self.offer("judge", learning_judges(project))
        self.offer("dimension", learning_dimensions(project))


class ProposeForm(PromptChangeForm):
    """A change that is drafted: by whom, how often, and for how much."""

    count = forms.IntegerField(
        label=_("At most"),
        min_value=1,
        max_value=MOST_EXAMPLES,
        initial=4,
        help_text=_(
            "Examples in one proposal; or clarifications (5 at most) or wordings (3 at most), each a "
            "proposal of its own."
        ),
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
        self.offer("drafter", usable_judges(project))

    @property
    def proposes_examples(self) -> bool:
        """Whether the checked input asks for examples."""
        return bool(self.cleaned_data["kind"] == Proposal.Kind.EXAMPLES)

    @property
    def drafts(self) -> int:
        """How many proposals the checked input lets a model draft."""
        return min(int(self.cleaned_data["count"]), MOST_DRAFTED[Proposal.Kind(self.cleaned_data["kind"])])


class StartForm(forms.Form):
    """What a drafting or search may cost from now on."""

    budget = _budget_field(_("For all of it, with what is spent already. Empty: as it is."))


class _ProposalsField(forms.ModelMultipleChoiceField):  # type: ignore[type-arg]
    """Proposals, each with its judge, its dimension and how it begins."""

    widget = forms.CheckboxSelectMultiple

    def label_from_instance(self, obj: Any) -> str:
        """Return what a proposal is called."""
        text = " ".join(obj.text.split())
        short = text if len(text) <= SHOWN else f"{text[: SHOWN - 1]}…"
        return f"{obj.get_kind_display()} {obj.pk} ({obj.judge.name}, {obj.dimension.name}): {short}"


class SearchForm(forms.Form):
    """Which proposals a search combines, how many combinations it tries, and what it may ask and cost."""

    proposals = _ProposalsField(
        Proposal.objects.none(),
        label=_("Proposals to combine"),
        help_text=_("For one judge and one dimension. They need not be accepted."),
    )
    most_candidates = forms.IntegerField(
        label=_("Candidates at most"),
        min_value=1,
        max_value=MOST_CANDIDATES,
        initial=8,
        help_text=_("Combinations of these proposals; each is a prompt version."),
    )
    most_calls = forms.IntegerField(
        label=_("Calls at most"),
        required=False,
        min_value=1,
        help_text=_("With fewer, fewer development documents are asked about. Empty: no limit."),
    )
    budget = _budget_field(_("For the whole search. Empty: no limit."))

    def __init__(self, entered: Any, *, project: Project) -> None:
        super().__init__(entered, auto_id="search_%s")  # beside another form with a budget
        field = self.fields["proposals"]
        assert isinstance(field, forms.ModelMultipleChoiceField)
        field.queryset = triable_proposals(project)

    def clean_proposals(self) -> list[Proposal]:
        """Return the proposals; refuse those of several judges or dimensions."""
        chosen = list(self.cleaned_data["proposals"])
        if len({(each.judge_id, each.dimension_id) for each in chosen}) > 1:
            raise forms.ValidationError(gettext("Choose proposals for one judge and one dimension."))
        return chosen


class TextForm(PromptChangeForm):
    """A change that a person wrote."""

    text = forms.CharField(
        label=_("Text"),
        max_length=20_000,
        widget=forms.Textarea(attrs={"rows": 6, "dir": "auto"}),
        help_text=_("What is added to the prompt; of a wording the whole prompt."),
    )

    def __init__(self, entered: Any, *, project: Project) -> None:
        # The page has another form with a judge and a dimension.
        super().__init__(entered, project=project, auto_id="own_%s")


class AcceptForm(forms.Form):
    """A proposal as a person edited it."""

    text = forms.CharField(
        label=_("Added to the prompt"), max_length=20_000, widget=forms.Textarea(attrs={"rows": 6})
    )


class SendForm(forms.Form):
    """Why raters get a new version of the guideline."""

    note = forms.CharField(label=_("What changed and why"), max_length=500)
