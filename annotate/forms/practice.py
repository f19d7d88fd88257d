"""Answers to a practice item."""

from collections.abc import Mapping, Sequence
from typing import Any

from django import forms
from django.utils.translation import gettext

from annotate.queries.work import Row


class PracticeForm(forms.Form):
    """A value for each dimension."""

    def __init__(self, entered: Mapping[str, Any] | None, *, rows: Sequence[Row]) -> None:
        super().__init__(entered)
        self.rows = rows
        for row in rows:
            values = row.dimension.values
            self.fields[row.dimension.key] = forms.IntegerField(
                label=row.dimension.name,
                min_value=values[0],
                max_value=values[-1],
                error_messages={
                    "required": gettext("Rate {name} too; then you see what is right.").format(
                        name=row.dimension.name
                    )
                },
            )

    @property
    def values(self) -> dict[int, int]:
        """The answers by the key of the dimension."""
        return {row.dimension.id: self.cleaned_data[row.dimension.key] for row in self.rows}
