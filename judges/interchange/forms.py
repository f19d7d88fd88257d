"""What the columns of a file of judgments mean."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from django import forms
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from judges.interchange.reading.mapping import GIVEN, WORDS, JudgmentMapping
from judges.interchange.reading.rows import JUDGE_LIMIT, MODEL_LIMIT
from judges.methods import METHODS

NAMES = {"other": "other system, shown second", "input_tokens": "tokens in", "output_tokens": "tokens out"}
MEANINGS = [("", "not used"), *((field, NAMES.get(field, field)) for field in WORDS)]


def fields_of_columns(columns: Sequence[str], meanings: Sequence[Any]) -> dict[str, forms.Field]:
    """Return a field `meaning_0`, `meaning_1`, ... for what each column of a file means."""
    return {
        f"meaning_{index}": forms.ChoiceField(
            label=gettext("Meaning of {column}").format(column=column), required=False, choices=meanings
        )
        for index, column in enumerate(columns)
    }


class JudgmentMappingForm(forms.Form):
    """A meaning for each column, and what holds for all rows."""

    judge = forms.CharField(
        label=_("Judge of all rows"),
        required=False,
        max_length=JUDGE_LIMIT,
        widget=forms.TextInput(attrs={"dir": "auto"}),
        help_text=_("Empty: as a column says, or named by model and method."),
    )
    model = forms.CharField(
        label=_("Model of all rows"),
        required=False,
        max_length=MODEL_LIMIT,
        widget=forms.TextInput(attrs={"spellcheck": "false"}),
    )
    method = forms.ChoiceField(
        label=_("Method of all rows"),
        required=False,
        choices=[("", "as a column says"), *((key, method.label) for key, method in METHODS.items())],
        help_text=_("Replies are read as this method reads them."),
    )
    dimension = forms.ChoiceField(label=_("Dimension of all rows"), required=False)

    def __init__(
        self,
        entered: Mapping[str, Any] | None,
        *,
        columns: Sequence[str],
        examples: Sequence[str],
        dimensions: Sequence[tuple[str, str]],
        guess: JudgmentMapping,
    ) -> None:
        self.columns, self.examples, self.guess = columns, examples, guess
        super().__init__(entered, initial=_initial(guess, columns))
        dimension = self.fields["dimension"]
        assert isinstance(dimension, forms.ChoiceField)
        dimension.choices = [("", "as a column says"), *dimensions]
        self.fields |= fields_of_columns(columns, MEANINGS)

    def clean(self) -> dict[str, Any]:
        """Make the mapping, and refuse one that leaves out what every judgment has."""
        data = self.cleaned_data
        if self.errors:
            return data
        columns: dict[str, str] = {}
        for index, column in enumerate(self.columns):
            meaning = data[f"meaning_{index}"]
            if meaning in columns:
                self.add_error(
                    None,
                    gettext("“{value}” and “{column}” cannot both be the {meaning}.").format(
                        value=columns[meaning], column=column, meaning=meaning
                    ),
                )
            elif meaning:
                columns[meaning] = column
        data["mapping"] = mapping = JudgmentMapping(columns, {field: data[field] for field in GIVEN})
        if mapping.problem:
            self.add_error(
                None,
                gettext("{problem} Choose its column, or say what holds for all rows.").format(
                    problem=mapping.problem
                ),
            )
        return data

    @property
    def given_fields(self) -> list[forms.BoundField]:
        """The controls for what holds for all rows."""
        return [self[field] for field in GIVEN]

    def column_fields(self) -> Iterator[tuple[str, str, forms.BoundField]]:
        """Each column's name and first value with the control for its meaning."""
        for index, (column, example) in enumerate(zip(self.columns, self.examples, strict=True)):
            yield column, example, self[f"meaning_{index}"]


def _initial(mapping: JudgmentMapping, columns: Sequence[str]) -> dict[str, str]:
    meanings = {column: field for field, column in mapping.columns.items()}
    shown = {f"meaning_{index}": meanings.get(column, "") for index, column in enumerate(columns)}
    return {**mapping.given, **shown}
