"""What the audit log is narrowed by, and the name that deletes a project."""

from datetime import datetime, time, timedelta
from typing import Any

from django import forms
from django.http import QueryDict
from django.utils import timezone
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from annotate.core.forms import offer_choices
from annotate.watching.queries.audit import AuditChoices
from annotate.watching.queries.audit_sources import AuditFilter


class AuditForm(forms.Form):
    """Who, what, on what, and when; what is left empty does not narrow."""

    who = forms.ChoiceField(label=_("Who"), required=False)
    what = forms.ChoiceField(label=_("What"), required=False)
    word = forms.CharField(label=_("On"), required=False, max_length=100, help_text=_("A word of its name."))
    since = forms.DateField(label=_("From"), required=False, widget=forms.DateInput(attrs={"type": "date"}))
    until = forms.DateField(label=_("Until"), required=False, widget=forms.DateInput(attrs={"type": "date"}))

    def __init__(self, entered: QueryDict, choices: AuditChoices) -> None:
        super().__init__(entered)
        offer_choices(self, "who", [("", gettext("anyone")), *choices.people])
        things = [(each, each.replace("_", " ")) for each in choices.things]
        offer_choices(self, "what", [("", gettext("anything")), *things])

    @property
    def wanted(self) -> AuditFilter:
        """What is looked for; a field that cannot be read does not narrow, and its error is shown."""
        self.is_valid()
        given: dict[str, Any] = self.cleaned_data
        since, until = given.get("since"), given.get("until")
        return AuditFilter(
            who=given.get("who", ""),
            what=given.get("what", ""),
            word=given.get("word", "").strip(),
            since=_midnight(since) if since else None,
            until=_midnight(until + timedelta(days=1)) if until else None,
        )


class DeletionForm(forms.Form):
    """The project's name, typed."""

    name = forms.CharField(
        label=_("Type the project's name to delete it"), widget=forms.TextInput(attrs={"autocomplete": "off"})
    )


def _midnight(day: Any) -> datetime:
    return timezone.make_aware(datetime.combine(day, time.min))
