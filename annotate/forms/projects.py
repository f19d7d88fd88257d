"""A project begun, and its settings."""

from collections.abc import Mapping
from typing import Any

from django import forms

from annotate.commands.projects import FREE_FIELDS, FROZEN_FIELDS
from annotate.forms.dimensions import note_field
from annotate.models import Project
from annotate.presets import TEMPLATES
from annotate.specification import ProjectTemplate

NO_TEMPLATE = ""


class NewProjectForm(forms.Form):
    """The name of a new project and what it starts from."""

    name = forms.CharField(max_length=150, help_text="Its address is made from it.")
    template = forms.ChoiceField(
        label="Start from",
        required=False,
        initial=next(iter(TEMPLATES)),
        widget=forms.RadioSelect,
        choices=[
            *((template.key, f"{template.name}. {template.summary}") for template in TEMPLATES.values()),
            (NO_TEMPLATE, "Nothing: add dimensions yourself."),
        ],
        help_text="Everything in a template can be changed until Round I opens.",
    )

    @property
    def chosen_template(self) -> ProjectTemplate | None:
        """The template to start from, None for nothing."""
        return TEMPLATES.get(self.cleaned_data["template"])


class SettingsForm(forms.Form):
    """What holds for a whole project."""

    name = forms.CharField(max_length=150)
    description = forms.CharField(
        required=False,
        widget=forms.Textarea(attrs={"rows": 3}),
        help_text="What is rated and why; everyone in the project reads it.",
    )
    reservation_minutes = forms.IntegerField(
        label="Minutes that an item stays reserved",
        min_value=1,
        max_value=60 * 24 * 30,
        help_text="An item that an annotator has opened but not rated goes to others after this time.",
    )
    guidelines = forms.CharField(
        label="Guidelines for all dimensions",
        required=False,
        widget=forms.Textarea(attrs={"rows": 10, "dir": "auto"}),
        help_text="Markdown, with pictures. Annotators can open it beside every item.",
    )
    raters_per_item = forms.IntegerField(
        label="Raters per item", min_value=1, max_value=50, help_text="How many annotators rate each item."
    )
    dispute_threshold = forms.IntegerField(
        min_value=1,
        max_value=1000,
        help_text="A unit whose Round I values lie this far apart, or more, is disputed.",
    )
    tolerance = forms.IntegerField(
        min_value=0,
        max_value=1000,
        help_text="A dispute is settled when all values lie within this distance; less than the threshold.",
    )

    def __init__(self, entered: Mapping[str, Any] | None, *, project: Project, frozen: bool) -> None:
        initial = {field: getattr(project, field) for field in (*FREE_FIELDS, *FROZEN_FIELDS)}
        super().__init__(entered, initial=initial)
        if frozen:
            for field in FROZEN_FIELDS:
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
            self.add_error("tolerance", "The tolerance must be less than the dispute threshold.")
        return values
