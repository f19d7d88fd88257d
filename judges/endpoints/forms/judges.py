"""Forms of a judge, its prompt, and the item of a prompt's preview."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from django import forms
from django.core.files.uploadedfile import UploadedFile
from django.db.models import QuerySet
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from annotate.core.errors import InvalidValueError
from annotate.core.models import Dimension, Project, System
from annotate.core.page import offer_choices
from judges.core.judge_settings import JUDGE_SETTINGS, SettingSection, names_of_settings
from judges.core.models import CallOrder, Endpoint, Judge, PromptTemplate, ScoreFrom
from judges.core.specification import JudgeSpec
from judges.endpoints.commands import refuse_text
from judges.endpoints.queries import (
    SHIPPED_PROMPTS,
    endpoints_of,
    has_structured_output,
    shipped_prompts_of,
    templates_of,
)
from judges.methods import METHODS
from judges.methods.reading.reader import LONGEST, problem_of_pattern

SHIPPED = "shipped:"
PAIR = "pair"
PAIR_METHODS = {"rts": "RTS", "mcq": "MCQ"}
"""The methods of the judges that the indicator R compares, with the suffix of each judge's name."""
# A name has up to 80 characters, and the suffix needs a space and three letters.
LONGEST_NAME_OF_PAIR = 76
MOST_STOPS = 4  # that OpenAI takes
NEW_LINE = "\\n"  # in the user's notation
FOLDED = (SettingSection.OWN_SCALE, SettingSection.SEVERAL, SettingSection.MORE)
# An unbound form has the default value, a bound one None or an empty string.
_UNSET = {each.name: (None, "", each.default) for each in JUDGE_SETTINGS}
LARGEST_FILE = 200_000
LONGEST_TEXT = 100_000


class JudgeForm(forms.Form):
    """All settings of a judge.

    The selected prompt determines the method; `JUDGE_SETTINGS` are added below.
    """

    name = forms.CharField(max_length=80, widget=forms.TextInput(attrs={"dir": "auto"}))
    endpoint = forms.ModelChoiceField(Endpoint.objects.none(), empty_label=None)
    model = forms.CharField(
        max_length=120,
        widget=forms.TextInput(attrs={"spellcheck": "false"}),
        help_text=_("The server's name of the model. A version with a date stays available longer."),
    )
    template = forms.ChoiceField(
        label=_("Prompt"),
        help_text=_(
            "Says the method as well. A prompt as shipped can be changed on its own page afterwards."
        ),
    )

    def __init__(
        self,
        *args: Any,
        project: Project,
        is_new: bool,
        reads: bool = False,
        may_be_pair: bool = False,
        **kwargs: Any,
    ) -> None:
        super().__init__(*args, **kwargs)
        self._dimensions = list(project.dimensions.all())
        self._templates = {str(template.pk): template for template in templates_of(project)}
        endpoint = self.fields["endpoint"]
        assert isinstance(endpoint, forms.ModelChoiceField)
        self._systems = {system.name: system for system in project.systems.order_by("name")}
        offer_choices(self, "reference", [("", gettext("none")), *((name, name) for name in self._systems)])
        # A judge with an archived endpoint still shows it.
        endpoint.queryset = endpoints_of(project, archived=False if is_new else None)
        # A pair consists of two shipped prompts, so it is offered for new judges only.
        pair = [(PAIR, gettext("RTS + MCQ: two judges, which the indicator R compares"))]
        offer_choices(self, "template", [*(pair if may_be_pair else ()), *_choices(self._templates)])
        # Django ignores submitted values of a disabled field, so readers can change nothing.
        for field in self.fields.values():
            field.disabled = reads

    @property
    def sections(self) -> dict[str, list[forms.BoundField]]:
        return {section: [self[name] for name in names_of_settings(section)] for section in SettingSection}

    @property
    def open_sections(self) -> set[str]:
        """Folded sections with an error, or with a setting that differs from a new judge."""
        return {
            section
            for section, fields in self.sections.items()
            if section in FOLDED
            and any(field.errors or field.value() not in _UNSET[field.name] for field in fields)
        }

    def clean(self) -> dict[str, Any]:
        """Reject several samples at temperature 0, and a name that is too long for a pair."""
        data = self.cleaned_data
        # Samples without randomness would be paid and add nothing.
        if (data.get("samples") or 1) > 1 and data.get("temperature") == 0:
            self.add_error(
                "temperature", gettext("At temperature 0 all samples are alike; choose more, or one sample.")
            )
        if data.get("template") == PAIR and len(data.get("name", "")) > LONGEST_NAME_OF_PAIR:
            message = gettext("RTS or MCQ is added to the name; use at most {count} characters.")
            self.add_error("name", message.format(count=LONGEST_NAME_OF_PAIR))
        return data

    def clean_scale_table(self) -> list[float]:
        """Return one number for each point."""
        parts = [part.strip() for part in self.cleaned_data["scale_table"].split(",")]
        try:
            return [float(part) for part in parts] if parts != [""] else []
        except ValueError:
            raise forms.ValidationError(gettext("Enter numbers with commas between them.")) from None

    def clean_asked_together(self) -> list[str]:
        """Return the keys of the dimensions entered by name or key."""
        known = {each.key.casefold(): each.key for each in self._dimensions}
        # Names come last: a name wins over the key of another dimension.
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
        return self._systems.get(self.cleaned_data["reference"])

    def clean_call_order(self) -> str:
        """Return the order, by default the same for all items."""
        return self.cleaned_data["call_order"] or CallOrder.FIXED

    def clean_stop(self) -> list[str]:
        """Return one stop sequence per line, including its spaces."""
        lines = self.cleaned_data["stop"].splitlines()
        texts = [line.replace(NEW_LINE, "\n") for line in lines if line]
        if len(texts) > MOST_STOPS:
            raise forms.ValidationError(gettext("You can enter up to four stop sequences."))
        return texts

    def clean_extra_body(self) -> dict[str, Any]:
        fields = self.cleaned_data["extra_body"]
        if fields is not None and not isinstance(fields, dict):
            raise forms.ValidationError(gettext("Enter a JSON object, in braces."))
        return fields or {}

    def to_spec(self) -> JudgeSpec:
        data = dict(self.cleaned_data)
        chosen: str = data.pop("template")
        if chosen.startswith(SHIPPED):
            return JudgeSpec(template=chosen.removeprefix(SHIPPED), **data)
        return JudgeSpec(template=self._templates[chosen], **data)

    def to_pair(self) -> list[JudgeSpec]:
        """Return two judges that differ only in name and prompt; empty if one judge was selected."""
        data = dict(self.cleaned_data)
        name, chosen = data.pop("name"), data.pop("template")
        methods = PAIR_METHODS if chosen == PAIR else {}
        return [JudgeSpec(name=f"{name} {short}", template=key, **data) for key, short in methods.items()]


# Django collects the fields of a class body only, and these exist in one list.
JudgeForm.base_fields |= {each.name: each.field for each in JUDGE_SETTINGS}


def stop_lines(texts: Iterable[str]) -> str:
    return "\n".join(text.replace("\n", NEW_LINE) for text in texts)


def table_line(values: Iterable[float]) -> str:
    """Return a table of an own scale in the form's notation."""
    # With 15 digits every entered number returns unchanged, without the error of its binary form.
    return ", ".join(f"{value:.15g}" for value in values)


def dimensions_line(names: Iterable[str]) -> str:
    """Return names or keys of dimensions in the form's notation."""
    return ", ".join(names)


def initial_judge(
    judge: Judge | None,
    dimensions: Sequence[Dimension] = (),
    *,
    shipped: str = "",
    endpoint: Endpoint | None = None,
) -> dict[str, Any]:
    """Return the form's initial values: the judge's settings, or the usual ones.

    shipped: the key of a shipped prompt; the form starts with the settings of its method's source. endpoint:
    of a new judge, which gets structured output if its server supports it.
    """
    if judge is None:
        usual = {"temperature": 0, "samples": 1, "score_from": ScoreFrom.TEXT, "template": f"{SHIPPED}rts"}
        usual |= {"asks_again": True, "structured": bool(endpoint and has_structured_output(endpoint))}
        if shipped not in SHIPPED_PROMPTS:
            return usual
        settings = METHODS[SHIPPED_PROMPTS[shipped].method].usual_settings
        return {**usual, "template": f"{SHIPPED}{shipped}", **settings}
    values = {name: getattr(judge, name) for name in JudgeForm.base_fields}
    values["stop"] = stop_lines(judge.stop)
    values["scale_table"] = table_line(judge.scale_table)
    # A name with a comma would be read as two, so its key is shown.
    names = {each.pk: each.key if "," in each.name else each.name for each in dimensions}
    values["asked_together"] = dimensions_line(names[pk] for pk in judge.asked_together if pk in names)
    values["reference"] = judge.reference.name if judge.reference else ""
    values["temperature"] = "" if judge.temperature is None else f"{judge.temperature:g}"
    return {**values, "template": str(judge.template_id)}


def _choices(templates: dict[str, PromptTemplate]) -> list[tuple[str, list[tuple[str, str]]]]:
    """Return the prompts of each method: the shipped ones, and the project's."""
    groups = []
    for key, method in METHODS.items():
        own = [(pk, str(template)) for pk, template in templates.items() if template.method == key]
        shipped = [
            (f"{SHIPPED}{prompt.key}", f"{title}, as shipped") for prompt, title in shipped_prompts_of(key)
        ]
        groups.append((method.title(), [*shipped, *own]))
    return groups


class TemplateForm(forms.Form):
    """A template's name and prompt, or one dimension's wording; an uploaded file replaces the prompt."""

    name = forms.CharField(max_length=80, widget=forms.TextInput(attrs={"dir": "auto"}))
    text = forms.CharField(
        required=False,
        strip=False,
        max_length=LONGEST_TEXT,
        widget=forms.Textarea(attrs={"rows": 22, "dir": "auto", "spellcheck": "false", "class": "code"}),
    )
    file = forms.FileField(
        label=_("Or upload a file"),
        required=False,
        help_text=_(
            "Plain UTF-8 file. Concord uses it word for word, with the placeholders in double braces."
        ),
    )

    pattern = forms.CharField(
        label=_("Pattern of the answer"),
        required=False,
        max_length=LONGEST,
        widget=forms.TextInput(attrs={"spellcheck": "false", "placeholder": r"Final grade: (\w+)"}),
        help_text=_(
            "For replies that the rules cannot read: a regular expression. Its last match counts, of it the "
            "first group. Empty: the rules. Not for JSON of a given shape, nor for probabilities."
        ),
    )
    replies = forms.CharField(
        label=_("Replies to try it on"),
        required=False,
        widget=forms.Textarea(attrs={"rows": 4, "dir": "auto", "spellcheck": "false"}),
        help_text=_("Paste some; a line of three dashes divides them. They are not saved."),
    )

    def __init__(
        self,
        *args: Any,
        method: str,
        named: bool = False,
        of_dimension: bool = False,
        reads: bool = False,
        **kwargs: Any,
    ) -> None:
        super().__init__(*args, **kwargs)
        self.method = method
        if named:
            del self.fields["name"]
        if of_dimension or METHODS[method].takes_steps:  # no single reply has the value
            del self.fields["pattern"], self.fields["replies"]
        for field in self.fields.values():
            field.disabled = reads

    def clean_file(self) -> str:
        file: UploadedFile[Any] | None = self.cleaned_data["file"]
        if file is None:
            return ""
        if (file.size or 0) > LARGEST_FILE:
            raise forms.ValidationError(gettext("This file is too large for a prompt."))
        try:
            # Editors may write a byte order mark, which is no part of the prompt.
            text: str = file.read().decode("utf-8-sig")
        except UnicodeDecodeError:
            raise forms.ValidationError(gettext("This file is not valid UTF-8; save it as UTF-8.")) from None
        return text

    def clean_pattern(self) -> str:
        pattern: str = self.cleaned_data["pattern"]
        if problem := problem_of_pattern(pattern):
            raise forms.ValidationError(problem)
        return pattern

    def clean(self) -> dict[str, Any]:
        """Reject placeholders that the method does not support, or missing ones that it needs."""
        data = self.cleaned_data
        text = data.get("file") or data.get("text", "")
        # Browsers send line ends as two characters, and the same prompt must have one text.
        data["text"] = text.replace("\r\n", "\n")
        if not self.errors:
            try:
                refuse_text(self.method, data["text"])
            except InvalidValueError as error:
                self.add_error("text", error.message)
        return data


class StepsForm(forms.Form):
    """The judge with the model that writes evaluation steps."""

    judge = forms.ModelChoiceField(
        Judge.objects.none(), label=_("Judge with the model to use"), empty_label=None
    )

    def __init__(self, entered: Mapping[str, Any] | None, *, judges: QuerySet[Judge]) -> None:
        super().__init__(entered)
        field = self.fields["judge"]
        assert isinstance(field, forms.ModelChoiceField)
        field.queryset = judges


class ShownOnForm(forms.Form):
    """The item and dimension of a prompt preview; invalid values fall back to the first ones."""

    on_dimension = forms.ChoiceField(label=_("Dimension"), required=False)
    on_item = forms.IntegerField(label=_("Item"), required=False, min_value=1, initial=1)

    def __init__(self, *args: Any, dimensions: list[tuple[str, str]], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        offer_choices(self, "on_dimension", dimensions)

    def preview_choice(self, dimension: str = "") -> dict[str, Any]:
        """Return the dimension's key and the item's number, as a preview expects them.

        dimension: the only one to show it on, if there is one.
        """
        # The call fills `cleaned_data` with the valid fields; its result does not matter.
        self.is_valid()
        data = self.cleaned_data if self.is_bound else {}
        chosen = dimension or data.get("on_dimension") or ""
        return {"dimension": chosen, "number": data.get("on_item") or 1}
