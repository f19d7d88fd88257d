"""Forms of the pages about setup."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from django import forms
from django.forms.boundfield import BoundField, BoundWidget
from django.http import QueryDict
from django.utils.functional import Promise
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from agreement import Advice, advice
from annotate.core.errors import InvalidValueError
from annotate.core.guideline import DimensionSpec, PointSpec
from annotate.core.guidelines import format_value
from annotate.core.models import Dimension, MeasurementLevelChoices, Project, SavedTemplate
from annotate.core.scale import MOST_POINTS, SMALLEST_STEP, int_if_whole, points_of, problem_of_step
from annotate.questions import KINDS, QuestionKind, kind_of
from annotate.setup.commands import FREE_FIELDS, FROZEN_FIELDS
from annotate.setup.presets import TEMPLATES
from annotate.setup.question_settings import settings_of_kind
from annotate.setup.template_file import LARGEST, MOST_CATEGORIES, SMALLEST

# A dimension with its scale: one row of the form for each point that can be described.


@dataclass(frozen=True)
class UsualScale:
    """A scale to start from: its values, its measurement level, and names if it has them."""

    key: str
    name: str | Promise
    minimum: int
    maximum: int
    level: MeasurementLevelChoices
    labels: tuple[str, ...] = ()
    step: float = 1


USUAL_SCALES = {
    scale.key: scale
    for scale in (
        UsualScale("1-5", _("1 to 5"), 1, 5, MeasurementLevelChoices.INTERVAL),
        UsualScale("1-5-halves", _("1 to 5 in halves"), 1, 5, MeasurementLevelChoices.INTERVAL, step=0.5),
        UsualScale("1-7", _("1 to 7"), 1, 7, MeasurementLevelChoices.INTERVAL),
        UsualScale("1-10", _("1 to 10"), 1, 10, MeasurementLevelChoices.INTERVAL),
        UsualScale("1-100", _("1 to 100"), 1, 100, MeasurementLevelChoices.INTERVAL),
        UsualScale("binary", _("no or yes"), 0, 1, MeasurementLevelChoices.NOMINAL, ("No", "Yes")),
        UsualScale("categories", _("named categories"), 1, 3, MeasurementLevelChoices.NOMINAL),
    )
}


# Scales up to 0 to 10 show every point; longer ones their ends and the requested points.
LONGEST_LISTED_SCALE = 11

LEVELS = [
    (
        MeasurementLevelChoices.NOMINAL,
        _("nominal: values are only equal or different, such as categories"),
    ),
    (MeasurementLevelChoices.ORDINAL, _("ordinal: values have an order, steps may be unequal")),
    (MeasurementLevelChoices.INTERVAL, _("interval: steps are equal, 2 to 3 is as far as 4 to 5")),
    (MeasurementLevelChoices.RATIO, _("ratio: equal steps from a true zero, such as counts")),
]


SCALES = ("scale", "category")
OF_SCALES = ("scale_minimum", "scale_maximum", "scale_step", "another_point", "measurement_level")


class DimensionForm(forms.Form):
    """Everything about a dimension: what every question has, and the settings of its kind.

    The points shown follow the scale entered. earlier: the questions that this one can depend on.
    """

    kind = forms.ChoiceField(
        label=_("Kind of question"),
        required=False,
        widget=forms.RadioSelect,
        choices=[(each.key, each.name) for each in KINDS.values()],
    )
    name = forms.CharField(max_length=80)
    definition = forms.CharField(
        widget=forms.Textarea(attrs={"rows": 3, "dir": "auto"}),
        help_text=_("Write one or two lines; annotators and judges see them."),
    )
    scale_minimum = forms.IntegerField(label=_("Lowest value"), min_value=SMALLEST, max_value=LARGEST)
    scale_maximum = forms.IntegerField(label=_("Highest value"), min_value=SMALLEST, max_value=LARGEST)
    scale_step = forms.FloatField(
        label=_("Step"),
        required=False,
        min_value=SMALLEST_STEP,
        max_value=LARGEST,
        widget=forms.NumberInput(attrs={"step": "any"}),
        help_text=_("1: whole numbers. 0.5: half points too. Empty: 1."),
    )
    another_point = forms.IntegerField(label=_("Describe another value"), required=False)
    measurement_level = forms.ChoiceField(
        widget=forms.RadioSelect,
        choices=LEVELS,
        help_text=_("Sets the distance between two values when Concord computes agreement."),
    )
    not_applicable = forms.BooleanField(
        label=_("Offer “not applicable”"),
        required=False,
        help_text=_(
            "A second answer in addition to “cannot rate”. Concord counts it, and coefficients "
            "treat it as missing."
        ),
    )
    guidelines = forms.CharField(
        required=False,
        widget=forms.Textarea(attrs={"rows": 8, "dir": "auto"}),
        help_text=_("Markdown: what counts, what does not, examples."),
    )

    def __init__(
        self, *args: Any, frozen: bool = False, earlier: Sequence[Dimension] = (), **kwargs: Any
    ) -> None:
        super().__init__(*args, **kwargs)
        self.frozen = frozen
        self.kind_key = self._kind()
        item_kind = KINDS[self.kind_key].item_kind
        about_same = [each for each in earlier if kind_of(each).item_kind == item_kind]
        self.earlier = {each.key: each for each in about_same if answers_of(each)}
        self.question_settings = settings_of_kind(self.kind_key)
        if self.kind_key in SCALES:
            for value in self._values_shown():
                self.fields[f"label_{value}"] = forms.CharField(
                    max_length=80,
                    required=False,
                    label=gettext("Label of {value}").format(value=value),
                    widget=_auto(forms.TextInput),
                )
                self.fields[f"description_{value}"] = forms.CharField(
                    required=False,
                    label=gettext("Description of {value}").format(value=value),
                    widget=_auto(forms.Textarea, rows=2),
                )
        else:
            for name in OF_SCALES:
                del self.fields[name]
            self.fields.update(self.question_settings.fields())
        if self.kind_key == "category":
            self.fields["measurement_level"].required = False
        # Nominal scales are categories, which have a kind of their own on this page.
        elif self.kind_key == "scale" and "kind" in self._entries():
            self.fields["measurement_level"].choices = LEVELS[1:]  # type: ignore[attr-defined]
        self._add_condition()
        if frozen:
            self._fix()

    @classmethod
    def from_entered(cls, entered: Mapping[str, Any], earlier: Sequence[Dimension] = ()) -> "DimensionForm":
        """Return the form with the values entered, not checked yet, to show other settings or points.

        `usual` replaces the scale entered with a usual one; `more` adds a category.
        """
        chosen = entered.getlist("condition_values") if isinstance(entered, QueryDict) else []
        initial = {**dict(entered.items()), "condition_values": chosen}
        # The fields are the ones of the kind chosen before, so only the general ones are stored.
        if "settings_of" in entered and entered["settings_of"] != entered.get("kind"):
            initial = _other_kind(initial)
        elif "settings_of" in entered:
            # A box that is not ticked is not sent.
            boxes = ("ties", "tie_disputes", "best_worst", "not_applicable")
            initial |= {name: name in entered for name in boxes}
        if usual := USUAL_SCALES.get(entered.get("usual", "")):
            kind = "category" if usual.level == MeasurementLevelChoices.NOMINAL else "scale"
            initial |= {**_scale_fields(usual), "kind": kind}
        elif "more" in entered and (highest := _integer(initial.get("scale_maximum"))) is not None:
            initial["scale_maximum"] = highest + 1
        return cls(initial=initial, earlier=earlier)

    @property
    def kinds(self) -> Iterator[tuple[QuestionKind, BoundWidget]]:
        """Each kind of question with its button."""
        return zip(KINDS.values(), self["kind"], strict=True)

    @property
    def is_scale(self) -> bool:
        return self.kind_key in SCALES

    @property
    def settings_fields(self) -> list[BoundField]:
        return [self[name] for name in self.question_settings.fields()]

    @property
    def has_answers_to_choose(self) -> bool:
        """Whether the question depends on another one, by the values entered."""
        return "condition_values" in self.fields

    @property
    def point_rows(self) -> Iterator[tuple[int, BoundField, BoundField]]:
        for value in self._values_shown():
            yield value, self[f"label_{value}"], self[f"description_{value}"]

    @property
    def is_listed_whole(self) -> bool:
        scale = self._scale()
        return scale is not None and len(scale) <= self._most_listed

    @property
    def is_named(self) -> bool:
        """Whether the values are codes of named categories, as entered until now."""
        return self.kind_key == "category"

    @property
    def usual_scales(self) -> Iterable[UsualScale]:
        nominal = MeasurementLevelChoices.NOMINAL
        return [each for each in USUAL_SCALES.values() if (each.level == nominal) == self.is_named]

    @property
    def advice(self) -> list[Advice]:
        return [advice(level) for level in MeasurementLevelChoices.values]

    def clean(self) -> dict[str, Any]:
        """Reject scales without two points, ratio scales below zero, and categories without names.

        The settings of other kinds are checked by the kind itself.
        """
        values = self.cleaned_data
        if self.kind_key not in SCALES:
            self._check_options(values)
            return values
        if self.kind_key == "category":
            values["measurement_level"] = MeasurementLevelChoices.NOMINAL
        # A missing or invalid end has an error of its own, so the rest needs both ends.
        lowest, highest = values.get("scale_minimum"), values.get("scale_maximum")
        if lowest is not None and highest is not None and lowest >= highest:
            self.add_error("scale_maximum", gettext("The highest value must be above the lowest."))
        elif lowest is not None and highest is not None and "scale_step" not in self.errors:
            values["scale_step"] = int_if_whole(values.get("scale_step") or 1.0)
            step = values["scale_step"]
            level = values.get("measurement_level", "")
            problem = problem_of_step(lowest, highest, step)
            if not problem and step != 1 and level == MeasurementLevelChoices.NOMINAL:
                problem = "categories"
            sentences = {
                "decimals": gettext("A step can have up to two decimals."),
                "range": gettext("Steps of {step} do not lead from {low} to {high}. Choose one that does."),
                "points": gettext("The scale would have more than {most:,} values. Choose a longer step."),
                "categories": gettext("Categories are whole numbers: leave the step at 1."),
            }
            if problem:
                named = {"step": format_value(step), "low": lowest, "high": highest, "most": MOST_POINTS}
                self.add_error("scale_step", sentences[problem].format(**named))
        if (
            values.get("measurement_level") == MeasurementLevelChoices.RATIO
            and lowest is not None
            and lowest < 0
        ):
            self.add_error("measurement_level", gettext("A ratio scale starts at zero or above."))
        if values.get("measurement_level") == MeasurementLevelChoices.NOMINAL and not self.errors:
            self._check_names(values)
        return values

    def _check_options(self, values: dict[str, Any]) -> None:
        fields = self.question_settings.fields()
        if self.errors.keys() & fields.keys():
            return
        before = self.initial.get("options") or {}
        try:
            made = self.question_settings.options(values, before, frozen=self.frozen)
            values["options"] = KINDS[self.kind_key].read_options(made)
        except InvalidValueError as error:
            self.add_error(None, error.message)

    def _check_names(self, values: Mapping[str, Any]) -> None:
        scale = range(values["scale_minimum"], values["scale_maximum"] + 1)
        if len(scale) > MOST_CATEGORIES:
            self.add_error(
                "scale_maximum",
                gettext(
                    "{count} categories are too many to choose from; use up to {most_categories},"
                    " or another measurement level."
                ).format(count=len(scale), most_categories=MOST_CATEGORIES),
            )
            return
        seen: dict[str, int] = {}
        for value in scale:
            # Raters choose a category by its name, so names must differ in more than case.
            name = values[f"label_{value}"].strip().casefold()
            if not name:
                self.add_error(
                    f"label_{value}",
                    gettext("Name the category {value}; raters choose it by its name.").format(value=value),
                )
            elif name in seen:
                self.add_error(
                    f"label_{value}",
                    gettext("The category {value} has this name already.").format(value=seen[name]),
                )
            seen.setdefault(name, value)

    def to_spec(self) -> DimensionSpec:
        values = self.cleaned_data
        spec = DimensionSpec(
            name=values["name"],
            definition=values["definition"],
            guidelines=values["guidelines"],
            not_applicable=values["not_applicable"],
            kind=self.kind_key,
            options=values.get("options"),
            shown_if=self._condition(),
        )
        if self.kind_key not in SCALES:
            return spec
        return replace(
            spec,
            scale_minimum=values["scale_minimum"],
            scale_maximum=values["scale_maximum"],
            scale_step=values["scale_step"],
            measurement_level=values["measurement_level"],
            points=tuple(
                PointSpec(value, values[f"label_{value}"], values[f"description_{value}"])
                for value in self._values_shown()
            ),
        )

    def _kind(self) -> str:
        entries = self.initial if self.frozen else self._entries()
        # In an open round the kind is fixed, so the request cannot choose other fields.
        kind = entries.get("kind") or "scale"
        if kind == "scale" and entries.get("measurement_level") == MeasurementLevelChoices.NOMINAL:
            return "category"
        return kind if kind in KINDS else "scale"

    def _add_condition(self) -> None:
        if not self.earlier:
            return
        self.fields["condition"] = forms.ChoiceField(
            label=gettext("Ask only if"),
            required=False,
            choices=[("", gettext("always")), *((each.key, each.name) for each in self.earlier.values())],
        )
        entries = self.initial if self.frozen else self._entries()
        if asked := self.earlier.get(entries.get("condition", "")):
            self.fields["condition_values"] = forms.MultipleChoiceField(
                label=gettext("is one of"),
                widget=forms.CheckboxSelectMultiple,
                choices=answers_of(asked),
                error_messages={"required": gettext("Choose the answers after which it is asked.")},
            )

    def _condition(self) -> dict[str, Any] | None:
        there: dict[str, Any] | None = self.initial.get("shown_if")
        if self.frozen or (there and there["dimension"] not in self.earlier):
            return there  # one that was set by the API, on a question that this page cannot offer
        asked = self.earlier.get(self.cleaned_data.get("condition", ""))
        if asked is None:
            return None
        chosen = self.cleaned_data["condition_values"]
        is_number = asked.kind == "scale"
        values = [int_if_whole(float(each)) for each in chosen] if is_number else chosen
        return {"dimension": asked.key, "values": values}

    def _fix(self) -> None:
        """Make all fields except the wording read-only, and add the note; the command rejects other
        changes.
        """
        for name in ("name", "scale_minimum", "scale_maximum", "scale_step"):
            if name in self.fields:
                self.fields[name].widget.attrs["readonly"] = True
        fixed = (
            "kind",
            "measurement_level",
            "not_applicable",
            "another_point",
            "condition",
            "condition_values",
        )
        settings = set(self.question_settings.fields()) - set(self.question_settings.lists)
        for name in self.fields.keys() & {*fixed, *settings}:
            self.fields[name].disabled = True
        self.fields["note"] = note_field()

    def _entries(self) -> Mapping[str, Any]:
        return self.data if self.is_bound else self.initial

    def _scale(self) -> range | None:
        lowest, highest = (_integer(self._entries().get(f"scale_{end}")) for end in ("minimum", "maximum"))
        if lowest is None or highest is None or not SMALLEST <= lowest < highest <= LARGEST:
            return None
        return range(lowest, highest + 1)

    @property
    def _most_listed(self) -> int:
        return MOST_CATEGORIES if self.is_named else LONGEST_LISTED_SCALE

    def _values_shown(self) -> list[int]:
        scale = self._scale()
        if scale is None:
            return sorted(self._values_described())
        if len(scale) <= self._most_listed:
            return list(scale)
        another = _integer(self._entries().get("another_point"))
        # Of a long scale only the ends, the points with words, and the requested one.
        wanted = {scale[0], scale[-1], another, *self._values_described()}
        return [value for value in scale if value in wanted]

    def _values_described(self) -> set[int]:
        names = [name for name, text in self._entries().items() if text]
        numbers = (
            _integer(name.partition("_")[2]) for name in names if name.startswith(("label_", "description_"))
        )
        return {number for number in numbers if number is not None and SMALLEST <= number <= LARGEST}


def note_field() -> forms.CharField:
    return forms.CharField(
        label=gettext("What changed and why"),
        max_length=1000,
        required=False,
        widget=_auto(forms.Textarea, rows=2),
        help_text=gettext("Shown with the new version of the guideline."),
    )


def initial_of(dimension: Dimension | None) -> dict[str, Any]:
    if dimension is None:
        return {
            **{"kind": "scale", "scale_minimum": 1, "scale_maximum": 5, "scale_step": 1},
            "measurement_level": MeasurementLevelChoices.INTERVAL,
        }
    points, kind, condition = dimension.points.all(), kind_of(dimension), dimension.shown_if or {}
    options = dimension.options or {}
    return {
        **{name: getattr(dimension, name) for name in DimensionForm.base_fields if name != "another_point"},
        **{f"label_{point.value}": point.label for point in points},
        **{f"description_{point.value}": point.description for point in points},
        **settings_of_kind(kind.key).initial(options),
        "kind": kind.key,
        "options": options,
        "shown_if": dimension.shown_if,
        "condition": condition.get("dimension", ""),
        "condition_values": [str(value) for value in condition.get("values", ())],
    }


def answers_of(dimension: Dimension) -> list[tuple[str, str]]:
    """Return the answers that other questions can depend on: values or labels, up to 20 of them."""
    if dimension.kind == "labels":
        return [(each["key"], each["name"]) for each in (dimension.options or {})["labels"]]
    if dimension.kind != "scale":
        return []
    scale = dimension.scale_minimum, dimension.scale_maximum, dimension.scale_step
    values = points_of(*scale)
    if len(values) > MOST_CATEGORIES:
        return []
    labels: dict[float, str] = {point.value: point.label for point in dimension.points.all() if point.label}
    is_named = dimension.measurement_level == MeasurementLevelChoices.NOMINAL
    return [
        (
            str(value),
            labels.get(value, str(value)) if is_named or value not in labels else f"{value}: {labels[value]}",
        )
        for value in values
    ]


def _other_kind(entered: Mapping[str, Any]) -> dict[str, Any]:
    general = ("kind", "name", "definition", "guidelines", "condition", "condition_values", "not_applicable")
    kept = {name: entered[name] for name in general if name in entered}
    usual = {**initial_of(None)}
    if kept.get("kind") == "category":
        usual = _scale_fields(USUAL_SCALES["categories"])
    return {**usual, **kept}


def _scale_fields(usual: UsualScale) -> dict[str, Any]:
    scale = range(usual.minimum, usual.maximum + 1)
    names = {f"label_{value}": label for value, label in zip(scale, usual.labels, strict=False)}
    ends = {"scale_minimum": usual.minimum, "scale_maximum": usual.maximum, "scale_step": usual.step}
    return {**ends, "measurement_level": usual.level, **names}


def _auto(widget: type[forms.Widget], **attributes: Any) -> forms.Widget:
    return widget(attrs={"dir": "auto", **attributes})


def _integer(text: Any) -> int | None:
    try:
        return int(text)
    except (TypeError, ValueError):
        return None


# New projects and their settings.

NO_TEMPLATE = ""


class NewProjectForm(forms.Form):
    """The name of a new project and its template."""

    name = forms.CharField(max_length=150, help_text=_("Concord derives the URL from it."))
    template = forms.ChoiceField(
        label=_("Start from"),
        required=False,
        widget=forms.RadioSelect,
        help_text=_("Everything in a template can be changed until Round I opens."),
    )

    def __init__(
        self, entered: Mapping[str, Any] | None, *, own: Iterable[SavedTemplate], start: str
    ) -> None:
        presets = [(each.key, f"{each.name}. {each.summary}") for each in TEMPLATES.values()]
        saved = [
            (
                each.key,
                gettext("{name}. Your template, saved {saved_at:%Y-%m-%d}.").format(
                    name=each.name, saved_at=each.saved_at
                ),
            )
            for each in own
        ]
        choices = [*saved, *presets, (NO_TEMPLATE, gettext("Nothing: add dimensions yourself."))]
        # A link may name a template that this person does not have.
        known = start in (key for key, _ in choices)
        super().__init__(entered, initial={"template": start if known else presets[0][0]})
        self.fields["template"].choices = choices  # type: ignore[attr-defined]


class SettingsForm(forms.Form):
    """Settings of a whole project."""

    name = forms.CharField(max_length=150)
    description = forms.CharField(
        required=False,
        widget=forms.Textarea(attrs={"rows": 3}),
        help_text=_("The subject of the ratings and their purpose; all members of the project read it."),
    )
    reservation_minutes = forms.IntegerField(
        label=_("Minutes that an item stays reserved"),
        min_value=1,
        max_value=60 * 24 * 30,
        help_text=_("An item that an annotator has opened but not rated goes to others after this time."),
    )
    guidelines = forms.CharField(
        label=_("Guidelines for all dimensions"),
        required=False,
        widget=forms.Textarea(attrs={"rows": 10, "dir": "auto"}),
        help_text=_("Markdown, with images. Annotators can open it while they rate."),
    )
    raters_per_item = forms.IntegerField(
        label=_("Raters per item"),
        min_value=1,
        max_value=50,
        help_text=_("Number of annotators that rate each item."),
    )
    dispute_threshold = forms.IntegerField(
        min_value=1,
        max_value=1000,
        help_text=_("A unit is disputed if its Round I values differ by this much or more."),
    )
    tolerance = forms.IntegerField(
        min_value=0,
        max_value=1000,
        help_text=_(
            "A dispute is settled when all values are within this distance; less than the threshold."
        ),
    )

    def __init__(self, entered: Mapping[str, Any] | None, *, project: Project, frozen: bool) -> None:
        initial = {field: getattr(project, field) for field in (*FREE_FIELDS, *FROZEN_FIELDS)}
        super().__init__(entered, initial=initial)
        if frozen:
            for field in self.fields.keys() & set(FROZEN_FIELDS):
                # Guidelines can be reworded in an open round; the note states the reason.
                self.fields[field].disabled = field != "guidelines"
            self.fields["note"] = note_field()
        self._project = project

    @property
    def reworded(self) -> bool:
        return bool(self.cleaned_data["guidelines"] != self._project.guidelines)

    @property
    def settings(self) -> dict[str, Any]:
        return {name: value for name, value in self.cleaned_data.items() if name != "note"}

    def clean(self) -> dict[str, Any]:
        """Reject a tolerance that would settle differences the threshold disputes."""
        values = self.cleaned_data
        # A missing number has its own error, so its default makes the comparison pass.
        if values.get("tolerance", 0) >= values.get("dispute_threshold", 1001):
            self.add_error("tolerance", gettext("The tolerance must be less than the dispute threshold."))
        return values


class SettingsPageForm(SettingsForm):
    # Dispute rules have their own page, because they may change until Round I closes.
    dispute_threshold = None  # type: ignore[assignment] # Django's way of taking a field away
    tolerance = None  # type: ignore[assignment]
