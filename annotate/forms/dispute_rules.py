"""When units are disputed and settled: the project's rule, and those of dimensions that differ from it."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django import forms
from django.forms.boundfield import BoundField
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from annotate.commands.dispute_rules import OwnRule
from annotate.models import Dimension, Project
from annotate.queries.dispute_rules import Rule, RulePreview

LARGEST = 2000


@dataclass(frozen=True)
class RuleRow:
    """A dimension with its two fields, None for categories, whose rule is given."""

    preview: RulePreview
    threshold: BoundField | None
    tolerance: BoundField | None


class DisputeRulesForm(forms.Form):
    """A threshold and a tolerance for the project; each dimension may have its own, or leave it empty."""

    threshold = forms.IntegerField(
        min_value=1,
        max_value=LARGEST,
        help_text=_("A unit whose Round I values lie this far apart is disputed."),
    )
    tolerance = forms.IntegerField(
        min_value=0, max_value=LARGEST, help_text=_("It is settled when all values lie within this distance.")
    )

    def __init__(
        self,
        entered: Mapping[str, Any] | None,
        *,
        project: Project,
        previews: Sequence[RulePreview],
        frozen: bool = False,
    ) -> None:
        self.previews = [preview for preview in previews if not preview.is_named]
        initial: dict[str, Any] = {"threshold": project.dispute_threshold, "tolerance": project.tolerance}
        for preview in self.previews:
            initial[field_name("threshold", preview.dimension)] = preview.dimension.dispute_threshold
            initial[field_name("tolerance", preview.dimension)] = preview.dimension.tolerance
        super().__init__(entered, initial=initial)
        for preview in self.previews:
            for what, least in (("threshold", 1), ("tolerance", 0)):
                self.fields[field_name(what, preview.dimension)] = forms.IntegerField(
                    required=False,
                    min_value=least,
                    max_value=LARGEST,
                    label=gettext("{capitalize} of {name}").format(
                        capitalize=what.capitalize(), name=preview.dimension.name
                    ),
                    widget=forms.NumberInput(attrs={"placeholder": "project’s"}),
                )
        for field in self.fields.values():
            field.disabled = frozen

    def rows(self, previews: Sequence[RulePreview]) -> Iterator[RuleRow]:
        """Yield every dimension with its fields."""
        for preview in previews:
            name = field_name("threshold", preview.dimension)
            has_fields = name in self.fields
            yield RuleRow(
                preview,
                self[name] if has_fields else None,
                self[field_name("tolerance", preview.dimension)] if has_fields else None,
            )

    def clean(self) -> dict[str, Any]:
        """Refuse tolerances that would settle what is disputed, and thresholds longer than a scale."""
        values = self.cleaned_data
        self._compare(values.get("threshold"), values.get("tolerance"), "tolerance")
        for preview in self.previews:
            names = [field_name(what, preview.dimension) for what in ("threshold", "tolerance")]
            own_threshold, own_tolerance = (values.get(name) for name in names)
            self._compare(own_threshold or values.get("threshold"), own_tolerance, names[1])
            longest = preview.dimension.scale_maximum - preview.dimension.scale_minimum
            if own_threshold is not None and own_threshold > longest:
                self.add_error(
                    names[0],
                    gettext("The scale is only {longest} long: nothing could be disputed.").format(
                        longest=longest
                    ),
                )
        return values

    @property
    def rule(self) -> Rule:
        """The project's rule as entered."""
        return Rule(self.cleaned_data["threshold"], self.cleaned_data["tolerance"])

    @property
    def own(self) -> dict[int, OwnRule]:
        """What dimensions have of their own, by their keys."""
        return {
            preview.dimension.pk: OwnRule(
                self.cleaned_data[field_name("threshold", preview.dimension)],
                self.cleaned_data[field_name("tolerance", preview.dimension)],
            )
            for preview in self.previews
        }

    def _compare(self, threshold: int | None, tolerance: int | None, field: str) -> None:
        if threshold is not None and tolerance is not None and tolerance >= threshold:
            self.add_error(field, gettext("The tolerance must be less than the threshold."))


def field_name(what: str, dimension: Dimension) -> str:
    """Return the name of a dimension's own threshold or tolerance in the form."""
    return f"{what}_{dimension.pk}"
