"""Forms of the pages about quality."""

from collections.abc import Mapping, Sequence
from typing import Any

from django import forms
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from annotate.core.guidelines import extent
from annotate.core.models import Dimension, GoldItem, Item, Project
from annotate.quality.commands import RightValue
from annotate.rating.forms import PointsFormField

# Deciding whether an annotator's ratings count.


class CountingForm(forms.Form):
    counted = forms.BooleanField(required=False, widget=forms.HiddenInput)
    note = forms.CharField(
        label=_("Why"),
        max_length=2000,
        widget=forms.Textarea(attrs={"rows": 2}),
        help_text=_("Kept with the decision, for you and the other admins."),
    )


# Gold items and their right values.


class MarkForm(forms.Form):
    """An item, by its document and system, and its use."""

    document = forms.CharField(
        max_length=200,
        widget=forms.TextInput(attrs={"list": "documents"}),
        help_text=_("The key under which the document was imported."),
    )
    system = forms.CharField(max_length=200, widget=forms.TextInput(attrs={"list": "systems"}))
    use = forms.ChoiceField(
        label=_("What for"),
        choices=GoldItem.Use.choices,
        initial=GoldItem.Use.PRACTICE,
        widget=forms.RadioSelect,
    )

    def __init__(self, entered: Mapping[str, Any] | None, *, project: Project) -> None:
        super().__init__(entered)
        self.project = project

    def clean(self) -> dict[str, Any]:
        values = self.cleaned_data
        found = Item.objects.filter(
            document__project=self.project,
            document__key=values.get("document", "").strip(),
            system__name=values.get("system", "").strip(),
            # A comparison has no values on scales, so it cannot have gold values.
            kind=Item.Kind.OUTPUT,
        ).first()
        if not self.errors and found is None:
            self.add_error(
                "document", gettext("There is no item of this document and system. Check both names.")
            )
        values["item"] = found
        return values


class GoldForm(forms.Form):
    """The right value on each dimension, and the reason; dimensions without a value are not practised or
    checked.
    """

    explanation = forms.CharField(
        label=_("About the item as a whole"), required=False, widget=forms.Textarea(attrs={"rows": 2})
    )

    def __init__(
        self, entered: Mapping[str, Any] | None, *, gold: GoldItem, dimensions: Sequence[Dimension]
    ) -> None:
        super().__init__(entered, initial={"explanation": gold.explanation})
        self.dimensions = list(dimensions)
        known = {each.dimension_id: each for each in gold.values.all()}
        for dimension in self.dimensions:
            right = known.get(dimension.pk)
            low, high, step = dimension.scale_minimum, dimension.scale_maximum, dimension.scale_step
            self.fields[f"value-{dimension.pk}"] = PointsFormField(
                label=f"{dimension.name}, {extent(low, high, step)}",
                required=False,
                min_value=low,
                max_value=high,
                widget=forms.NumberInput(attrs={"step": str(step)}),
                initial=right.value if right else None,
            )
            self.fields[f"why-{dimension.pk}"] = forms.CharField(
                label=gettext("Why ({name})").format(name=dimension.name),
                required=False,
                initial=right.explanation if right else "",
            )

    @property
    def right_values(self) -> dict[int, RightValue]:
        values = self.cleaned_data
        return {
            each.pk: RightValue(values[f"value-{each.pk}"], values[f"why-{each.pk}"])
            for each in self.dimensions
            if values[f"value-{each.pk}"] is not None
        }


class BarForm(forms.Form):
    """The required percentage of right practice answers before Round I."""

    practice_bar = forms.IntegerField(
        label=_("Percent to get right before Round I"),
        required=False,
        min_value=0,
        max_value=100,
        help_text=_(
            "A value within the tolerance of the gold value is right; a category must be equal. "
            "Empty: practice is not asked for."
        ),
    )
