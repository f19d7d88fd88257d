"""What a run is to judge, by whom, within which budget."""

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

from django import forms
from django.db.models import QuerySet
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from judges.core.models import Judge, Run
from judges.methods import METHODS
from judges.runs.queries.pairs import NamedPair, Pair


def _budget_field(help_text: str) -> forms.DecimalField:
    return forms.DecimalField(
        label=gettext("Budget"),
        required=False,
        min_value=Decimal("0.0001"),
        max_digits=12,
        decimal_places=4,
        help_text=help_text,
    )


class BudgetForm(forms.Form):
    """Another budget for a run."""

    budget = _budget_field("For the whole run, with what is spent already. Empty: no limit.")


def budget_of(run: Run) -> dict[str, str]:
    """Return what the form starts with: the run's budget, without noughts at its end."""
    return {} if run.budget is None else {"budget": f"{run.budget.normalize():f}"}


WAYS = [
    (Run.Via.CALLS, Run.Via.CALLS.label),
    (Run.Via.BATCH, f"{Run.Via.BATCH.label} (half the price, up to 24 hours)"),
]


class RunForm(forms.Form):
    """The scope of a run, the way it is asked, and its budget."""

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
            ("all", "all pairs"),
            ("neighbours", "neighbours in rank of human mean scores"),
            ("chosen", "chosen pairs"),
        ],
        widget=forms.RadioSelect,
        help_text=_("For judges that compare two texts. Each pair is asked in both orders."),
    )
    chosen_pairs = forms.MultipleChoiceField(
        label=_("Chosen pairs"), required=False, widget=forms.SelectMultiple(attrs={"size": 6})
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
        "The run stops when it is used up, and goes on with a larger one. Empty: no limit."
    )

    def __init__(
        self,
        entered: Mapping[str, Any] | None,
        *,
        judges: QuerySet[Judge],
        dimensions: Sequence[tuple[str, str]],
        pairs: Sequence[NamedPair],
    ) -> None:
        usual: dict[str, Any] = {
            "dimensions": [key for key, _ in dimensions],
            "pairs": "all",
            "via": Run.Via.CALLS,
        }
        super().__init__(entered, initial={**usual, "judges": list(judges)[:1]})
        self.compares = any(METHODS[judge.method].asks_pairs for judge in judges)
        self._pairs = {f"{each.pair[0]}-{each.pair[1]}": each for each in pairs}
        asked, scope, chosen = (self.fields[name] for name in ("judges", "dimensions", "chosen_pairs"))
        assert isinstance(asked, forms.ModelMultipleChoiceField)
        assert isinstance(scope, forms.MultipleChoiceField)
        assert isinstance(chosen, forms.MultipleChoiceField)
        asked.queryset, scope.choices = judges, dimensions
        chosen.choices = [(key, each.name) for key, each in self._pairs.items()]

    def clean(self) -> dict[str, Any]:
        """Refuse to compare without pairs."""
        data = self.cleaned_data
        compares = any(METHODS[judge.method].asks_pairs for judge in data.get("judges", ()))
        if compares and data.get("pairs") == "chosen" and not data.get("chosen_pairs"):
            self.add_error("chosen_pairs", gettext("Choose at least one pair of systems."))
        data["pairs"] = (data.get("pairs") or "all") if compares else ""
        return data

    def chosen(self) -> list[Pair]:
        """Return the pairs that were chosen one by one."""
        return [self._pairs[key].pair for key in self.cleaned_data["chosen_pairs"]]

    def all_pairs(self) -> list[Pair]:
        """Return all pairs there are."""
        return [each.pair for each in self._pairs.values()]
