"""What the pages of Round II send."""

from typing import Any

from django import forms
from django.http import QueryDict
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from annotate.forms.ratings import EvidenceField
from annotate.models import Dispute, Project, Role
from annotate.queries.dispute_list import DisputeFilter

SILENT = [
    ("", _("any time")),
    ("1", _("a day")),
    ("3", _("3 days")),
    ("7", _("7 days")),
    ("14", _("14 days")),
]


class DisputeAnswerForm(forms.Form):
    """Keep one's value (`keep` is what the page showed it to be) or change it, with reason and evidence."""

    keep = forms.IntegerField(required=False)
    value = forms.IntegerField(
        required=False, error_messages={"invalid": _("A rating is a whole number on the scale.")}
    )
    comment = forms.CharField(required=False)
    evidence = EvidenceField(required=False)
    seen_revision = forms.IntegerField(
        min_value=0, error_messages={"required": _("This page is out of date; load it again.")}
    )

    seen_status = forms.CharField(required=False)
    stay = forms.BooleanField(required=False)

    @property
    def given(self) -> dict[str, Any]:
        """The answer, and what the page showed when it was given."""
        given = ("value", "comment", "evidence", "seen_revision", "seen_status")
        return {name: self.cleaned_data[name] for name in given}

    def clean(self) -> dict[str, object]:
        """Require one of the two: a number that was not typed does not mean to keep."""
        data = super().clean() or {}
        if data.get("keep") is not None:
            data["value"] = data["keep"]
        elif data.get("value") is None and "value" not in self.errors:
            self.add_error("value", gettext("Choose the value to change to, or keep yours."))
        return data


class UndoForm(forms.Form):
    """Which answer is taken back."""

    revision = forms.IntegerField(
        min_value=1, error_messages={"required": _("This page is out of date; load it again.")}
    )


class AfterForm(forms.Form):
    """The number of the dispute that was answered before this page came, as its address says."""

    after = forms.IntegerField(min_value=1, max_value=2**31 - 1)


class PostForm(forms.Form):
    """One message of the thread; length and emptiness are judged by the command."""

    text = forms.CharField(required=False)


class AdjudicationForm(forms.Form):
    """An admin's decision about a disputed unit: a value, to leave it open, or to open it again."""

    value = forms.IntegerField(
        required=False, error_messages={"invalid": _("A rating is a whole number on the scale.")}
    )
    note = forms.CharField(required=False, strip=True)
    leave_open = forms.BooleanField(required=False)
    open_again = forms.BooleanField(required=False)
    ask_again = forms.BooleanField(required=False)

    @property
    def needs_value(self) -> bool:
        """Whether the decision is a value."""
        data = self.cleaned_data
        return not any(data.get(name) for name in ("leave_open", "open_again", "ask_again"))

    def clean(self) -> dict[str, object]:
        """Require a value unless the unit is left open, opened again or to be answered again."""
        data = super().clean() or {}
        if self.needs_value and data.get("value") is None and "value" not in self.errors:
            self.add_error("value", gettext("Choose the value that shall stand."))
        return data


def _rater(alias: str) -> str:
    return gettext("Rater {alias}").format(alias=alias)


class DisputeFilterForm(forms.Form):
    """Which disputes of a project are meant; what it does not know means any."""

    status = forms.ChoiceField(required=False, choices=[("", _("any")), *Dispute.Status.choices])
    dimension = forms.ChoiceField(required=False)
    silent = forms.TypedChoiceField(
        required=False, choices=SILENT, coerce=int, empty_value=None, label=_("Open without a word for")
    )
    rater = forms.ChoiceField(required=False, label=_("Waits for"))

    def __init__(self, entered: QueryDict, *, project: Project) -> None:
        super().__init__(entered)
        dimensions = project.dimensions.values_list("key", "name")
        raters = project.memberships.filter(role=Role.ANNOTATOR).order_by("alias")
        anyone = ("", gettext("any"))
        self.fields["dimension"] = forms.ChoiceField(required=False, choices=[anyone, *dimensions])
        self.fields["rater"] = forms.ChoiceField(
            required=False,
            label=gettext("Waits for"),
            choices=[anyone, *((rater.alias, _rater(rater.alias)) for rater in raters)],
        )

    @property
    def chosen(self) -> DisputeFilter:
        """What is meant."""
        self.is_valid()
        return DisputeFilter(**{name: self.cleaned_data[name] for name in self.cleaned_data})

    @property
    def query(self) -> str:
        """The same as a page's address ends with."""
        found = QueryDict(mutable=True)
        found["all"] = "1"
        for name, value in vars(self.chosen).items():
            if value not in ("", None):
                found[name] = str(value)
        return found.urlencode()
