"""What goes out in an export."""

from django import forms
from django.utils.translation import gettext_lazy as _

from annotate.export_tables import Part
from annotate.exporting.choice import LABELS, Choice, Format

PARTS = {
    Part.COMMENTS: "Comments: the reasons given with ratings and decisions",
    Part.THREADS: "Threads: what raters wrote to each other about disputed units",
    Part.REPLIES: "Raw replies of judges, with the reasons in them",
    Part.SOURCES: "Source texts: the documents themselves, where their licence lets you pass them on",
}


class ExportForm(forms.Form):
    """A format, what goes with it, and the licence that a data set names."""

    format = forms.ChoiceField(
        choices=[(each.value, LABELS[each]) for each in Format], widget=forms.RadioSelect
    )
    parts = forms.MultipleChoiceField(
        label=_("With"),
        required=False,
        choices=[(each.value, label) for each, label in PARTS.items()],
        widget=forms.CheckboxSelectMultiple,
        help_text=_("People wrote these, or own them: leave out what you may not publish."),
    )
    licence = forms.CharField(
        required=False,
        max_length=100,
        help_text=_("Under which you publish, as Hugging Face calls it, such as cc-by-4.0. May stay empty."),
    )

    @property
    def choice(self) -> Choice:
        """What was entered, where it is valid."""
        given = self.cleaned_data
        left_out = frozenset(Part) - {Part(each) for each in given["parts"]}
        return Choice(Format(given["format"]), left_out, given["licence"].strip())


class PushForm(forms.Form):
    """Where a data set goes on the Hub."""

    repository = forms.CharField(
        max_length=200,
        help_text=_("On the Hugging Face Hub, such as name/data-set. It is made if it is not there."),
    )
    private = forms.BooleanField(
        label=_("Private"),
        required=False,
        initial=True,
        help_text=_("A repository that is made for it is seen by its owners only, until they open it there."),
    )


EVERYTHING = {"format": Format.JSONL.value, "parts": [each.value for each in Part]}
