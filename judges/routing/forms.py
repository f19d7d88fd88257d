"""Forms of the routing pages."""

from collections.abc import Mapping, Sequence
from typing import Any

from django import forms
from django.db.models import QuerySet
from django.utils.text import format_lazy
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from annotate.core.models import Project
from judges.core.material import names_of_scales, scales_of
from judges.core.models import Calibration, Judge, RoutingPolicy
from judges.core.page import offer
from judges.core.policy_settings import POLICY_SETTINGS, PolicySection, names_of_policy_settings
from judges.core.specification import CalibrationSpec, PolicySpec, policy_from_certificates
from judges.results.queries.pairings import of_method, scoring_judges

# Settings of a calibration's test: the judge, the loss, the guarantee, and the sample size.

SHARE = {"step": "any"}
FURTHER_STAGES = (2, 3)


class CalibrationForm(forms.Form):
    """All settings of a test that are fixed before the ratings are seen."""

    judge = forms.ModelChoiceField(
        Judge.objects.none(),
        empty_label=None,
        help_text=_("Its values are used for the units that stay with it."),
    )
    confidence = forms.ChoiceField(
        label=_("How sure it is of a unit"),
        choices=Calibration.Confidence.choices,
        help_text=_(
            "Units with a high value stay with the judge. A poor measure keeps fewer units; "
            "the guarantee holds for any."
        ),
    )
    other = forms.ModelChoiceField(
        Judge.objects.none(),
        label=_("Second judge"),
        required=False,
        empty_label=_("none"),
        help_text=_(
            "The MCQ judge of the same model. Required for closeness, and useful for a model of errors."
        ),
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
        help_text=_("Maximum share of the judge's units that may be wrong."),
    )
    significance_level = forms.FloatField(
        label=_("Delta"),
        min_value=0.0001,
        max_value=0.5,
        widget=forms.NumberInput(SHARE),
        help_text=_("The chance that the promise fails, over all dimensions; 0.1: a confidence of 90 %."),
    )
    expected_error = forms.FloatField(
        label=_("Expected share of wrong units among the judge's units"),
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
        label=_("Units to sample per dimension"),
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
        # A form needs a queryset, and `judges` is a list.
        measured = Judge.objects.filter(pk__in=[judge.pk for judge in judges], archived_at=None)
        for name in ("judge", "other"):
            offer(self, name, measured.order_by("name").select_related("endpoint", "template"))
        # A later judge may have judged nothing yet.
        asked = scoring_judges(project)
        for number in FURTHER_STAGES:
            for name in (f"judge_{number}", f"other_{number}"):
                offer(self, name, asked.select_related("endpoint", "template"))
        dimensions = self.fields["dimensions"]
        assert isinstance(dimensions, forms.MultipleChoiceField)
        dimensions.choices, has_others = names_of_scales(project)
        if has_others:
            dimensions.help_text = gettext(
                "Scales only: a certificate bounds the error of a number or a category, and its confidence "
                "needs one for each item."
            )

    @property
    def usual(self) -> list[forms.BoundField]:
        names = ("judge", "confidence", "other", "dimensions", "loss", "cut", "risk", "significance_level")
        return [self[name] for name in names]

    @property
    def stages(self) -> list[forms.BoundField]:
        return [self[f"{name}_{number}"] for number in FURTHER_STAGES for name in ("judge", "other")]

    def clean(self) -> dict[str, Any]:
        data: dict[str, Any] = super().clean() or self.cleaned_data
        if data.get("judge_3") and not data.get("judge_2"):
            self.add_error("judge_2", _("Choose the second judge before the third."))
        return data

    @property
    def further(self) -> list[forms.BoundField]:
        return [self[name] for name in ("expected_error", "accepted_share", "size", "raters", "name")]

    def spec(self) -> CalibrationSpec:
        data = dict(self.cleaned_data)
        # Another loss uses no cut, and `check_spec` rejects one; the form may still send it.
        if data["loss"] != Calibration.Loss.OTHER_SIDE:
            data["cut"] = None
        chosen = [(data.pop(f"judge_{number}"), data.pop(f"other_{number}")) for number in FURTHER_STAGES]
        return CalibrationSpec(**data, stages=[(judge, other) for judge, other in chosen if judge])


for _number in FURTHER_STAGES:
    # A class body cannot declare fields under computed names.
    CalibrationForm.base_fields |= {
        f"judge_{_number}": forms.ModelChoiceField(
            Judge.objects.none(),
            required=False,
            label=format_lazy(_("Judge {number}"), number=_number),
            empty_label=_("none: the rest goes to people"),
            help_text=_("Judges what the judges before it are not sure of."),
        ),
        f"other_{_number}": forms.ModelChoiceField(
            Judge.objects.none(),
            required=False,
            label=format_lazy(_("Compare judge {number} with"), number=_number),
            empty_label=_("none"),
        ),
    }


USUAL_TEST = {
    "loss": Calibration.Loss.MORE_THAN_ONE_POINT,
    "risk": 0.2,
    "significance_level": 0.1,
    "accepted_share": 0.5,
}


def usual_calibration(project: Project, judges: list[Judge]) -> dict[str, Any]:
    """Return the initial values of a new calibration: the usual pair of judges, every dimension."""
    rts, mcq = of_method(judges, "rts"), of_method(judges, "mcq")
    kinds = Calibration.Confidence
    return {
        "name": unused_name(Calibration.objects.filter(project=project), "Calibration"),
        "judge": (rts or judges)[0].pk,
        "other": mcq[0].pk if mcq else None,
        "confidence": kinds.CLOSENESS if mcq else kinds.STEADINESS,
        "dimensions": list(scales_of(project).values_list("key", flat=True)),
        **USUAL_TEST,
        "raters": project.raters_per_item,
    }


# By which rule units are to go to people or stay with a judge.

NUMBER = {"step": "0.01"}
OF_DIMENSION = "r-"


class RoutingForm(forms.Form):
    """A routing policy; every dimension may have its own r. `POLICY_SETTINGS` are added below."""

    name = forms.CharField(max_length=80)
    rts = forms.ModelChoiceField(
        Judge.objects.none(),
        label=_("RTS judge"),
        empty_label=None,
        help_text=_("Its values are used for the units that stay with it."),
    )
    mcq = forms.ModelChoiceField(
        Judge.objects.none(), label=_("MCQ judge"), empty_label=None, help_text=_("Of the same model.")
    )
    budget = forms.IntegerField(
        label=_("Ratings that you can afford"),
        required=False,
        min_value=1,
        max_value=100_000_000,
        help_text=_("Or set a budget: Concord picks the largest r that fits, audits included."),
    )

    def __init__(self, entered: Mapping[str, Any] | None, *, project: Project, **options: Any) -> None:
        super().__init__(entered, **options)
        for method in ("rts", "mcq"):
            offered = Judge.objects.filter(project=project, method=method, archived_at=None)
            offer(self, method, offered.order_by("name"))
        self._keys, has_others = names_of_scales(project)
        if has_others:
            self.fields["mcq"].help_text = gettext(
                "Of the same model. Only scales are routed: R compares RTS with MCQ, which only scales have."
            )
        for key, name in self._keys:
            self.fields[OF_DIMENSION + key] = forms.FloatField(
                label=name, required=False, min_value=-1, max_value=1, widget=forms.NumberInput(NUMBER)
            )

    @property
    def usual(self) -> list[forms.BoundField]:
        names = names_of_policy_settings(PolicySection.WORK)
        return [self[name] for name in ("rts", "mcq", "threshold", "budget", *names)]

    @property
    def further(self) -> list[forms.BoundField]:
        return [self[name] for name in names_of_policy_settings(PolicySection.MORE)]

    @property
    def of_dimensions(self) -> list[forms.BoundField]:
        return [self[OF_DIMENSION + key] for key, _ in self._keys]

    def clean(self) -> dict[str, Any]:
        data: dict[str, Any] = super().clean() or self.cleaned_data
        given = ("threshold", "budget")
        # An invalid field has a message of its own already.
        if all(data.get(name) is None and name not in self.errors for name in given):
            self.add_error("threshold", _("Enter r, or the ratings that you can afford."))
        return data

    def spec(self) -> PolicySpec:
        """Return the entered policy; with a budget, its r is determined later."""
        data = {name: value for name, value in self.cleaned_data.items() if name != "budget"}
        own = {key: data[OF_DIMENSION + key] for key, _ in self._keys}
        thresholds = {key: r for key, r in own.items() if r is not None}
        plain = {name: data[name] for name in data if not name.startswith(OF_DIMENSION)}
        return PolicySpec(**plain, thresholds=thresholds)


RoutingForm.base_fields |= {each.name: each.field for each in POLICY_SETTINGS}


class CertifiedRoutingForm(forms.Form):
    """A routing policy that follows the certificates of a calibration."""

    name = forms.CharField(max_length=80)
    of_dimensions: Sequence[forms.BoundField] = ()

    def __init__(
        self, entered: Mapping[str, Any] | None, *, calibration: Calibration, **options: Any
    ) -> None:
        super().__init__(entered, **options)
        self._calibration = calibration

    @property
    def usual(self) -> list[forms.BoundField]:
        return [self[name] for name in names_of_policy_settings(PolicySection.WORK, certified=True)]

    @property
    def further(self) -> list[forms.BoundField]:
        return [self[name] for name in names_of_policy_settings(PolicySection.MORE, certified=True)]

    def spec(self) -> PolicySpec:
        return policy_from_certificates(self._calibration, **self.cleaned_data)


CertifiedRoutingForm.base_fields |= {
    each.name: each.certified_field for each in POLICY_SETTINGS if each.certified_field
}


def policy_form(
    project: Project, policy: RoutingPolicy | None, entered: Mapping[str, Any] | None
) -> RoutingForm | CertifiedRoutingForm:
    """Return the form for a new policy (None) or a draft, by the rule that it follows."""
    if policy is None:
        return RoutingForm(entered, project=project, initial=usual_values(project))
    names = ("name", "rts", "mcq", *names_of_policy_settings())
    initial = {name: getattr(policy, name) for name in names}
    if policy.calibration is not None:
        return CertifiedRoutingForm(entered, calibration=policy.calibration, initial=initial)
    initial |= {OF_DIMENSION + key: r for key, r in policy.thresholds.items()}
    return RoutingForm(entered, project=project, initial=initial)


def usual_values(project: Project) -> dict[str, Any]:
    """Return the initial values of a new policy. One query."""
    usual = {each.name: each.default for each in POLICY_SETTINGS}
    return {**usual, "name": usual_policy_name(project), "raters": project.raters_per_item}


def usual_policy_name(project: Project) -> str:
    """Return "Policy 2", with the next free number. One query."""
    return unused_name(RoutingPolicy.objects.filter(project=project), "Policy")


def unused_name(rows: QuerySet[Any], word: str) -> str:
    """Return an unused name with a number, such as "Calibration 2". One query."""
    names = set(rows.values_list("name", flat=True))
    # People may have chosen a number as a name.
    number = len(names) + 1
    while f"{word} {number}" in names:
        number += 1
    return f"{word} {number}"
