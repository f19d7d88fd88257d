"""What the columns of a file of metrics mean."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from django import forms
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from judges.interchange.forms import fields_of_columns
from judges.metrics.reading import MetricMapping

METRIC = "metric"
SINGLE = ("document", "number", "system")
MEANINGS = [
    ("", _("not used")),
    (METRIC, _("a metric")),
    ("document", _("document: key")),
    ("number", _("document: number, as imported")),
    ("system", _("system")),
]


class MetricMappingForm(forms.Form):
    """A meaning for each column."""

    def __init__(
        self,
        entered: Mapping[str, Any] | None,
        *,
        columns: Sequence[str],
        examples: Sequence[str],
        guess: MetricMapping,
    ) -> None:
        self.columns, self.examples, self.guess = columns, examples, guess
        single = {getattr(guess, meaning): meaning for meaning in SINGLE}
        meanings = {**dict.fromkeys(guess.metrics, METRIC), **single}
        shown = {f"meaning_{index}": meanings.get(column, "") for index, column in enumerate(columns)}
        super().__init__(entered, initial=shown)
        self.fields |= fields_of_columns(columns, MEANINGS)

    def clean(self) -> dict[str, Any]:
        """Make the mapping, and refuse one that does not say which items the numbers are about."""
        data = self.cleaned_data
        if self.errors:
            return data
        of_column = {column: data[f"meaning_{index}"] for index, column in enumerate(self.columns)}
        single = {}
        for meaning in SINGLE:
            named = [column for column, each in of_column.items() if each == meaning]
            if len(named) > 1:
                sentence = gettext("“{first}” and “{second}” cannot both be the {meaning}.")
                self.add_error(
                    None, sentence.format(first=named[0], second=named[1], meaning=dict(MEANINGS)[meaning])
                )
            single[meaning] = named[0] if named else ""
        metrics = tuple(column for column, meaning in of_column.items() if meaning == METRIC)
        data["mapping"] = mapping = MetricMapping(**single, metrics=metrics)
        if mapping.problem:
            self.add_error(None, mapping.problem)
        return data

    def column_fields(self) -> Iterator[tuple[str, str, forms.BoundField]]:
        """Each column's name and first value with the control for its meaning."""
        for index, (column, example) in enumerate(zip(self.columns, self.examples, strict=True)):
            yield column, example, self[f"meaning_{index}"]
