"""The settings of each question kind as fields of the dimension's page."""

from collections.abc import Iterable, Mapping, Sequence
from copy import deepcopy
from typing import Any

from django import forms
from django.utils.text import format_lazy
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from annotate.core.errors import InvalidValueError
from annotate.core.scale import int_if_whole
from annotate.questions.kind import key_of_name
from annotate.questions.labels import MOST_LABELS
from annotate.questions.preference import MOST_STRENGTH
from annotate.questions.spans import LARGEST_WEIGHT
from annotate.questions.text import MOST_CHARACTERS

Rows = Sequence[Mapping[str, Any]]
USUAL_SEVERITIES = ({"name": "minor", "weight": 1}, {"name": "major", "weight": 5})
CRITICAL = {"name": "critical", "weight": 25}
ONE_LINE_EACH = _("One per line: “Name: description”. The description can be left out.")


class QuestionSettings:
    """The fields of a kind.

    lists: the fields that list names and descriptions; their wording can change after Round I opened.
    """

    weighted = "severities"

    def __init__(self, lists: Sequence[str] = (), **fields: forms.Field) -> None:
        self.lists, self._fields = lists, fields

    def fields(self) -> dict[str, forms.Field]:
        # A form changes its fields, and these belong to all requests of the process.
        return deepcopy(self._fields)

    def initial(self, options: Mapping[str, Any]) -> dict[str, Any]:
        texts = {name: write_rows(options[name]) for name in self.lists if name in options}
        return {name: options[name] for name in self._fields if name in options} | texts

    def options(
        self, values: Mapping[str, Any], before: Mapping[str, Any], *, frozen: bool
    ) -> dict[str, Any]:
        """Return the options as entered, for `QuestionKind.read_options`. Raises InvalidValueError.

        before: the stored options; a row keeps its key while its name stays, and by its number once frozen.
        """
        named = {name: values.get(name) for name in self._fields if name not in self.lists}
        rows = {
            name: keep_keys(
                read_rows(values.get(name, ""), before.get(name, ()), weighted=name == self.weighted),
                before.get(name, ()),
                by_number=frozen,
            )
            for name in self.lists
        }
        return {name: value for name, value in named.items() if value not in (None, "")} | rows


class PartsSettings(QuestionSettings):
    def initial(self, options: Mapping[str, Any]) -> dict[str, Any]:
        names = {each["key"]: each["name"] for each in options.get("labels", ())}
        return {**super().initial(options), "counts": names.get(options.get("counts"), "")}

    def options(
        self, values: Mapping[str, Any], before: Mapping[str, Any], *, frozen: bool
    ) -> dict[str, Any]:
        made = super().options(values, before, frozen=frozen)
        # The label that counts is no wording: it stays even if its name is corrected.
        if frozen:
            return {**made, "counts": before.get("counts")}
        name = str(values.get("counts", "")).strip()
        named = (each for each in made["labels"] if each["name"].casefold() == name.casefold())
        if label := next(named, None):
            made["counts"] = label.get("key") or key_of_name(label["name"])
        return made


def write_rows(rows: Rows) -> str:
    return "\n".join(map(_write_row, rows))


def _write_row(row: Mapping[str, Any]) -> str:
    weight = f" = {int_if_whole(float(row['weight']))}" if "weight" in row else ""
    description = f": {row['description']}" if row.get("description") else ""
    # A description from the API may have several lines.
    return " ".join(f"{row['name']}{weight}{description}".split())


def read_rows(text: str, before: Rows = (), *, weighted: bool = False) -> list[dict[str, Any]]:
    """Read the output of `write_rows`. Raises InvalidValueError for a weight that is no number.

    before: the stored rows. An unchanged line is its stored row: a name from the API may contain “: ”.
    """
    stored = {_write_row(row): row for row in before}
    rows = []
    for line in text.splitlines():
        if line.strip() in stored:
            rows.append(dict(stored[line.strip()]))
            continue
        head, _colon, description = line.strip().partition(": ")
        row: dict[str, Any] = {"name": head.rstrip(": "), "description": description.strip()}
        if weighted and head:
            # From the right, because a name may contain “=”.
            row["name"], _equals, weight = (each.strip() for each in head.rstrip(": ").rpartition("="))
            try:
                # Some languages write a comma before decimals.
                row["weight"] = int_if_whole(float(weight.replace(",", ".")))
            except (ValueError, OverflowError):
                raise InvalidValueError(
                    gettext("“{line}” has no weight: write “name = number”.").format(line=line.strip()[:80])
                ) from None
        if head:
            rows.append(row)
    return rows


def keep_keys(rows: list[dict[str, Any]], before: Iterable[Mapping[str, Any]], *, by_number: bool) -> Rows:
    """Return rows with the keys that they had: by their number, or by their name."""
    known = list(before)
    # In an open round names may be corrected, so a row is found by its number.
    if by_number and len(known) == len(rows):
        return [{**row, "key": old["key"]} for row, old in zip(rows, known, strict=True)]
    keys = {old["name"].casefold(): old["key"] for old in known}
    return [
        {"key": keys[row["name"].casefold()], **row} if row["name"].casefold() in keys else row
        for row in rows
    ]


def _list(label: Any, *, most: int, **others: Any) -> forms.CharField:
    return forms.CharField(
        label=label,
        max_length=most * 600,
        widget=forms.Textarea(attrs={"rows": 6, "dir": "auto"}),
        **{"help_text": ONE_LINE_EACH, **others},
    )


SETTINGS: Mapping[str, QuestionSettings] = {
    "labels": QuestionSettings(
        lists=("labels",),
        labels=_list(_("Labels"), most=MOST_LABELS),
        distance=forms.ChoiceField(
            label=_("Distance between two answers"),
            widget=forms.RadioSelect,
            initial="jaccard",
            choices=[
                ("jaccard", _("Jaccard: the share of labels that only one rater chose")),
                ("masi", _("MASI: as Jaccard, but a subset is nearer than another set")),
            ],
        ),
    ),
    "parts": PartsSettings(
        lists=("labels",),
        labels=_list(_("Labels"), most=6, initial=lambda: gettext("Yes") + "\n" + gettext("No")),
        counts=forms.CharField(
            label=_("Label that counts"),
            max_length=80,
            required=False,
            help_text=_("Its share of the parts is the value of the item. Empty: the first label."),
            widget=forms.TextInput(attrs={"dir": "auto"}),
        ),
    ),
    "preference": QuestionSettings(
        strength=forms.TypedChoiceField(
            label=_("Strength"),
            coerce=int,
            initial=1,
            widget=forms.RadioSelect,
            choices=[
                (1, _("one: an output is better")),
                (2, _("two: slightly better, better")),
                (MOST_STRENGTH, _("three: slightly better, better, much better")),
            ],
        ),
        ties=forms.BooleanField(label=_("Offer a tie"), required=False, initial=True),
        tie_disputes=forms.BooleanField(
            label=_("A tie and a winner are a dispute"),
            required=False,
            help_text=_("Without it, only different winners are one."),
        ),
    ),
    "ranking": QuestionSettings(
        ties=forms.BooleanField(label=_("Outputs can share a rank"), required=False, initial=True),
        best_worst=forms.BooleanField(
            label=_("Only the best and the worst"),
            required=False,
            help_text=_("Best-worst scaling: raters choose two outputs, and none can share a rank."),
        ),
    ),
    # Categories, severities with weights, and whether raters mark the output or also the source.
    "spans": QuestionSettings(
        lists=("categories", "severities"),
        categories=_list(_("Categories"), most=50),
        severities=_list(
            _("Severities"),
            most=9,
            help_text=format_lazy(
                _(
                    "One per line with its weight: “major = 5”, or “major = 5: description”. MQM weighs "
                    "minor 1, major 5 and critical 25. Weights go up to {most}."
                ),
                most=LARGEST_WEIGHT,
            ),
            initial=write_rows((*USUAL_SEVERITIES, CRITICAL)),
        ),
        where=forms.ChoiceField(
            label=_("Spans are marked in"),
            widget=forms.RadioSelect,
            initial="output",
            choices=[("output", _("the output")), ("both", _("the output and the document"))],
        ),
    ),
    "text": QuestionSettings(
        longest=forms.IntegerField(
            label=_("Longest answer, in characters"),
            min_value=1,
            max_value=MOST_CHARACTERS,
            initial=1000,
        )
    ),
}


def settings_of_kind(kind: str) -> QuestionSettings:
    return SETTINGS.get(kind, QuestionSettings())
