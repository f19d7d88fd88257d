"""Forms for the content of an export."""

import re
from typing import Any

from django import forms
from django.core.files.uploadedfile import UploadedFile
from django.utils.text import format_lazy
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from annotate.exports.choice import LABELS, ExportChoice, Format
from annotate.exports.citation import Card, Datasheet, DatasheetSection, SplitName, read_text_licences
from annotate.exports.registry import ExportPart

PARTS = {
    ExportPart.COMMENTS: _("Comments: the reasons given with ratings and decisions"),
    ExportPart.THREADS: _("Threads: what raters wrote to each other about disputed units"),
    ExportPart.REPLIES: _("Raw replies of judges, with the reasons in them"),
    ExportPart.SOURCES: _(
        "Source texts: the documents themselves, where their licence lets you pass them on"
    ),
    ExportPart.RATERS: _(
        "Raters from outside: their IDs on the platform, and their answers about themselves"
    ),
}


class ExportForm(forms.Form):
    """A format, the parts to include, and the licence that a data set states."""

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
    authors = forms.CharField(
        required=False,
        max_length=10_000,
        widget=forms.Textarea(attrs={"rows": 2}),
        help_text=_("For a data set, one citation per line; the data card then contains the BibTeX entry."),
    )
    address = forms.URLField(
        required=False,
        max_length=500,
        assume_scheme="https",
        help_text=_("URL of the data set or its paper. Optional."),
    )
    text_licences = forms.CharField(
        label=_("Licences of the sources"),
        required=False,
        max_length=10_000,
        widget=forms.Textarea(attrs={"rows": 2}),
        help_text=_("One line for each source, such as “Reviews: CC BY-SA 4.0”. Optional."),
    )
    split = forms.ChoiceField(
        required=False,
        choices=[(each.value, each.value) for each in SplitName],
        help_text=_("For a data set: the split of all its rows. A benchmark is for testing."),
    )

    def clean_text_licences(self) -> tuple[tuple[str, str], ...]:
        try:
            return read_text_licences(self.cleaned_data["text_licences"])
        except ValueError as error:
            says = gettext("Write the source, a colon and its licence; this line has none of it: “{line}”.")
            raise forms.ValidationError(says.format(line=error)) from error

    @property
    def choice(self) -> ExportChoice:
        given = self.cleaned_data
        left_out = frozenset(ExportPart) - {ExportPart(each) for each in given["parts"]}
        authors = (line.strip() for line in given["authors"].splitlines())
        card = Card(
            tuple(filter(None, authors)),
            given["address"],
            given["text_licences"],
            SplitName(given["split"] or SplitName.TEST),
        )
        return ExportChoice(Format(given["format"]), left_out, given["licence"].strip(), card)


SECTIONS = {
    DatasheetSection.MOTIVATION: _("Why did you create the data set, who created it, and who paid for it?"),
    DatasheetSection.COMPOSITION: _(
        "Which documents and outputs does it contain, where do they come from, and which are missing?"
    ),
    DatasheetSection.COLLECTION: _("Who are the raters, how were they trained, and what were they paid?"),
    DatasheetSection.PREPROCESSING: _("Which data did you clean, exclude or change before the rating?"),
    DatasheetSection.USES: _("Which uses are intended, and which are not?"),
    DatasheetSection.DISTRIBUTION: _("Where is it published, and under which terms?"),
    DatasheetSection.MAINTENANCE: _(
        "Who keeps it up, where are mistakes reported, and where do versions stay?"
    ),
}
LARGEST_EXPORT_FILE = 20 * 1024**2


class ExportFileForm(forms.Form):
    """The file of an export that becomes a project."""

    file = forms.FileField(
        help_text=format_lazy(
            _("The zip file of a JSONL export, max. {value} MB."), value=LARGEST_EXPORT_FILE // 1024**2
        )
    )

    def clean_file(self) -> "UploadedFile[Any]":
        """Reject a file that is too large to be read in the request."""
        file: UploadedFile[Any] = self.cleaned_data["file"]
        if (file.size or 0) > LARGEST_EXPORT_FILE:
            says = gettext("This file is too large for the browser; import it with manage.py import_export.")
            raise forms.ValidationError(says)
        return file


LANGUAGE = re.compile(r"[a-z]{2,3}(-[A-Za-z0-9]{1,8})*", re.ASCII)
TASK = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*", re.ASCII)
LONGEST_SECTION = 20_000


class DatasheetForm(forms.Form):
    """Languages, tasks, and the content of each section of the datasheet."""

    languages = forms.CharField(
        required=False, max_length=500, help_text=_("Codes with commas between them, such as en, pt-BR.")
    )
    task_categories = forms.CharField(
        label=_("Task categories"),
        required=False,
        max_length=500,
        help_text=_("As the Hugging Face Hub names them, with commas: summarization, text-generation."),
    )

    @classmethod
    def values_of(cls, datasheet: Datasheet) -> dict[str, str]:
        """Return the initial values of the form for a datasheet."""
        lists = {
            "languages": ", ".join(datasheet.languages),
            "task_categories": ", ".join(datasheet.task_categories),
        }
        return lists | {each.value: datasheet.sections.get(each, "") for each in DatasheetSection}

    def clean_languages(self) -> tuple[str, ...]:
        says = gettext("“{word}” is no code of a language; write such as en or pt-BR.")
        return _read_list(self.cleaned_data["languages"], LANGUAGE, says)

    def clean_task_categories(self) -> tuple[str, ...]:
        says = gettext("“{word}” is not a task name; use a name such as text-generation.")
        return _read_list(self.cleaned_data["task_categories"], TASK, says)

    @property
    def datasheet(self) -> Datasheet:
        given = self.cleaned_data
        sections = {each: given[each.value] for each in DatasheetSection if given[each.value]}
        return Datasheet(given["languages"], given["task_categories"], sections)


# The fields come from the enumeration of sections, so no second list can miss one.
for _section, _says in SECTIONS.items():
    DatasheetForm.base_fields[_section.value] = forms.CharField(
        required=False,
        max_length=LONGEST_SECTION,
        widget=forms.Textarea(attrs={"rows": 4}),
        help_text=_says,
    )


class PushForm(forms.Form):
    """The repository of a data set on the Hub."""

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


def _read_list(entered: str, pattern: re.Pattern[str], says: str) -> tuple[str, ...]:
    """Return the words of a list with commas, each once. Raises ValidationError for an invalid word."""
    words = tuple(dict.fromkeys(filter(None, map(str.strip, entered.split(",")))))
    for word in words:
        if not pattern.fullmatch(word):
            raise forms.ValidationError(says.format(word=word))
    return words


EVERYTHING = {"format": Format.JSONL.value, "parts": [each.value for each in ExportPart]}
