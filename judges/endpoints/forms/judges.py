"""A judge: whom it asks, with which prompt, how often."""

from collections.abc import Iterable
from typing import Any

from django import forms
from django.db.models import QuerySet
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from judges.core.models import Endpoint, Judge, PromptTemplate, ScoreFrom
from judges.core.specification import JudgeSpec
from judges.methods import METHODS

SHIPPED = "shipped:"
SCORE_FROM = [
    (ScoreFrom.TEXT, "the reply's text, as the published methods do"),
    (
        ScoreFrom.PROBABILITIES,
        "the probabilities of the scores, their mean (G-Eval); the server must give logprobs",
    ),
]


class JudgeForm(forms.Form):
    """Everything about a judge. The method is that of the chosen prompt."""

    name = forms.CharField(max_length=80, widget=forms.TextInput(attrs={"dir": "auto"}))
    endpoint = forms.ModelChoiceField(Endpoint.objects.none(), empty_label=None)
    model = forms.CharField(
        max_length=120,
        widget=forms.TextInput(attrs={"spellcheck": "false"}),
        help_text=_("As the server calls it. A version with a date can be asked again next year."),
    )
    template = forms.ChoiceField(
        label=_("Prompt"),
        help_text=_(
            "Says the method as well. A prompt as shipped can be changed on its own page afterwards."
        ),
    )
    score_from = forms.ChoiceField(
        label=_("The score is read from"), choices=SCORE_FROM, widget=forms.RadioSelect
    )
    structured = forms.BooleanField(
        label=_("Ask for JSON of a given shape"),
        required=False,
        help_text=_("Only if the server supports JSON schemas. The published methods do not need it."),
    )
    samples = forms.IntegerField(
        min_value=1, max_value=100, help_text=_("Judgments of each unit; their mean counts.")
    )
    temperature = forms.FloatField(
        min_value=0,
        max_value=2,
        widget=forms.NumberInput(attrs={"step": "any"}),
        help_text=_("0: always the likeliest reply. More than one sample needs more."),
    )
    max_tokens = forms.IntegerField(
        label=_("Longest reply in tokens"),
        required=False,
        min_value=1,
        max_value=100_000,
        help_text=_("Empty: what the method needs. A model that thinks before it answers needs much more."),
    )

    def __init__(
        self,
        *args: Any,
        endpoints: QuerySet[Endpoint],
        templates: Iterable[PromptTemplate],
        reads: bool = False,
        **kwargs: Any,
    ) -> None:
        super().__init__(*args, **kwargs)
        self._templates = {str(template.pk): template for template in templates}
        endpoint, template = self.fields["endpoint"], self.fields["template"]
        assert isinstance(endpoint, forms.ModelChoiceField)
        assert isinstance(template, forms.ChoiceField)
        endpoint.queryset = endpoints
        template.choices = _choices(self._templates)
        for field in self.fields.values():
            field.disabled = reads

    def clean(self) -> dict[str, Any]:
        """Refuse several samples that would all be alike."""
        data = self.cleaned_data
        if (data.get("samples") or 1) > 1 and data.get("temperature") == 0:
            self.add_error(
                "temperature", gettext("At temperature 0 all samples are alike; choose more, or one sample.")
            )
        return data

    def to_spec(self) -> JudgeSpec:
        """Return the checked input as what a command takes."""
        data = dict(self.cleaned_data)
        chosen: str = data.pop("template")
        if chosen.startswith(SHIPPED):
            return JudgeSpec(template=chosen.removeprefix(SHIPPED), **data)
        return JudgeSpec(template=self._templates[chosen], **data)


def initial_of(judge: Judge | None) -> dict[str, Any]:
    """Return what the form starts with: the judge as it is, or usual settings."""
    if judge is None:
        return {"temperature": 0, "samples": 1, "score_from": ScoreFrom.TEXT, "template": f"{SHIPPED}rts"}
    values = {name: getattr(judge, name) for name in JudgeForm.base_fields}
    return {**values, "temperature": f"{judge.temperature:g}", "template": str(judge.template_id)}


def _choices(templates: dict[str, PromptTemplate]) -> list[tuple[str, list[tuple[str, str]]]]:
    """Return the prompts of each method: its own text, and the project's."""
    groups = []
    for key, method in METHODS.items():
        own = [(pk, str(template)) for pk, template in templates.items() if template.method == key]
        groups.append((method.label, [(f"{SHIPPED}{key}", f"{method.label}, as shipped"), *own]))
    return groups
