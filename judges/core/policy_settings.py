"""The settings of a routing policy, each declared once.

Forms, the API, the command and the audit log read `POLICY_SETTINGS`. `RoutingPolicy` stores the settings and
`PolicySpec` types them; a test compares both with the list.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from django import forms
from django.db import models
from django.utils.text import format_lazy
from django.utils.translation import gettext_lazy as _

from agreement.reliability import LEAST_RATINGS
from judges.core.models import RoutingPolicy
from judges.core.specification import CONFIDENCE_LEVELS

SHARE = {"step": "0.001"}


class PolicySection(StrEnum):
    RULE = "rule"
    WORK = "work"
    MORE = "more"


@dataclass(frozen=True)
class PolicySetting:
    """A setting of a policy, which is a field of `RoutingPolicy` and `PolicySpec`.

    field: its form field. option: its option of `manage.py route`. certified_field: its form field in
    policies by certificates; None if these policies do not have it. usual: the initial value of a new policy,
    if it differs from the default of its column.
    """

    name: str
    section: PolicySection
    field: forms.Field
    option: str
    certified_field: forms.Field | None = None
    usual: Any = None

    @property
    def default(self) -> Any:
        """Its value in a new policy; None for the number of raters, which the project defines."""
        column = RoutingPolicy._meta.get_field(self.name)
        assert isinstance(column, models.Field)
        return self.usual if self.usual is not None else column.get_default()

    @property
    def limits(self) -> tuple[float, float]:
        # By R the confidence level is a choice from a list, and only the other field has limits.
        field = self.certified_field or self.field
        assert isinstance(field, forms.IntegerField)
        low, high = field.min_value, field.max_value
        assert isinstance(low, int | float)
        assert isinstance(high, int | float)
        return low, high


class _LeastAuditedField(forms.IntegerField):
    """Minimum number of audited units per system and dimension; the usual number if empty."""

    def clean(self, value: Any) -> int:
        entered = super().clean(value)
        # 0 is a choice (by share only), so an empty field must not become 0.
        return LEAST_RATINGS if entered is None else int(entered)


_AUDIT_SHARE = forms.FloatField(
    label=_("Audit share"),
    min_value=0.001,
    max_value=1,
    widget=forms.NumberInput(SHARE),
    help_text=_("Units that stay are rated by people with this probability; 0.05 is one in twenty."),
)
_AUDIT_LEAST = _LeastAuditedField(
    label=_("Audited units of each system at least"),
    required=False,
    min_value=0,
    max_value=100_000,
    help_text=format_lazy(
        _(
            "Per dimension, or all remaining units if there are fewer; {least} if left empty. "
            "With fewer than {least}, intervals of single systems come with a warning. 0: by "
            "share only."
        ),
        least=LEAST_RATINGS,
    ),
)
_RATERS = forms.IntegerField(label=_("People per unit"), min_value=1, max_value=50)

POLICY_SETTINGS = (
    PolicySetting(
        "threshold",
        PolicySection.RULE,
        forms.FloatField(
            label=_("Threshold r"),
            required=False,
            min_value=-1,
            max_value=1,
            widget=forms.NumberInput({"step": "any"}),
            help_text=_("A system stays with the judge on a dimension where R is above r."),
        ),
        "--threshold",
        # A cautious start on the lower bound of R, see docs/how-to/which-r.md.
        usual=0.4,
    ),
    PolicySetting(
        "decided_by",
        PolicySection.WORK,
        forms.ChoiceField(
            label=_("Statistic that must exceed r"),
            choices=RoutingPolicy.DecidedBy.choices,
            help_text=_("Over 100 items R is known to about ±0.2: near r, R itself is mostly a coin toss."),
        ),
        "--estimate",
    ),
    PolicySetting("audit_share", PolicySection.WORK, _AUDIT_SHARE, "--audit", _AUDIT_SHARE),
    PolicySetting("audit_least", PolicySection.WORK, _AUDIT_LEAST, "--audit-least", _AUDIT_LEAST),
    PolicySetting("raters", PolicySection.WORK, _RATERS, "--raters", _RATERS),
    PolicySetting(
        "audit",
        PolicySection.MORE,
        forms.ChoiceField(
            label=_("Audited units"),
            choices=RoutingPolicy.Audit.choices,
            help_text=_(
                "Samples more units on which RTS and MCQ differ, because errors may be likelier "
                "there. Results are weighted accordingly."
            ),
        ),
        "--audit-where-errors-are-expected",
    ),
    PolicySetting(
        "coefficient",
        PolicySection.MORE,
        forms.ChoiceField(choices=RoutingPolicy.Coefficient.choices),
        "--coefficient",
    ),
    PolicySetting(
        "confidence_level",
        PolicySection.MORE,
        forms.TypedChoiceField(
            label=_("Confidence level"),
            choices=[(level, f"{100 * level:g} %") for level in CONFIDENCE_LEVELS],
            coerce=float,
            help_text=_("Of R's interval, and of the audit's."),
        ),
        "--confidence",
        forms.FloatField(
            label=_("Confidence level"),
            min_value=0.5,
            max_value=0.999,
            widget=forms.NumberInput(SHARE),
            help_text=_(
                "Of the audit: at 0.95, at most one in twenty audits contradicts a valid certificate."
            ),
        ),
    ),
    PolicySetting(
        "risk",
        PolicySection.MORE,
        forms.FloatField(
            label=_("Accepted share of errors"),
            min_value=0.001,
            max_value=0.999,
            widget=forms.NumberInput(SHARE),
            help_text=_(
                "Units on which the judge is more than a point off. An audit that shows more is a warning."
            ),
        ),
        "--risk",
    ),
)
"""What can be set of a policy besides its name, judges, calibration and the r of single dimensions."""

POLICY_SETTING = {each.name: each for each in POLICY_SETTINGS}


def names_of_policy_settings(*sections: PolicySection, certified: bool = False) -> Iterator[str]:
    for each in POLICY_SETTINGS:
        if (not sections or each.section in sections) and (each.certified_field or not certified):
            yield each.name
