"""A judge: whom it asks, with which prompt, how often."""

from collections.abc import Iterable, Sequence
from typing import Any

from django import forms
from django.db.models import QuerySet
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from annotate.core.models import Dimension, System
from judges.core.models import CallOrder, Endpoint, Judge, MaxTokensName, PromptTemplate, ScoreFrom
from judges.core.specification import JudgeSpec
from judges.endpoints.shipped import shipped_prompt, shipped_prompts_of
from judges.methods import METHODS
from judges.methods.variants import VARIANTS

SHIPPED = "shipped:"
MOST_STOPS = 4  # that OpenAI takes
NEW_LINE = "\\n"  # as it is typed
OWN_SCALE = ("scale_minimum", "scale_maximum", "scale_modifiers", "scale_thirds", "scale_table")
MORE = (
    "reference",
    "top_p",
    "seed",
    "max_tokens_name",
    "reasoning_effort",
    "system_message",
    "stop",
    "extra_body",
)
SCORE_FROM = [
    (ScoreFrom.TEXT, "the reply's text, as the published methods do"),
    (
        ScoreFrom.PROBABILITIES,
        "the probabilities of the scores, their mean (G-Eval); the server must give logprobs",
    ),
]


class _OptionalJSONField(forms.JSONField):
    """An empty field where there is nothing, which Django's own shows as “null”."""

    def prepare_value(self, value: Any) -> Any:
        """Return what is shown."""
        return "" if value is None or value == {} else super().prepare_value(value)


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
        required=False,
        min_value=0,
        max_value=2,
        widget=forms.NumberInput(attrs={"step": "any"}),
        help_text=_("0: always the likeliest reply. More than one sample needs more. Empty: not sent."),
    )
    max_tokens = forms.IntegerField(
        label=_("Longest reply in tokens"),
        required=False,
        min_value=1,
        max_value=100_000,
        help_text=_("Empty: what the method needs. A model that thinks before it answers needs much more."),
    )

    top_p = forms.FloatField(
        label="top_p",
        required=False,
        min_value=0.000001,
        max_value=1,
        widget=forms.NumberInput(attrs={"step": "any"}),
        help_text=_("Empty: not sent, as everything below."),
    )
    seed = forms.IntegerField(
        required=False,
        min_value=0,
        max_value=2**53,
        help_text=_("Of the first sample; each further one adds 1. Few servers keep to it exactly."),
    )
    max_tokens_name = forms.ChoiceField(
        label=_("Name of the longest reply"),
        required=False,
        choices=MaxTokensName.choices,
        help_text=_("One short call finds it out before the first run."),
    )
    reasoning_effort = forms.CharField(
        required=False,
        max_length=20,
        widget=forms.TextInput(attrs={"spellcheck": "false", "placeholder": "low"}),
        help_text=_("For models that think before they answer, in their server's words."),
    )
    stop = forms.CharField(
        label=_("Texts that end a reply"),
        required=False,
        strip=False,
        max_length=1000,
        widget=forms.Textarea(attrs={"rows": 2}),
        help_text=_("One on a line, at most four; \\n stands for a new line."),
    )
    system_message = forms.CharField(
        required=False,
        max_length=20_000,
        widget=forms.Textarea(attrs={"rows": 3, "dir": "auto"}),
        help_text=_("Sent before the prompt."),
    )
    extra_body = _OptionalJSONField(
        label=_("Further fields of the request"),
        required=False,
        widget=forms.Textarea(attrs={"rows": 2, "spellcheck": "false", "placeholder": '{"top_k": 20}'}),
        help_text=_("A JSON object that is sent as it is. Everyone who reads this project sees it: no keys."),
    )

    scale_minimum = forms.IntegerField(
        label=_("Own scale from"),
        required=False,
        min_value=-1000,
        max_value=1000,
        help_text=_("Empty: the scale of the dimension. Else the judge is asked and read on this one."),
    )
    scale_maximum = forms.IntegerField(label=_("to"), required=False, min_value=-1000, max_value=1000)
    scale_modifiers = forms.BooleanField(
        label=_("With “weak” and “strong”"),
        required=False,
        help_text=_(
            "“Weak 4” is 3.67 and “strong 4” is 4.33. The prompt must ask for it, as {{ answer }} does."
        ),
    )
    scale_thirds = forms.BooleanField(
        label=_("In thirds"),
        required=False,
        help_text=_("3, 3.33 and 3.67 are scores. The prompt must ask for it, as {{ answer }} does."),
    )
    scale_table = forms.CharField(
        label=_("Value of the dimension for each point"),
        required=False,
        max_length=10_000,
        widget=forms.TextInput(attrs={"spellcheck": "false", "placeholder": "1, 1, 2, 2, 3, 3, 4, 4, 5, 5"}),
        help_text=_("Of the own scale, from its lowest point, with commas. Empty: linear, ends to ends."),
    )

    asked_together = forms.CharField(
        label=_("Dimensions in one call"),
        required=False,
        max_length=5_000,
        widget=forms.TextInput(attrs={"dir": "auto"}),
        help_text=_(
            "For prompts that ask about several: their names in the order of the prompt, with commas. Empty: "
            "all, as they are listed."
        ),
    )
    call_order = forms.ChoiceField(label=_("Their order"), required=False, choices=CallOrder.choices)
    reference = forms.ChoiceField(
        label=_("Reference"),
        required=False,
        help_text=_("For prompts with {{ reference }}: the system whose text of the same document is shown."),
    )

    def __init__(
        self,
        *args: Any,
        endpoints: QuerySet[Endpoint],
        templates: Iterable[PromptTemplate],
        dimensions: Sequence[Dimension],
        systems: Sequence[System],
        reads: bool = False,
        **kwargs: Any,
    ) -> None:
        super().__init__(*args, **kwargs)
        self._dimensions = dimensions
        self._templates = {str(template.pk): template for template in templates}
        endpoint, template = self.fields["endpoint"], self.fields["template"]
        assert isinstance(endpoint, forms.ModelChoiceField)
        assert isinstance(template, forms.ChoiceField)
        reference = self.fields["reference"]
        assert isinstance(reference, forms.ChoiceField)
        self._systems = {system.name: system for system in systems}
        reference.choices = [("", gettext("none")), *((name, name) for name in self._systems)]
        endpoint.queryset = endpoints
        template.choices = _choices(self._templates)
        for field in self.fields.values():
            field.disabled = reads

    @property
    def has_own_scale(self) -> bool:
        """Whether a scale of its own is set, or refused."""
        return self._uses(*OWN_SCALE)

    @property
    def has_several(self) -> bool:
        """Whether dimensions of one call are named, or refused."""
        return self._uses("asked_together")

    @property
    def has_more(self) -> bool:
        """Whether any of the parameters is set, or refused, that few judges need."""
        return self._uses(*MORE)

    def _uses(self, *names: str) -> bool:
        return any(self[name].value() or self[name].errors for name in names)

    def clean(self) -> dict[str, Any]:
        """Refuse several samples that would all be alike."""
        data = self.cleaned_data
        if (data.get("samples") or 1) > 1 and data.get("temperature") == 0:
            self.add_error(
                "temperature", gettext("At temperature 0 all samples are alike; choose more, or one sample.")
            )
        return data

    def clean_scale_table(self) -> list[float]:
        """Return one number for each point."""
        parts = [part.strip() for part in self.cleaned_data["scale_table"].split(",")]
        try:
            return [float(part) for part in parts] if parts != [""] else []
        except ValueError:
            raise forms.ValidationError(gettext("Enter numbers with commas between them.")) from None

    def clean_asked_together(self) -> list[str]:
        """Return the keys of the dimensions that are named, by name or by key."""
        known = {each.key.casefold(): each.key for each in self._dimensions}
        known |= {each.name.casefold(): each.key for each in self._dimensions}
        parts = [part.strip() for part in self.cleaned_data["asked_together"].split(",")]
        if parts == [""]:
            return []
        if unknown := next((part for part in parts if part.casefold() not in known), None):
            raise forms.ValidationError(gettext("There is no dimension “{name}”.").format(name=unknown))
        keys = [known[part.casefold()] for part in parts]
        if len(set(keys)) < len(keys):
            raise forms.ValidationError(gettext("Name each dimension once."))
        return keys

    def clean_reference(self) -> System | None:
        """Return the system of this name."""
        return self._systems.get(self.cleaned_data["reference"])

    def clean_call_order(self) -> str:
        """Return the order, by default the same for all items."""
        return self.cleaned_data["call_order"] or CallOrder.FIXED

    def clean_stop(self) -> list[str]:
        """Return one text for each line, with the spaces that it was written with."""
        lines = self.cleaned_data["stop"].splitlines()
        texts = [line.replace(NEW_LINE, "\n") for line in lines if line]
        if len(texts) > MOST_STOPS:
            raise forms.ValidationError(gettext("At most four texts can end a reply."))
        return texts

    def clean_extra_body(self) -> dict[str, Any]:
        """Refuse JSON that is no object."""
        fields = self.cleaned_data["extra_body"]
        if fields is not None and not isinstance(fields, dict):
            raise forms.ValidationError(gettext("Enter a JSON object, in braces."))
        return fields or {}

    def to_spec(self) -> JudgeSpec:
        """Return the checked input as what a command takes."""
        data = dict(self.cleaned_data)
        chosen: str = data.pop("template")
        if chosen.startswith(SHIPPED):
            return JudgeSpec(template=chosen.removeprefix(SHIPPED), **data)
        return JudgeSpec(template=self._templates[chosen], **data)


def stop_lines(texts: Iterable[str]) -> str:
    """Return texts that end a reply as the form takes them."""
    return "\n".join(text.replace("\n", NEW_LINE) for text in texts)


def table_line(values: Iterable[float]) -> str:
    """Return a table of an own scale as the form takes it."""
    return ", ".join(f"{value:.15g}" for value in values)


def dimensions_line(names: Iterable[str]) -> str:
    """Return names or keys of dimensions as the form takes them."""
    return ", ".join(names)


def initial_of(
    judge: Judge | None, dimensions: Sequence[Dimension] = (), *, shipped: str = ""
) -> dict[str, Any]:
    """Return what the form starts with: the judge as it is, or usual settings.

    shipped: the key of a text as shipped, to start with the settings of the source of its method.
    """
    if judge is None:
        usual = {"temperature": 0, "samples": 1, "score_from": ScoreFrom.TEXT, "template": f"{SHIPPED}rts"}
        if shipped not in {*METHODS, *VARIANTS}:
            return usual
        settings = METHODS[shipped_prompt(shipped).method].usual_settings
        return {**usual, "template": f"{SHIPPED}{shipped}", **settings}
    values = {name: getattr(judge, name) for name in JudgeForm.base_fields}
    values["stop"] = stop_lines(judge.stop)
    values["scale_table"] = table_line(judge.scale_table)
    names = {each.pk: each.key if "," in each.name else each.name for each in dimensions}
    values["asked_together"] = dimensions_line(names[pk] for pk in judge.asked_together if pk in names)
    values["reference"] = judge.reference.name if judge.reference else ""
    values["temperature"] = "" if judge.temperature is None else f"{judge.temperature:g}"
    return {**values, "template": str(judge.template_id)}


def _choices(templates: dict[str, PromptTemplate]) -> list[tuple[str, list[tuple[str, str]]]]:
    """Return the prompts of each method: its texts as shipped, and the project's."""
    groups = []
    for key, method in METHODS.items():
        own = [(pk, str(template)) for pk, template in templates.items() if template.method == key]
        shipped = [(f"{SHIPPED}{each.key}", f"{each.label}, as shipped") for each in shipped_prompts_of(key)]
        groups.append((method.label, [*shipped, *own]))
    return groups
