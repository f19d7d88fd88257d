"""Forms of runs: scope, budget and corrections."""

from collections.abc import Mapping
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from django import forms
from django.db.models import Exists, OuterRef
from django.http import QueryDict
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from annotate.core.errors import InvalidValueError
from annotate.core.models import Project
from annotate.core.page import offer_choices, query_of
from annotate.items.forms import ItemFilterForm
from annotate.items.queries import select_keys
from judges.core.errors import invalid_field
from judges.core.models import Judge, Judgment, Run
from judges.core.specification import Scope
from judges.endpoints.queries import usable_judges
from judges.methods import METHODS
from judges.runs.queries.drift import LEAST_ITEMS, USUAL_DAYS, USUAL_ITEMS
from judges.runs.queries.judgments import AnswerSelection, Selection
from judges.runs.queries.samples import (
    MOST_DOCUMENTS,
    MOST_ITEMS,
    Pair,
    all_pairs,
    drawable_documents,
    neighbouring_pairs,
)

if TYPE_CHECKING:
    from django_stubs_ext import StrOrPromise

WAYS = [
    (Run.Via.CALLS, Run.Via.CALLS.label),
    (Run.Via.BATCH, _("the batch interface (half the price, up to 24 hours)")),
]
_was_asked = Exists(Judgment.objects.filter(judge=OuterRef("pk")))
_HOW = ("budget", "via", "keeps_messages", "reuses_answers")


def _budget_field(help_text: "StrOrPromise") -> forms.DecimalField:
    return forms.DecimalField(
        label=_("Budget"),
        required=False,
        # The smallest amount of the column: a budget of 0 would not allow the first call.
        min_value=Decimal("0.0001"),
        max_digits=12,
        decimal_places=4,
        help_text=help_text,
    )


class CorrectionForm(forms.Form):
    """The change of a judgment: another value, exclusion, or inclusion again; each with its reason."""

    value = forms.FloatField(required=False, label=_("Value"))
    note = forms.CharField(label=_("Reason"), required=False, widget=forms.Textarea(attrs={"rows": 2}))
    exclude = forms.BooleanField(required=False)
    include = forms.BooleanField(required=False)

    def clean(self) -> dict[str, Any]:
        """Require a value unless it is excluded or included again."""
        data = super().clean() or {}
        others = data.get("exclude") or data.get("include")
        if not others and data.get("value") is None and "value" not in self.errors:
            self.add_error("value", gettext("Write the value that you read in the reply."))
        return data


class WatchForm(forms.Form):
    """The number of items that a judge scores again, the interval, and the budget."""

    items = forms.IntegerField(
        label=_("Items"),
        min_value=LEAST_ITEMS,
        max_value=200,
        initial=USUAL_ITEMS,
        help_text=_("Of different documents, as far as there are enough. More items find smaller changes."),
    )
    days = forms.IntegerField(label=_("Days between checks"), min_value=1, max_value=365, initial=USUAL_DAYS)
    budget = _budget_field(_("For all checks together. Leave it empty for no limit."))


class JudgeChoiceForm(forms.Form):
    """One of a project's judges, or all of them."""

    judge = forms.ModelChoiceField(Judge.objects.none(), required=False, empty_label=_("all judges"))

    def __init__(self, entered: Mapping[str, Any] | None, *, project: Project) -> None:
        super().__init__(entered)
        judge = self.fields["judge"]
        assert isinstance(judge, forms.ModelChoiceField)
        judge.queryset = Judge.objects.filter(project=project).order_by("name")


class SelectionForm(JudgeChoiceForm):
    """The filter of answers, and the action on all of them: `shown` is the number on the page."""

    dimension = forms.ChoiceField(required=False)
    which = forms.ChoiceField(label=_("Answers"), required=False, choices=AnswerSelection.choices)
    act = forms.ChoiceField(required=False, choices=[("ask", "ask again"), ("exclude", "exclude")])
    shown = forms.IntegerField(required=False, min_value=0)
    note = forms.CharField(label=_("Reason"), required=False, widget=forms.Textarea(attrs={"rows": 2}))

    def __init__(self, entered: Mapping[str, Any], *, project: Project) -> None:
        super().__init__(entered, project=project)
        keys = project.dimensions.values_list("key", "name")
        offer_choices(self, "dimension", [("", gettext("all dimensions")), *keys])

    def selection(self) -> Selection:
        """Return the cleaned data as the selection of a query."""
        data, judge = self.cleaned_data, self.cleaned_data["judge"]
        which = AnswerSelection(data["which"] or AnswerSelection.ANSWERED)
        return Selection(judge and judge.pk, data["dimension"] or None, which)

    def query(self) -> str:
        """Return the selection as a URL query."""
        data, judge = self.cleaned_data, self.cleaned_data["judge"]
        parts = {"judge": judge and judge.pk, "dimension": data["dimension"], "which": data["which"]}
        return query_of(parts)


class RereadingForm(JudgeChoiceForm):
    """The judge with the stored replies to parse again."""


class BudgetForm(forms.Form):
    """Another budget for a run."""

    budget = _budget_field(_("For the whole run, with what is spent already. Empty: no limit."))


def budget_of(run: Run) -> dict[str, str]:
    """Return the initial values of the form: the run's budget, without trailing zeros."""
    return {} if run.budget is None else {"budget": f"{run.budget.normalize():f}"}


class RunForm(forms.Form):
    """The scope of a run, its interface, and its budget."""

    judges = forms.ModelMultipleChoiceField(
        Judge.objects.none(),
        widget=forms.CheckboxSelectMultiple,
        error_messages={"required": _("Choose at least one.")},
    )
    dimensions = forms.MultipleChoiceField(
        widget=forms.CheckboxSelectMultiple, error_messages={"required": _("Choose at least one.")}
    )
    pairs = forms.ChoiceField(
        label=_("Pairs of systems"),
        required=False,
        choices=[
            ("all", _("all pairs")),
            ("neighbours", _("neighbours in rank of human mean scores")),
            ("chosen", _("chosen pairs")),
        ],
        widget=forms.RadioSelect,
        help_text=_("For judges that compare two outputs. The judge sees each pair in both orders."),
    )
    chosen_pairs = forms.MultipleChoiceField(
        label=_("Chosen pairs"), required=False, widget=forms.SelectMultiple(attrs={"size": 6})
    )
    documents = forms.IntegerField(
        label=_("Number of documents"),
        required=False,
        min_value=1,
        max_value=MOST_DOCUMENTS,
        help_text=_("Size of a random sample of the documents that results use. Empty: all documents."),
    )
    items = forms.CharField(
        label=_("Only items of a filter"),
        required=False,
        max_length=2000,
        help_text=_(
            "The part of the item list's URL after “?” when you filter it, such as tag=hard. In "
            "comparisons, both outputs must match. Empty: all."
        ),
    )
    via = forms.TypedChoiceField(
        label=_("How to ask"),
        required=False,
        choices=WAYS,
        coerce=Run.Via,
        empty_value=Run.Via.CALLS,
        widget=forms.RadioSelect,
        help_text=_("Not every server has a batch interface; OpenAI’s has."),
    )
    budget = _budget_field(
        _("The run stops when it is used up, and goes on with a larger one. Empty: no limit.")
    )
    reuses_answers = forms.BooleanField(
        label=_("Reuse stored answers"),
        required=False,
        help_text=_(
            "Identical calls at temperature 0 (same endpoint, model, settings, messages) are answered from "
            "what this project has stored, and cost nothing."
        ),
    )
    keeps_messages = forms.BooleanField(
        label=_("Store the messages to the model"),
        required=False,
        help_text=_("With each judgment. Concord stores their hash and the parameters in any case."),
    )

    def __init__(
        self,
        entered: Mapping[str, Any] | None,
        *,
        project: Project,
        begins_with: Mapping[str, Any] | None = None,
    ) -> None:
        judges = usable_judges(project)
        dimensions = list(project.dimensions.values_list("key", "name"))
        usual: dict[str, Any] = {
            # A preview asks for none of these.
            "judges": lambda: list(judges.exclude(_was_asked)) or list(judges)[:1],
            "dimensions": [key for key, _ in dimensions],
            "pairs": "all",
            "via": Run.Via.CALLS,
        }
        super().__init__(entered, initial={**usual, **(begins_with or {})})
        self._project = project
        self.compares = any(METHODS[judge.method].asks_pairs for judge in judges)
        pairs = all_pairs(project)
        self._pairs = {f"{first}-{second}": (first, second) for first, second in pairs}
        asked = self.fields["judges"]
        assert isinstance(asked, forms.ModelMultipleChoiceField)
        asked.queryset = judges
        offer_choices(self, "dimensions", dimensions)
        offer_choices(self, "chosen_pairs", ((key, pairs[pair]) for key, pair in self._pairs.items()))
        # The help names how many documents there are, since only these can be sampled.
        drawable = len(drawable_documents(project, [key for key, _ in dimensions]))
        self.fields["documents"].help_text = gettext(
            "Size of a random sample of the {count:,} documents that results use: rated by people, outside "
            "development. A larger sample later only adds new items. Empty: all documents."
        ).format(count=drawable)

    def clean(self) -> dict[str, Any]:
        """Reject a comparison without pairs."""
        data = self.cleaned_data
        compares = any(METHODS[judge.method].asks_pairs for judge in data.get("judges", ()))
        if compares and data.get("pairs") == "chosen" and not data.get("chosen_pairs"):
            self.add_error("chosen_pairs", gettext("Choose at least one pair of systems."))
        # Pairs count only for judges that compare, whatever the page sent.
        data["pairs"] = (data.get("pairs") or "all") if compares else ""
        return data

    def clean_items(self) -> list[int] | None:
        """Return the ids of the items that the filter finds, None without one."""
        query = self.cleaned_data["items"].strip().lstrip("?")
        if not query:
            return None
        try:
            return filtered_items(self._project, query)
        except InvalidValueError as error:
            raise forms.ValidationError(error.message) from error

    def how(self) -> dict[str, Any]:
        """Return the settings of the run: budget, interface, storage and reuse."""
        return {name: self.cleaned_data[name] for name in _HOW}

    def scope(self) -> Scope:
        """Return the scope of a valid form. Raises RunRefusedError."""
        data, pairs = self.cleaned_data, list[Pair]()
        if data["pairs"] == "all":
            pairs = list(self._pairs.values())
        elif data["pairs"] == "neighbours":
            pairs = list(neighbouring_pairs(self._project))
        elif data["pairs"] == "chosen":
            pairs = [self._pairs[key] for key in data["chosen_pairs"]]
        judges, dimensions = list(data["judges"]), data["dimensions"]
        return Scope(judges, dimensions, pairs, data["documents"], items=data["items"])


def filtered_items(project: Project, query: str) -> list[int]:
    """Return the ids of the items that match a filter such as `tag=hard&system=gpt`. Up to four queries.

    Raises InvalidValueError for an unknown word, because an ignored filter would cost money.
    """
    entered = QueryDict(query)
    form = ItemFilterForm(entered, project=project, shows_systems=True)
    chosen = form.chosen
    # The number of the list's page is no filter, and people copy it with the URL.
    if unknown := [name for name in entered if name not in {*form.fields, "page"}] or list(form.errors):
        raise invalid_field("items", gettext("Items cannot be filtered by “{word}”.").format(word=unknown[0]))
    # A filter without effect is a mistake, and a run over everything would be paid.
    if not form.query:
        raise invalid_field("items", gettext("This filter finds all items: leave it empty for all."))
    found = select_keys(project, chosen)
    if not found:
        raise invalid_field("items", gettext("This filter finds no item."))
    if len(found) > MOST_ITEMS:
        message = gettext("This filter matches {count:,} items; choose up to {most:,}, or all.")
        raise invalid_field("items", message.format(count=len(found), most=MOST_ITEMS))
    return found
