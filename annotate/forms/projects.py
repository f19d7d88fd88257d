"""A project begun, and its settings."""

from collections.abc import Iterable, Mapping
from typing import Any

from django import forms
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from annotate.commands.projects import FREE_FIELDS, FROZEN_FIELDS
from annotate.forms.dimensions import note_field
from annotate.models import Project, SavedTemplate
from annotate.presets import TEMPLATES

NO_TEMPLATE = ""


class NewProjectForm(forms.Form):
    """The name of a new project and what it starts from."""

    name = forms.CharField(max_length=150, help_text=_("Its address is made from it."))
    template = forms.ChoiceField(
        label=_("Start from"),
        required=False,
        widget=forms.RadioSelect,
        help_text=_("Everything in a template can be changed until Round I opens."),
    )

    def __init__(
        self, entered: Mapping[str, Any] | None, *, own: Iterable[SavedTemplate], start: str
    ) -> None:
        presets = [(each.key, f"{each.name}. {each.summary}") for each in TEMPLATES.values()]
        saved = [(each.key, f"{each.name}. Your template, saved {each.saved_at:%Y-%m-%d}.") for each in own]
        choices = [*saved, *presets, (NO_TEMPLATE, "Nothing: add dimensions yourself.")]
        known = start in (key for key, _ in choices)
        super().__init__(entered, initial={"template": start if known else presets[0][0]})
        self.fields["template"].choices = choices  # type: ignore[attr-defined]


class SettingsForm(forms.Form):
    """What holds for a whole project."""

    name = forms.CharField(max_length=150)
    description = forms.CharField(
        required=False,
        widget=forms.Textarea(attrs={"rows": 3}),
        help_text=_("What is rated and why; everyone in the project reads it."),
    )
    reservation_minutes = forms.IntegerField(
        label=_("Minutes that an item stays reserved"),
        min_value=1,
        max_value=60 * 24 * 30,
        help_text=_("An item that an annotator has opened but not rated goes to others after this time."),
    )
    guidelines = forms.CharField(
        label=_("Guidelines for all dimensions"),
        required=False,
        widget=forms.Textarea(attrs={"rows": 10, "dir": "auto"}),
        help_text=_("Markdown, with pictures. Annotators can open it beside every item."),
    )
    raters_per_item = forms.IntegerField(
        label=_("Raters per item"),
        min_value=1,
        max_value=50,
        help_text=_("How many annotators rate each item."),
    )
    dispute_threshold = forms.IntegerField(
        min_value=1,
        max_value=1000,
        help_text=_("A unit whose Round I values lie this far apart, or more, is disputed."),
    )
    tolerance = forms.IntegerField(
        min_value=0,
        max_value=1000,
        help_text=_(
            "A dispute is settled when all values lie within this distance; less than the threshold."
        ),
    )

    def __init__(self, entered: Mapping[str, Any] | None, *, project: Project, frozen: bool) -> None:
        initial = {field: getattr(project, field) for field in (*FREE_FIELDS, *FROZEN_FIELDS)}
        super().__init__(entered, initial=initial)
        if frozen:
            for field in self.fields.keys() & set(FROZEN_FIELDS):
                self.fields[field].disabled = field != "guidelines"
            self.fields["note"] = note_field()
        self._project = project

    @property
    def reworded(self) -> bool:
        """Whether the guidelines are to read otherwise."""
        return bool(self.cleaned_data["guidelines"] != self._project.guidelines)

    @property
    def settings(self) -> dict[str, Any]:
        """The checked settings, without the note on a change of wording."""
        return {name: value for name, value in self.cleaned_data.items() if name != "note"}

    def clean(self) -> dict[str, Any]:
        """Refuse a tolerance that would settle what the threshold disputes."""
        values = self.cleaned_data
        if values.get("tolerance", 0) >= values.get("dispute_threshold", 1001):
            self.add_error("tolerance", gettext("The tolerance must be less than the dispute threshold."))
        return values


class SettingsPageForm(SettingsForm):
    """The settings as their page shows them; when units are disputed is set on a page of its own."""

    dispute_threshold = None  # type: ignore[assignment] # Django's way of taking a field away
    tolerance = None  # type: ignore[assignment]
