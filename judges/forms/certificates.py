"""What a calibration tests: which judge, which loss, which guarantee, and how large a sample."""

from collections.abc import Mapping
from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from annotate.models import Project
from judges.models import Calibration, Judge
from judges.queries.pairings import of_method
from judges.specification import CalibrationSpec

SHARE = {"step": "any"}


class CalibrationForm(forms.Form):
    """Everything that is fixed before the ratings are looked at."""

    judge = forms.ModelChoiceField(
        Judge.objects.none(), empty_label=None, help_text=_("Its values stand where units stay with it.")
    )
    confidence = forms.ChoiceField(
        label=_("How sure it is of a unit"),
        choices=Calibration.Confidence.choices,
        help_text=_(
            "Units stay where this is high. A bad one keeps fewer units; the guarantee holds for any."
        ),
    )
    other = forms.ModelChoiceField(
        Judge.objects.none(),
        label=_("Second judge"),
        required=False,
        empty_label=_("none"),
        help_text=_("The MCQ judge of the same model; needed for closeness, and good for a model of errors."),
    )
    dimensions = forms.MultipleChoiceField(
        widget=forms.CheckboxSelectMultiple, help_text=_("Delta is divided among them; choose what you need.")
    )
    loss = forms.ChoiceField(
        label=_("A unit counts as wrong where the judge is"), choices=Calibration.Loss.choices
    )
    cut = forms.FloatField(
        label=_("The cut"),
        required=False,
        widget=forms.NumberInput(SHARE),
        help_text=_("For sides of a cut only: values at or above it are good enough."),
    )
    risk = forms.FloatField(
        label=_("Accepted share of wrong units"),
        min_value=0.001,
        max_value=0.999,
        widget=forms.NumberInput(SHARE),
        help_text=_("At most so many of the units that stay may be wrong."),
    )
    significance_level = forms.FloatField(
        label=_("Delta"),
        min_value=0.0001,
        max_value=0.5,
        widget=forms.NumberInput(SHARE),
        help_text=_("The chance that the promise fails, over all dimensions; 0.1: a confidence of 90 %."),
    )
    expected_error = forms.FloatField(
        label=_("Wrong units you expect among those that stay"),
        required=False,
        min_value=0,
        max_value=0.999,
        widget=forms.NumberInput(SHARE),
        help_text=_("From a pilot, say; empty: half of what you accept. Only the size depends on it."),
    )
    accepted_share = forms.FloatField(
        label=_("Share of units that you hope will stay"),
        min_value=0.01,
        max_value=1,
        widget=forms.NumberInput(SHARE),
    )
    size = forms.IntegerField(
        label=_("Units to draw of each dimension"),
        required=False,
        min_value=1,
        max_value=100_000,
        help_text=_("Empty: as many as are needed for a chance of 80 % to be certified."),
    )
    raters = forms.IntegerField(label=_("People per unit"), min_value=1, max_value=50)
    name = forms.CharField(max_length=80)

    def __init__(
        self, entered: Mapping[str, Any] | None, *, project: Project, judges: list[Judge], **options: Any
    ) -> None:
        super().__init__(entered, **options)
        measured = Judge.objects.filter(pk__in=[judge.pk for judge in judges]).order_by("name")
        for name in ("judge", "other"):
            field = self.fields[name]
            assert isinstance(field, forms.ModelChoiceField)
            field.queryset = measured.select_related("endpoint", "template")
        dimensions = self.fields["dimensions"]
        assert isinstance(dimensions, forms.MultipleChoiceField)
        dimensions.choices = list(project.dimensions.values_list("key", "name"))

    @property
    def usual(self) -> list[forms.BoundField]:
        """Return what is asked first."""
        names = ("judge", "confidence", "other", "dimensions", "loss", "cut", "risk", "significance_level")
        return [self[name] for name in names]

    @property
    def further(self) -> list[forms.BoundField]:
        """Return what plans the sample."""
        return [self[name] for name in ("expected_error", "accepted_share", "size", "raters", "name")]

    def spec(self) -> CalibrationSpec:
        """Return the calibration that was entered."""
        data = dict(self.cleaned_data)
        if data["loss"] != Calibration.Loss.OTHER_SIDE:
            data["cut"] = None
        return CalibrationSpec(**data)


def usual_calibration(project: Project, judges: list[Judge], number: int) -> dict[str, Any]:
    """Return what a new calibration begins with: the usual pair of judges, every dimension."""
    rts, mcq = of_method(judges, "rts"), of_method(judges, "mcq")
    kinds = Calibration.Confidence
    return {
        "name": f"Calibration {number}",
        "judge": (rts or judges)[0].pk,
        "other": mcq[0].pk if mcq else None,
        "confidence": kinds.CLOSENESS if mcq else kinds.STEADINESS,
        "dimensions": list(project.dimensions.values_list("key", flat=True)),
        "loss": Calibration.Loss.MORE_THAN_ONE_POINT,
        "risk": 0.2,
        "significance_level": 0.1,
        "accepted_share": 0.5,
        "raters": project.raters_per_item,
    }
