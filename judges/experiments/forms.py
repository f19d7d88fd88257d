"""Which judge is varied, in what, and on how many documents it is tried."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from django import forms
from django.db.models import QuerySet
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from judges.core.models import CallOrder, Judge, PromptTemplate
from judges.endpoints.shipped import shipped_prompt
from judges.experiments.factors import SCALES, Factors
from judges.methods import METHODS
from judges.methods.variants import VARIANTS
from judges.runs.queries.samples import MOST_DOCUMENTS

_SHIPPED = "shipped:"


class _ListField(forms.CharField):
    """Values with commas between them."""

    def __init__(self, of: Callable[[str], Any], message: object, **how: Any) -> None:
        super().__init__(required=False, max_length=400, **how)
        self._of, self._message = of, message

    def clean(self, value: Any) -> Any:
        """Return the values, each once."""
        parts = [part.strip() for part in super().clean(value).split(",")]
        try:
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
    """A base judge and the values that factors take besides its own."""

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
        help_text=_("Prompts of the project, and those that Concord ships."),
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
        help_text=_("With commas: 5, 20. Fewer than a judge has need no run: see Laboratory, Samples."),
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
        initial=20,
        help_text=_("A random sample of so many, the same for all variants. Empty: all."),
    )

    def __init__(
        self,
        entered: Mapping[str, Any] | None,
        *,
        judges: QuerySet[Judge],
        templates: Iterable[PromptTemplate],
    ) -> None:
        super().__init__(entered)
        self._templates = {str(each.pk): each for each in templates}
        base, prompts = self.fields["base"], self.fields["prompts"]
        assert isinstance(base, forms.ModelChoiceField)
        assert isinstance(prompts, forms.MultipleChoiceField)
        base.queryset = judges
        prompts.choices = [
            (gettext("Of this project"), [(key, str(each)) for key, each in self._templates.items()]),
            (gettext("As shipped"), [(f"{_SHIPPED}{key}", _label(key)) for key in (*METHODS, *VARIANTS)]),
        ]

    def factors(self) -> Factors:
        """Return the checked input as what varies."""
        data = self.cleaned_data
        return Factors(
            models=data["models"],
            prompts=dict(map(self._prompt, data["prompts"])),
            temperatures=data["temperatures"],
            samples=data["samples"],
            scales=data["scales"],
            orders=[CallOrder(each) for each in data["orders"]],
        )

    def _prompt(self, key: str) -> tuple[str, PromptTemplate | str]:
        if key.startswith(_SHIPPED):
            shipped = key.removeprefix(_SHIPPED)
            return _label(shipped), shipped
        return str(self._templates[key]), self._templates[key]


def _label(key: str) -> str:
    return str(shipped_prompt(key).label)


def query_of_plan(judges: Sequence[Judge], documents: int | None) -> str:
    """Return what the address of the page that plans a run ends with, so that these are chosen there."""
    parts = [f"judges={judge.pk}" for judge in judges]
    return "&".join([*parts, f"documents={documents}"] if documents else parts)
