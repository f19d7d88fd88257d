"""An uploaded file, and what its columns mean."""

import tempfile
import zipfile
from collections.abc import Iterator, Sequence
from collections.abc import Mapping as Entered
from pathlib import PurePath
from typing import IO, Any

from django import forms
from django.core.files import File
from django.core.files.uploadedfile import UploadedFile
from django.utils.datastructures import MultiValueDict
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from annotate.core.errors import NotReadyError
from annotate.core.models import DataImport, Project
from annotate.core.quotas import refuse_over_quota
from annotate.material.reading.columns import ColumnMapping, PartColumn, ValueColumn
from annotate.material.reading.mappings import SHIPPED, Mapping, misfit
from annotate.material.reading.readers import FORMATS, SUFFIXES

README = "---\nconfigs:\n- config_name: default\n  data_files: '*'\n---\n"
"""Says that every file is data, whatever its name."""


class NotTogetherError(Exception):
    """Files that cannot be one import; the message says why."""


def pack_files(files: Sequence["UploadedFile[Any]"]) -> "File[Any]":
    """Return a zip of files of one kind, in the order of their names. Raises NotTogetherError."""
    names = [PurePath(file.name or "").name for file in files]
    kinds = {PurePath(name.lower().removesuffix(".gz")).suffix for name in names}
    if len(kinds) > 1:
        raise NotTogetherError(f"Upload files of one kind together; these are {', '.join(sorted(kinds))}.")
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice:
        raise NotTogetherError(f"Two files are called “{twice}”; pack them with their folders as a zip file.")
    if kinds == {".zip"}:
        raise NotTogetherError("Upload one zip file at a time.")
    packed: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 - lives as long as the request
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("README.md", README)
        for name, file in sorted(zip(names, files, strict=True), key=lambda each: each[0]):
            with archive.open(name, "w") as target:
                for chunk in file.chunks():
                    target.write(chunk)
    packed.seek(0)
    return File(packed, name=f"{len(files)} files.zip")


LARGEST_UPLOAD = 512 * 1024**2
What = DataImport.What

MEANINGS = (
    ("", "not used"),
    ("document_key", "document: key"),
    ("document_title", "document: title"),
    ("part", "document: part"),
    ("system", "system"),
    ("text", "text to rate"),
    ("rater", "rater"),
    ("dimension", "dimension"),
    ("value", "value"),
    ("round", "round: 1 or 2"),
)
SINGLE = tuple(meaning for meaning, _ in MEANINGS if meaning not in ("", "part"))
VALUES_OF = "values of "


class SeveralFiles(forms.FileInput):
    """Takes one file or more; the field is given the last, and the form finds the others."""

    allow_multiple_selected = True

    def value_from_datadict(self, data: Any, files: "MultiValueDict[str, Any]", name: str) -> Any:  # noqa: ARG002
        """Return one file, as the field of a single one needs it."""
        return files.get(name)


class UploadForm(forms.Form):
    """A file to import; several are packed as one."""

    file = forms.FileField(
        widget=SeveralFiles(attrs={"multiple": True}),
        help_text=_("{formats}, in UTF-8, at most {value} MB.").format(
            formats=FORMATS, value=LARGEST_UPLOAD // 1024**2
        ),
    )

    def __init__(self, *entered: Any, project: Project, **options: Any) -> None:
        super().__init__(*entered, **options)
        self.project = project

    def clean_file(self) -> "File[Any]":
        """Refuse what is too large or of an unknown format before anything is kept."""
        listed = self.files.getlist("file") if isinstance(self.files, MultiValueDict) else []
        files = listed or [self.cleaned_data["file"]]
        for file in files:
            self._check(file)
        size = sum(file.size or 0 for file in files)
        if size > LARGEST_UPLOAD:
            raise forms.ValidationError(gettext("The files are too large together; upload fewer at a time."))
        try:
            refuse_over_quota(self.project, more=size)
            return pack_files(files) if len(files) > 1 else files[0]
        except NotReadyError as error:
            raise forms.ValidationError(error.message) from error
        except NotTogetherError as error:
            raise forms.ValidationError(str(error)) from error

    def _check(self, file: "UploadedFile[Any]") -> None:
        name = (file.name or "").lower()
        if PurePath(name.removesuffix(".gz")).suffix not in SUFFIXES:
            raise forms.ValidationError(
                gettext("“{name}” is of no known format; upload {formats}.").format(
                    name=file.name, formats=FORMATS
                )
            )
        if (file.size or 0) > LARGEST_UPLOAD:
            raise forms.ValidationError(
                gettext("The file is larger than {value} MB; split it or use manage.py.").format(
                    value=LARGEST_UPLOAD // 1024**2
                )
            )


class MappingForm(forms.Form):
    """What to take from a file and how: a shipped mapping, or a meaning for each column."""

    mapping_name = forms.ChoiceField(label=_("How to read it"), required=False)
    what = forms.ChoiceField(label=_("What to import"), choices=What.choices, widget=forms.RadioSelect)

    def __init__(
        self,
        entered: Entered[str, Any] | None,
        *,
        columns: Sequence[str],
        examples: Sequence[str],
        dimensions: Sequence[str],
        guess: Mapping,
        what: str = "",
    ) -> None:
        self.columns, self.examples = columns, examples
        self.guess, self.guessed_what = guess, what or guessed_what(guess).value
        super().__init__(entered, initial={**_initial(guess, columns), "what": self.guessed_what})
        shipped = [(name, mapping.title) for name, mapping in SHIPPED.items()]
        self._field("mapping_name").choices = [("", "By its columns, as set below"), *shipped]
        values = [(f"{VALUES_OF}{name}", f"{VALUES_OF}{name}") for name in dimensions]
        for index, column in enumerate(columns):
            self.fields[f"meaning_{index}"] = forms.ChoiceField(
                label=gettext("Meaning of {column}").format(column=column),
                required=False,
                choices=[*MEANINGS, *values],
            )
            self.fields[f"label_{index}"] = forms.CharField(
                label=gettext("Heading of {column} as a part").format(column=column),
                required=False,
                max_length=80,
            )

    def clean(self) -> dict[str, Any]:
        """Make the mapping, and refuse one that does not give what is to be imported."""
        data = self.cleaned_data
        if self.errors:
            return data
        name = data["mapping_name"]
        data["mapping"] = mapping = SHIPPED[name] if name else self._columns_mapping()
        if mapping and (reason := misfit(mapping, self.columns)):
            self.add_error("mapping_name", reason)
            return data
        if mapping and data["what"] in (What.ITEMS, What.BOTH) and not mapping.gives_items:
            self.add_error(
                None,
                gettext("For items, say which columns are the document and the system and text, or parts."),
            )
        if mapping and data["what"] != What.ITEMS and not mapping.gives_ratings:
            self.add_error(
                None, gettext("For ratings, say which columns are the document, system, rater and values.")
            )
        return data

    def column_fields(self) -> Iterator[tuple[str, str, forms.BoundField, forms.BoundField]]:
        """Each column's name and first value with the controls for its meaning and heading."""
        for index, (column, example) in enumerate(zip(self.columns, self.examples, strict=True)):
            yield column, example, self[f"meaning_{index}"], self[f"label_{index}"]

    def _columns_mapping(self) -> ColumnMapping | None:
        single: dict[str, str] = {}
        parts: list[PartColumn] = []
        values: list[ValueColumn] = []
        for index, column in enumerate(self.columns):
            meaning = self.cleaned_data[f"meaning_{index}"]
            if meaning == "part":
                parts.append(PartColumn(column, self.cleaned_data[f"label_{index}"] or column))
            elif meaning.startswith(VALUES_OF):
                values.append(ValueColumn(column, meaning.removeprefix(VALUES_OF)))
            elif meaning in single:
                self.add_error(
                    None,
                    gettext("“{value}” and “{column}” cannot both be the {meaning}.").format(
                        value=single[meaning], column=column, meaning=meaning
                    ),
                )
                return None
            elif meaning:
                single[meaning] = column
        return ColumnMapping(**single, parts=tuple(parts), value_columns=tuple(values))

    def _field(self, name: str) -> forms.ChoiceField:
        field = self.fields[name]
        assert isinstance(field, forms.ChoiceField)
        return field


def guessed_what(mapping: Mapping) -> What:
    """What a mapping gives."""
    if mapping.gives_items and mapping.gives_ratings:
        return What.BOTH
    return What.RATINGS if mapping.gives_ratings else What.ITEMS


def _initial(mapping: Mapping, columns: Sequence[str]) -> dict[str, str]:
    initial = {"mapping_name": mapping.name}
    if not isinstance(mapping, ColumnMapping):
        return initial
    meanings = {getattr(mapping, meaning): meaning for meaning in SINGLE}
    meanings |= {part.column: "part" for part in mapping.parts}
    meanings |= {values.column: f"{VALUES_OF}{values.dimension}" for values in mapping.value_columns}
    labels = {part.column: part.label for part in mapping.parts}
    for index, column in enumerate(columns):
        initial[f"meaning_{index}"] = meanings.get(column, "")
        initial[f"label_{index}"] = labels.get(column, "")
    return initial
