"""The settings of a judge, each declared once.

Forms, the API, exports, restored projects, the audit log, certificates, comparisons and experiments read
`JUDGE_SETTINGS`. `Judge` stores the settings and `JudgeSpec` types them; a test compares both with the list.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from django import forms
from django.db import models
from django.utils.translation import gettext_lazy as _

from annotate.core.models import text_digest
from annotate.exports.registry import ValueKind
from judges.core.models import CallOrder, Judge, MaxTokensName, ScoreFrom

if TYPE_CHECKING:
    from django_stubs_ext import StrOrPromise


class SettingSection(StrEnum):
    READING = "reading"
    SAMPLING = "sampling"
    OWN_SCALE = "own_scale"
    SEVERAL = "several"
    MORE = "more"


@dataclass(frozen=True)
class Setting:
    """A setting of a judge, which is a field of `Judge` and `JudgeSpec`.

    field: its form field; the label names the setting on every page. meaning, kind: of its column in an
    export. binds: whether certificates bind it by itself; the fields of an own scale are bound together.
    """

    name: str
    section: SettingSection
    field: forms.Field
    meaning: str
    kind: ValueKind = ValueKind.TEXT
    binds: bool = True

    @property
    def default(self) -> Any:
        column = Judge._meta.get_field(self.name)
        assert isinstance(column, models.Field)
        return column.get_default()


class OptionalJSONField(forms.JSONField):
    """A JSON field that is blank when empty; Django's own shows “null”."""

    def prepare_value(self, value: Any) -> Any:
        return "" if value is None or value == {} else super().prepare_value(value)


def _code(placeholder: str = "", **attributes: str) -> forms.TextInput:
    return forms.TextInput(attrs={"spellcheck": "false", "placeholder": placeholder, **attributes})


def _any_number() -> forms.NumberInput:
    # Without `step`, browsers accept whole numbers only.
    return forms.NumberInput(attrs={"step": "any"})


JUDGE_SETTINGS = (
    Setting(
        "temperature",
        SettingSection.SAMPLING,
        forms.FloatField(
            label=_("Temperature"),
            required=False,
            min_value=0,
            max_value=2,
            widget=_any_number(),
            help_text=_("0: always the likeliest reply. More than one sample needs more. Empty: not sent."),
        ),
        "Sampling temperature; empty if not sent.",
        ValueKind.NUMBER,
    ),
    Setting(
        "samples",
        SettingSection.SAMPLING,
        forms.IntegerField(
            label=_("Samples"),
            min_value=1,
            max_value=100,
            help_text=_("Judgments of each unit; their mean counts."),
        ),
        "Number of judgments per unit.",
        ValueKind.INTEGER,
    ),
    Setting(
        "max_tokens",
        SettingSection.SAMPLING,
        forms.IntegerField(
            label=_("Maximum output tokens"),
            required=False,
            min_value=1,
            max_value=100_000,
            help_text=_("Leave empty to use the default of the method. A reasoning model needs much more."),
        ),
        "Token limit of a reply.",
        ValueKind.INTEGER,
    ),
    Setting(
        "max_tokens_name",
        SettingSection.MORE,
        forms.ChoiceField(
            label=_("Name of the token limit"),
            required=False,
            choices=MaxTokensName.choices,
            help_text=_("One short call finds it out before the first run."),
        ),
        "The server's name of that limit: `max_tokens` or `max_completion_tokens`; empty if unknown.",
        binds=False,
    ),
    Setting(
        "score_from",
        SettingSection.READING,
        forms.ChoiceField(
            label=_("Score source"),
            choices=[
                (ScoreFrom.TEXT, _("the reply's text, as the published methods do")),
                (
                    ScoreFrom.PROBABILITIES,
                    _("the probabilities of the scores, their mean (G-Eval); the server must give logprobs"),
                ),
            ],
            widget=forms.RadioSelect,
        ),
        "`text` or `probabilities`.",
    ),
    Setting(
        "structured",
        SettingSection.READING,
        forms.BooleanField(
            label=_("Structured output (JSON)"),
            required=False,
            help_text=_("Only if the server supports JSON schemas. The published methods do not need it."),
        ),
        "Whether replies are JSON of a given schema.",
        ValueKind.FLAG,
    ),
    Setting(
        "asks_again",
        SettingSection.READING,
        forms.BooleanField(
            label=_("Follow up unreadable replies"),
            required=False,
            help_text=_(
                "One more call in the same conversation: “State only the score.” Each counts and costs as a "
                "call. Replies that are read by probabilities are not followed up."
            ),
        ),
        "Whether a reply without a readable score is followed up by one more call.",
        ValueKind.FLAG,
    ),
    Setting(
        "top_p",
        SettingSection.MORE,
        forms.FloatField(
            label=_("Top p"),
            required=False,
            min_value=0.000001,
            max_value=1,
            widget=_any_number(),
            help_text=_("Empty: not sent, as everything below."),
        ),
        "Top p of sampling; empty if not sent.",
        ValueKind.NUMBER,
    ),
    Setting(
        "seed",
        SettingSection.MORE,
        forms.IntegerField(
            label=_("Seed"),
            required=False,
            min_value=0,
            # Larger integers lose digits where JSON numbers are doubles, as in browsers.
            max_value=2**53,
            help_text=_("Of the first sample; each further one adds 1. Few servers keep to it exactly."),
        ),
        "Seed of the first sample; each further sample adds 1.",
        ValueKind.INTEGER,
    ),
    Setting(
        "stop",
        SettingSection.MORE,
        forms.CharField(
            label=_("Stop sequences"),
            required=False,
            # A stop sequence may be a line end, or start with a space.
            strip=False,
            max_length=1000,
            widget=forms.Textarea(attrs={"rows": 2}),
            help_text=_("One per line, up to four; \\n is a new line."),
        ),
        "Stop sequences: a list.",
        ValueKind.LISTED,
    ),
    Setting(
        "reasoning_effort",
        SettingSection.MORE,
        forms.CharField(
            label=_("Reasoning effort"),
            required=False,
            max_length=20,
            widget=_code("low"),
            help_text=_("For models that think before they answer, in their server's words."),
        ),
        "Reasoning effort, in the server's words.",
    ),
    Setting(
        "system_message",
        SettingSection.MORE,
        forms.CharField(
            label=_("System message"),
            required=False,
            max_length=20_000,
            widget=forms.Textarea(attrs={"rows": 3, "dir": "auto"}),
            help_text=_("Sent before the prompt."),
        ),
        "Message before the prompt.",
    ),
    Setting(
        "extra_body",
        SettingSection.MORE,
        OptionalJSONField(
            label=_("Additional request fields"),
            required=False,
            widget=forms.Textarea(attrs={"rows": 2, "spellcheck": "false", "placeholder": '{"top_k": 20}'}),
            help_text=_(
                "A JSON object that Concord sends unchanged. Everyone in this project can read "
                "it, so include no keys."
            ),
        ),
        "Additional fields of the request: an object.",
        ValueKind.LISTED,
    ),
    Setting(
        "scale_minimum",
        SettingSection.OWN_SCALE,
        forms.IntegerField(
            label=_("Own scale from"),
            required=False,
            min_value=-1000,
            max_value=1000,
            help_text=_(
                "Leave empty to use the scale of the dimension. Otherwise the judge answers on this scale."
            ),
        ),
        "Lowest point of the judge's own scale; empty if it uses the dimension's scale.",
        ValueKind.INTEGER,
        binds=False,
    ),
    Setting(
        "scale_maximum",
        SettingSection.OWN_SCALE,
        forms.IntegerField(label=_("Own scale to"), required=False, min_value=-1000, max_value=1000),
        "Highest point of the own scale.",
        ValueKind.INTEGER,
        binds=False,
    ),
    Setting(
        "scale_modifiers",
        SettingSection.OWN_SCALE,
        forms.BooleanField(
            label=_("With “weak” and “strong”"),
            required=False,
            help_text=_(
                "“Weak 4” is 3.67 and “strong 4” is 4.33. The prompt must ask for it, as {{ answer }} does."
            ),
        ),
        'Whether "weak 4" means 3.67 and "strong 4" means 4.33.',
        ValueKind.FLAG,
        binds=False,
    ),
    Setting(
        "scale_thirds",
        SettingSection.OWN_SCALE,
        forms.BooleanField(
            label=_("In thirds"),
            required=False,
            help_text=_(
                "3, 3.33 and 3.67 are scores. The prompt must ask for it, as {{ answer }} does. With “weak” "
                "and “strong”, the words are the thirds, and none goes beyond the ends of the scale."
            ),
        ),
        "Whether scores have steps of a third: 3, 3.33, 3.67.",
        ValueKind.FLAG,
        binds=False,
    ),
    Setting(
        "scale_table",
        SettingSection.OWN_SCALE,
        forms.CharField(
            label=_("Value of the dimension for each point"),
            required=False,
            max_length=10_000,
            widget=_code("1, 1, 2, 2, 3, 3, 4, 4, 5, 5"),
            help_text=_("Of the own scale, from its lowest point, with commas. Empty: linear, ends to ends."),
        ),
        "Value of the dimension for each point of the own scale: a list; an empty list maps linearly.",
        ValueKind.LISTED,
        binds=False,
    ),
    Setting(
        "asked_together",
        SettingSection.SEVERAL,
        forms.CharField(
            label=_("Dimensions in one call"),
            required=False,
            max_length=5_000,
            widget=forms.TextInput(attrs={"dir": "auto"}),
            help_text=_(
                "For prompts about several dimensions: their names in the order of the prompt, "
                "separated by commas. Empty: all, in the listed order."
            ),
        ),
        "Keys of the dimensions in one call, in order, for methods with several: a list; empty for all.",
        ValueKind.LISTED,
    ),
    Setting(
        "call_order",
        SettingSection.SEVERAL,
        forms.ChoiceField(
            label=_("Order of dimensions in a call"), required=False, choices=CallOrder.choices
        ),
        "`fixed`, or `rotated` from item to item.",
    ),
    Setting(
        "reference",
        SettingSection.MORE,
        forms.ChoiceField(
            label=_("Reference"),
            required=False,
            help_text=_(
                "For prompts with {{ reference }}: the system with the reference output of the same document."
            ),
        ),
        "The system whose output for the same document is in the prompt, if any.",
    ),
)
"""What can be set of a judge besides its name, endpoint, model and prompt, in the order of exports."""


def names_of_settings(*sections: SettingSection) -> Iterator[str]:
    return (each.name for each in JUDGE_SETTINGS if not sections or each.section in sections)


@dataclass(frozen=True)
class BoundSetting:
    """A setting of a judge that certificates bind.

    key: its key in `Calibration.bound`, which never changes. read: its value as JSON, as certificates store
    it.
    """

    key: str
    name: "StrOrPromise"
    read: Callable[[Judge], Any]

    @property
    def label(self) -> str:
        name = str(self.name)
        # The first letter alone, because a label may contain names.
        return name[0].lower() + name[1:]


def in_words(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    # No test of truth, because a temperature of 0 is a setting.
    if value in (None, "", {}, []):
        return "none"
    return f"{value:g}" if isinstance(value, float) else str(value)


def _prompt_digest(judge: Judge) -> str | None:
    template = judge.template
    if template is None:
        return None
    # A name and a version do not fix the text: a version without judgments can still be edited.
    whole = template.text + template.pattern
    # Without wordings the text alone is digested, as certificates of such prompts have stored it.
    return text_digest([whole, sorted(template.wordings.items())] if template.wordings else whole)


def _bind(setting: Setting) -> BoundSetting:
    name = setting.name

    def read(judge: Judge) -> Any:
        value = getattr(judge, name)
        return str(value) if isinstance(value, str) else value  # choices too, which JSON does not know

    return BoundSetting(name, setting.field.label or name, _READ.get(name, read))


_READ: dict[str, Callable[[Judge], Any]] = {
    # A name, since an addition or a restored project has other ids.
    "reference": lambda judge: judge.reference.name if judge.reference else ""
}

BOUND_SETTINGS = (
    BoundSetting("model", "model", lambda judge: judge.model),
    BoundSetting("method", "method", lambda judge: judge.method),
    # The URL identifies the server, and admins may rename an endpoint.
    BoundSetting("endpoint", "endpoint", lambda judge: judge.endpoint and judge.endpoint.base_url),
    BoundSetting("prompt", "prompt", lambda judge: str(judge.template) if judge.template else None),
    BoundSetting("prompt_digest", "prompt's text", _prompt_digest),
    BoundSetting("scale", "scale", lambda judge: repr(judge.own_scale) if judge.own_scale else ""),
    *(_bind(each) for each in JUDGE_SETTINGS if each.binds),
)
