"""What goes out in an export."""

from django import forms
from django.utils.translation import gettext_lazy as _

from annotate.exports.choice import LABELS, ExportChoice, Format
from annotate.exports.registry import Part

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
        help_text=_("The licence's Hugging Face identifier, such as cc-by-4.0. Optional."),
    )

    @property
    def choice(self) -> ExportChoice:
        """What was entered, where it is valid."""
        given = self.cleaned_data
        left_out = frozenset(Part) - {Part(each) for each in given["parts"]}
        return ExportChoice(Format(given["format"]), left_out, given["licence"].strip())


class PushForm(forms.Form):
    """Where a data set goes on the Hub."""

    repository = forms.CharField(
        max_length=200,
        help_text=_("On the Hugging Face Hub, such as name/data-set. It is created if it does not exist."),
    )
    private = forms.BooleanField(
        label=_("Private"),
        required=False,
        initial=True,
        help_text=_("A new repository is private until its owners make it public."),
    )


EVERYTHING = {"format": Format.JSONL.value, "parts": [each.value for each in Part]}
