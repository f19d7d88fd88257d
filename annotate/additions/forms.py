"""Forms of pages about additions."""

import tempfile
from pathlib import Path
from typing import Any

from django import forms
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from annotate.material.reading.guessing import guess_mapping
from annotate.material.reading.mappings import rows_of
from annotate.material.reading.readers import RecordFile
from annotate.material.reading.rows import ImportedItem, RefusedLine, UnreadableFileError

MOST_BYTES = 20 * 1024**2
BRIDGING = 20


class OutputsForm(forms.Form):
    """A file with outputs of new systems, and the settings for rating them."""

    file = forms.FileField(
        label=_("Outputs"),
        help_text=_(
            "CSV or JSONL in UTF-8, up to {most} MB, with the columns document, system and output. Documents "
            "have the keys of this project."
        ).format(most=MOST_BYTES // 1024**2),
        widget=forms.ClearableFileInput(attrs={"accept": ".csv,.tsv,.jsonl,.ndjson,.json"}),
    )
    bridging = forms.IntegerField(
        label=_("Bridging items"),
        min_value=0,
        max_value=200,
        initial=BRIDGING,
        help_text=_(
            "Items of this project that the raters of the addition rate too, hidden among the new ones. They "
            "show how severe the new raters are. Severity needs items of 5 documents or more."
        ),
    )
    with_annotators = forms.BooleanField(
        label=_("The annotators of this project rate the addition"), required=False
    )

    def clean_file(self) -> Any:
        """Reject a file that is too large, or of a format that cannot be read in the request."""
        file = self.cleaned_data["file"]
        if (file.size or 0) > MOST_BYTES:
            raise forms.ValidationError(
                gettext("The file is larger than {limit} MB.").format(limit=MOST_BYTES // 2**20)
            )
        if Path((file.name or "").lower()).suffix not in {".csv", ".tsv", ".jsonl", ".ndjson", ".json"}:
            raise forms.ValidationError(gettext("Upload a CSV or JSONL file."))
        return file

    def clean(self) -> dict[str, Any]:
        """Read the outputs as the import of items does; `outputs` maps system and document key to the
        output.
        """
        data = super().clean() or {}
        if file := data.get("file"):
            try:
                data["outputs"] = read_outputs(file.read(), file.name)
            except UnreadableFileError as error:
                self.add_error("file", str(error))
        return data


def read_outputs(content: bytes, name: str) -> dict[str, dict[str, str]]:
    """Return the outputs by system name and document key. Raises UnreadableFileError with the line."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "outputs"
        path.write_bytes(content)
        with RecordFile(path, name) as file:
            # The limit of bytes bounds this list; the request itself reads the file.
            records = list(file)
    # There is no page to correct a guess: a file needs columns with usual names.
    mapping = guess_mapping(records[:20])
    outputs: dict[str, dict[str, str]] = {}
    for record in records:
        for row in rows_of(mapping, record, items=True, ratings=False):
            if isinstance(row, RefusedLine):
                raise UnreadableFileError(row.line, row.reason)
            # A line can also give a document alone, and the benchmark has its documents already.
            if not isinstance(row, ImportedItem):
                continue
            texts = outputs.setdefault(row.system, {})
            # A dict would keep only the last output.
            if row.document in texts:
                raise UnreadableFileError(
                    row.line,
                    gettext("“{system}” has an output for “{document}” already.").format(
                        system=row.system, document=row.document
                    ),
                )
            texts[row.document] = row.text
    if not outputs:
        raise UnreadableFileError(0, gettext("The file needs the columns document, system and output."))
    return outputs
