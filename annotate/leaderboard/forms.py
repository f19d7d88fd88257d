"""Forms of pages about leaderboards."""

from pathlib import PurePath
from typing import Any

from django import forms
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from annotate.core.models import PublicLeaderboard
from annotate.core.page import offer_choices
from annotate.leaderboard.commands import LARGEST
from annotate.material.reading.jsonl import read_jsonl
from annotate.material.reading.readers import Reader
from annotate.material.reading.rows import Record, RefusedLine, UnreadableFileError
from annotate.material.reading.tables import read_csv

READERS: dict[str, Reader] = {".csv": read_csv, ".jsonl": read_jsonl}
DOCUMENT, OUTPUT = "document", "output"


class PublicPageForm(forms.Form):
    """The content of the public page of a leaderboard."""

    is_public = forms.BooleanField(
        required=False,
        label=_("Publish the leaderboard of the newest version"),
        help_text=_("Anyone with the link can read it without an account."),
    )
    shows_texts = forms.BooleanField(
        required=False,
        label=_("Release documents and outputs"),
        help_text=_("Texts stay in caches and copies after you withdraw them. Check their licences first."),
    )
    shows_effort = forms.BooleanField(
        required=False,
        label=_("Show effort and severity"),
        help_text=_("Raters, hours, money and corrections for severity of the benchmark and each addition."),
    )
    takes_submissions = forms.BooleanField(
        required=False,
        label=_("Take submissions"),
        help_text=_("Anyone may submit outputs of a new system. You accept or reject each of them."),
    )
    metadata_names = forms.MultipleChoiceField(
        required=False, widget=forms.CheckboxSelectMultiple, label=_("Means by metadata of documents")
    )
    introduction = forms.CharField(
        required=False,
        max_length=20_000,
        label=_("Introduction"),
        widget=forms.Textarea(attrs={"rows": 6, "dir": "auto"}),
        help_text=_("Markdown."),
    )

    def __init__(self, entered: Any, *, shown: PublicLeaderboard, names: list[str]) -> None:
        initial = {name: getattr(shown, name) for name in self.base_fields}
        super().__init__(entered, initial=initial)
        offer_choices(self, "metadata_names", [(name, name) for name in names])


class SubmissionForm(forms.Form):
    """Outputs of a new system in a file."""

    system = forms.CharField(
        max_length=200, label=_("Name of the system"), widget=forms.TextInput(attrs={"dir": "auto"})
    )
    contact = forms.EmailField(
        label=_("Your e-mail"), help_text=_("Only the admins of the benchmark see it.")
    )
    note = forms.CharField(
        required=False,
        max_length=5_000,
        label=_("About the system"),
        widget=forms.Textarea(attrs={"rows": 4, "dir": "auto"}),
    )
    file = forms.FileField(
        label=_("Outputs"),
        help_text=_("CSV or JSONL with the fields “document” (its key) and “output”, one row a document."),
        widget=forms.ClearableFileInput(attrs={"accept": ".csv,.jsonl"}),
    )

    def clean_file(self) -> dict[str, str]:
        file = self.cleaned_data["file"]
        reader = READERS.get(PurePath(file.name).suffix.lower())
        if reader is None:
            raise forms.ValidationError(gettext("Submit a CSV or JSONL file."))
        if file.size > LARGEST:
            message = gettext("The file is larger than {most} MiB.")
            raise forms.ValidationError(message.format(most=LARGEST // 1024**2))
        outputs: dict[str, str] = {}
        try:
            for row in reader(file):
                if isinstance(row, Record):
                    key, text = _read_row(row)
                    if key in outputs:
                        raise forms.ValidationError(
                            gettext("Line {line:,}: {key} has an output already.").format(
                                line=row.line, key=key[:80]
                            )
                        )
                    outputs[key] = text
                elif isinstance(row, RefusedLine):
                    raise forms.ValidationError(
                        gettext("Line {line:,}: {reason}").format(line=row.line, reason=row.reason)
                    )
        except UnreadableFileError as error:
            raise forms.ValidationError(str(error)) from error
        return outputs

    @property
    def submitted(self) -> dict[str, Any]:
        data = dict(self.cleaned_data)
        return {"outputs": data.pop("file"), **data}


def _read_row(row: Record) -> tuple[str, str]:
    key, text = row.fields.get(DOCUMENT), row.fields.get(OUTPUT)
    if isinstance(key, int) and not isinstance(key, bool):
        key = str(key)
    if not isinstance(key, str) or not isinstance(text, str) or not key:
        raise forms.ValidationError(
            gettext("Line {line:,} needs “document” and “output”, both texts.").format(line=row.line)
        )
    return key, text


class AcceptSubmissionForm(forms.Form):
    """The settings for linking an accepted submission with the first raters."""

    bridging = forms.IntegerField(
        min_value=0,
        max_value=200,
        initial=20,
        label=_("Bridging items"),
        help_text=_("Copies of items that the first raters rated. They show how severe the new raters are."),
    )
    with_annotators = forms.BooleanField(
        label=_("The annotators of this project rate the addition"), required=False
    )


class RejectSubmissionForm(forms.Form):
    """The reason for rejecting a submission."""

    reason = forms.CharField(
        max_length=2_000, label=_("Reason"), widget=forms.Textarea(attrs={"rows": 3, "dir": "auto"})
    )
