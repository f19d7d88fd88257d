"""By which rule units are to go to people or stay with a judge."""

from collections.abc import Mapping, Sequence
from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from annotate.models import Project
from judges.models import Calibration, Judge, RoutingPolicy
from judges.specification import PolicySpec, by_certificates

NUMBER = {"step": "0.01"}
OF_DIMENSION = "r-"


class RoutingForm(forms.Form):
    """A routing policy; every dimension may have an r of its own."""

    name = forms.CharField(max_length=80)
    rts = forms.ModelChoiceField(
        Judge.objects.none(),
        label=_("RTS judge"),
        empty_label=None,
        help_text=_("Its values stand where units stay."),
    )
    mcq = forms.ModelChoiceField(
        Judge.objects.none(), label=_("MCQ judge"), empty_label=None, help_text=_("Of the same model.")
    )
    threshold = forms.FloatField(
        label=_("Threshold r"),
        min_value=-1,
        max_value=1,
        widget=forms.NumberInput(NUMBER),
        help_text=_("A system stays with the judge on a dimension where R is above r."),
    )
    decided_by = forms.ChoiceField(
        label=_("What must be above r"),
        choices=RoutingPolicy.DecidedBy.choices,
        help_text=_("Over 100 items R is known to about ±0.2: near r, R itself is mostly a coin toss."),
    )
    audit_share = forms.FloatField(
        label=_("Audit share"),
        min_value=0.001,
        max_value=1,
        widget=forms.NumberInput({"step": "0.001"}),
        help_text=_("Units that stay are rated by people with this probability; 0.05 is one in twenty."),
    )
    audit = forms.ChoiceField(
        label=_("What is audited"),
        choices=RoutingPolicy.Audit.choices,
        help_text=_("Where RTS and MCQ differ more, errors may be likelier; figures allow for it."),
    )
    raters = forms.IntegerField(label=_("People per unit"), min_value=1, max_value=50)
    coefficient = forms.ChoiceField(choices=RoutingPolicy.Coefficient.choices)
    confidence_level = forms.FloatField(
        label=_("Confidence level"),
        min_value=0.5,
        max_value=0.999,
        widget=forms.NumberInput({"step": "0.001"}),
        help_text=_("Of R's interval, and of the audit's."),
    )
    risk = forms.FloatField(
        label=_("Accepted share of errors"),
        min_value=0.001,
        max_value=0.999,
        widget=forms.NumberInput({"step": "0.001"}),
        help_text=_(
            "Units on which the judge is more than a point off. An audit that shows more is a warning."
        ),
    )

    def __init__(self, entered: Mapping[str, Any] | None, *, project: Project, **options: Any) -> None:
        super().__init__(entered, **options)
        for method in ("rts", "mcq"):
            field = self.fields[method]
            assert isinstance(field, forms.ModelChoiceField)
            field.queryset = Judge.objects.filter(project=project, method=method).order_by("name")
        self._keys = list(project.dimensions.values_list("key", "name"))
        for key, name in self._keys:
            self.fields[OF_DIMENSION + key] = forms.FloatField(
                label=name, required=False, min_value=-1, max_value=1, widget=forms.NumberInput(NUMBER)
            )

    @property
    def usual(self) -> list[forms.BoundField]:
        """Return what is asked first."""
        return [self[name] for name in ("rts", "mcq", "threshold", "decided_by", "audit_share", "raters")]

    @property
    def further(self) -> list[forms.BoundField]:
        """Return what most policies leave as it is."""
        return [self[name] for name in ("audit", "coefficient", "confidence_level", "risk")]

    @property
    def of_dimensions(self) -> list[forms.BoundField]:
        """Return the thresholds of single dimensions."""
        return [self[OF_DIMENSION + key] for key, _ in self._keys]

    def spec(self) -> PolicySpec:
        """Return the policy that was entered."""
        data = self.cleaned_data
        own = {key: data[OF_DIMENSION + key] for key, _ in self._keys}
        thresholds = {key: r for key, r in own.items() if r is not None}
        plain = {name: data[name] for name in data if not name.startswith(OF_DIMENSION)}
        return PolicySpec(**plain, thresholds=thresholds)


class CertifiedRoutingForm(forms.Form):
    """A routing policy that follows the certificates of a calibration."""

    name = forms.CharField(max_length=80)
    audit_share = forms.FloatField(
        label=_("Audit share"),
        min_value=0.001,
        max_value=1,
        widget=forms.NumberInput({"step": "0.001"}),
        help_text=_("Units that stay are rated by people with this probability; 0.05 is one in twenty."),
    )
    raters = forms.IntegerField(label=_("People per unit"), min_value=1, max_value=50)
    confidence_level = forms.FloatField(
        label=_("Confidence level"),
        min_value=0.5,
        max_value=0.999,
        widget=forms.NumberInput({"step": "0.001"}),
        help_text=_("Of the audit: at 0.95 one in twenty audits of a true certificate contradicts it."),
    )
    of_dimensions: Sequence[forms.BoundField] = ()

    def __init__(
        self, entered: Mapping[str, Any] | None, *, calibration: Calibration, **options: Any
    ) -> None:
        super().__init__(entered, **options)
        self._calibration = calibration

    @property
    def usual(self) -> list[forms.BoundField]:
        """Return what is asked first."""
        return [self[name] for name in ("audit_share", "raters")]

    @property
    def further(self) -> list[forms.BoundField]:
        """Return what most policies leave as it is."""
        return [self["confidence_level"]]

    def spec(self) -> PolicySpec:
        """Return the policy that was entered."""
        return by_certificates(self._calibration, **self.cleaned_data)


def form_of(
    policy: RoutingPolicy, entered: Mapping[str, Any] | None, project: Project
) -> RoutingForm | CertifiedRoutingForm:
    """Return the form for a draft, by the rule that it follows."""
    if policy.calibration is not None:
        names = ("name", "audit_share", "raters", "confidence_level")
        initial = {name: getattr(policy, name) for name in names}
        return CertifiedRoutingForm(entered, calibration=policy.calibration, initial=initial)
    return RoutingForm(entered, project=project, initial=values_of(policy))


def usual_values(project: Project, names: Sequence[str]) -> dict[str, Any]:
    """Return what a new policy begins with."""
    return {
        "name": unused_name(names),
        "threshold": 0.4,
        "decided_by": RoutingPolicy.DecidedBy.LOWER_BOUND,
        "audit": RoutingPolicy.Audit.RANDOM,
        "audit_share": 0.05,
        "raters": project.raters_per_item,
        "coefficient": RoutingPolicy.Coefficient.SPEARMAN,
        "confidence_level": 0.95,
        "risk": 0.2,
    }


def unused_name(names: Sequence[str]) -> str:
    """Return a name for a new policy."""
    number = len(names) + 1
    while f"Policy {number}" in names:
        number += 1
    return f"Policy {number}"


def values_of(policy: RoutingPolicy) -> dict[str, Any]:
    """Return what a form of this policy begins with."""
    names = ("name", "rts", "mcq", "threshold", "decided_by", "audit_share", "raters", "coefficient")
    plain = {name: getattr(policy, name) for name in (*names, "audit", "confidence_level", "risk")}
    return {**plain, **{OF_DIMENSION + key: r for key, r in policy.thresholds.items()}}
