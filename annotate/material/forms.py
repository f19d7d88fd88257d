"""An uploaded file, and what its columns mean."""

import tempfile
import zipfile
from collections.abc import Iterable, Iterator, Sequence
from collections.abc import Mapping as Entered
from pathlib import PurePath
from typing import IO, TYPE_CHECKING, Any

from django import forms
from django.core.files import File
from django.core.files.uploadedfile import UploadedFile
from django.utils.datastructures import MultiValueDict
from django.utils.text import format_lazy
from django.utils.translation import gettext, gettext_noop
from django.utils.translation import gettext_lazy as _

from annotate.core.configuration import refuse_over_quota
from annotate.core.errors import NotReadyError
from annotate.core.models import DataImport, Project, TextFormat
from annotate.material.commands.parts import MOST_BYTES
from annotate.material.reading.columns import ColumnMapping, PartColumn, ValueColumn
from annotate.material.reading.guessing import guess_mapping, is_round
from annotate.material.reading.mapping_json import mapping_from_json, mapping_to_json
from annotate.material.reading.mappings import SHIPPED, Mapping, misfit
from annotate.material.reading.opening import Opening
from annotate.material.reading.readers import FORMATS, SUFFIXES
from annotate.material.reading.rows import Record
from annotate.questions.ranking import MOST_SIDES

if TYPE_CHECKING:
    from django_stubs_ext import StrOrPromise

README = "---\nconfigs:\n- config_name: default\n  data_files: '*'\n---\n"
"""Says that every file is data, whatever its name."""


class NotTogetherError(Exception):
    """Files that cannot be one import; the message states the reason."""


def pack_files(files: Sequence["UploadedFile[Any]"]) -> "File[Any]":
    """Return a zip of files of one kind, in the order of their names. Raises NotTogetherError."""
    names = [PurePath(file.name or "").name for file in files]
    kinds = {PurePath(name.lower().removesuffix(".gz")).suffix for name in names}
    if len(kinds) > 1:
        raise NotTogetherError(
            gettext("Upload files of one kind together; these are {kinds}.").format(
                kinds=", ".join(sorted(kinds))
            )
        )
    # A zip file takes two entries of one name, and a reader would find only the last.
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice:
        raise NotTogetherError(
            gettext("Two files are called “{name}”; pack them with their folders as a zip file.").format(
                name=twice
            )
        )
    if kinds == {".zip"}:
        raise NotTogetherError(gettext("Upload one zip file at a time."))
    packed: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 - lives as long as the request
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        # Without this file the importer would guess splits from the names and omit some files.
        archive.writestr("README.md", README)
        # Sorted by name, because line numbers must not depend on the order of the selection.
        for name, file in sorted(zip(names, files, strict=True), key=lambda each: each[0]):
            with archive.open(name, "w") as target:
                for chunk in file.chunks():
                    target.write(chunk)
    packed.seek(0)
    return File(packed, name=f"{len(files)} files.zip")


LARGEST_UPLOAD = 512 * 1024**2
What = DataImport.What

MEANINGS = (
    ("document_key", gettext_noop("document: key")),
    ("document_title", gettext_noop("document: title")),
    ("part", gettext_noop("document: part")),
    ("system", gettext_noop("system")),
    ("text", gettext_noop("text to rate")),
    ("rater", gettext_noop("rater")),
    ("dimension", gettext_noop("dimension")),
    ("value", gettext_noop("value")),
    ("round", gettext_noop("round: 1 or 2")),
    ("metadata", gettext_noop("keep as metadata")),
)
REPEATED = ("part", "metadata")
SINGLE = tuple(meaning for meaning, _ in MEANINGS if meaning not in REPEATED)
VALUES_OF = "values of "


class SeveralFiles(forms.FileInput):
    """Takes one or more files; the field receives the last, and the form finds the others."""

    allow_multiple_selected = True

    def value_from_datadict(self, data: Any, files: "MultiValueDict[str, Any]", name: str) -> Any:  # noqa: ARG002
        return files.get(name)


class UploadForm(forms.Form):
    """A file to import; several are packed as one."""

    file = forms.FileField(
        widget=SeveralFiles(attrs={"multiple": True}),
        help_text=format_lazy(
            _("{formats}, in UTF-8, up to {value} MB."), formats=FORMATS, value=LARGEST_UPLOAD // 1024**2
        ),
    )

    def __init__(self, *entered: Any, project: Project, **options: Any) -> None:
        super().__init__(*entered, **options)
        self.project = project

    def clean_file(self) -> "File[Any]":
        # The field itself has only the last of several files.
        listed = self.files.getlist("file") if isinstance(self.files, MultiValueDict) else []
        files = listed or [self.cleaned_data["file"]]
        for file in files:
            if PurePath((file.name or "").lower().removesuffix(".gz")).suffix not in SUFFIXES:
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


class ColumnsForm(forms.Form):
    """The meaning of each column of a file; a kind of import declares the meanings and makes the mapping.

    Other fields of a form hold for the whole file. guess: the mapping that was used before, or else the one
    that the file suggests.
    """

    has_headings = False
    guess: Any

    def __init__(self, entered: Entered[str, Any] | None, upload: DataImport, opening: Opening) -> None:
        self.columns, self.examples = opening.columns, opening.examples
        # A second visit shows the mapping of the first one.
        self.guess = self.read(upload.mapping) if upload.mapping else self.guess_mapping(upload, opening)
        super().__init__(entered, initial=self.initial_of(self.guess))
        for index, column in enumerate(self.columns):
            self.fields[f"meaning_{index}"] = forms.ChoiceField(
                label=gettext("Meaning of {column}").format(column=column),
                required=False,
                choices=[("", _("ignore")), *self.meanings(upload)],
            )

    def read(self, stored: dict[str, Any]) -> Any:
        """Return the mapping that an import stores."""
        raise NotImplementedError

    def guess_mapping(self, upload: DataImport, opening: Opening) -> Any:
        """Return the mapping that a file suggests."""
        raise NotImplementedError

    def meanings(self, upload: DataImport) -> Iterable[tuple[str, Any]]:
        """Return the meanings of columns, each with its label."""
        raise NotImplementedError

    def initial_of(self, mapping: Any) -> dict[str, Any]:
        """Return the initial values of the form under a mapping."""
        raise NotImplementedError

    def make_mapping(self, columns: Entered[str, list[str]]) -> Any:
        """Return the mapping of columns by meaning."""
        raise NotImplementedError

    def find_problem(self, mapping: Any) -> str:
        """Return the reason for which a mapping is unusable, empty if it is usable."""
        return str(mapping.problem)

    def store(self, mapping: Any) -> dict[str, Any]:
        stored: dict[str, Any] = mapping.to_json()
        return stored

    def may_repeat(self, meaning: str) -> bool:
        del meaning
        return False

    def clean(self) -> dict[str, Any]:
        data = self.cleaned_data
        columns: dict[str, list[str]] = {}
        for index, column in enumerate(self.columns):
            if meaning := data.get(f"meaning_{index}"):
                columns.setdefault(meaning, []).append(column)
        for meaning, (first, *others) in columns.items():
            if others and not self.may_repeat(meaning):
                self.add_error(
                    None,
                    gettext("“{value}” and “{column}” cannot both be the {meaning}.").format(
                        value=first, column=others[0], meaning=meaning
                    ),
                )
        if not self.errors:
            data["mapping"] = self.make_mapping(columns)
            if problem := self.find_problem(data["mapping"]):
                self.add_error(None, problem)
        return data

    @property
    def mapping(self) -> Any:
        """The entered mapping, or else the guessed one; None if it cannot be used."""
        if self.is_bound:
            return self.cleaned_data["mapping"] if self.is_valid() else None
        return None if self.find_problem(self.guess) else self.guess

    @property
    def missing(self) -> str:
        return self.find_problem(self.guess)

    @property
    def unused(self) -> list[str]:
        """The columns without a meaning, unless a mapping by name reads the file."""
        named = self["mapping_name"].value() if "mapping_name" in self.fields else ""
        return (
            []
            if named
            else [each for at, each in enumerate(self.columns) if not self[f"meaning_{at}"].value()]
        )

    def file_fields(self) -> list[forms.BoundField]:
        return [self[name] for name in self.fields if not name.startswith(("meaning_", "label_"))]

    def column_fields(self) -> Iterator[tuple[str, str, forms.BoundField, forms.BoundField | None]]:
        for index, (column, example) in enumerate(zip(self.columns, self.examples, strict=True)):
            heading = self[f"label_{index}"] if self.has_headings else None
            yield column, example, self[f"meaning_{index}"], heading


SHOWN_AS = [
    ("", _("Plain text; lists of messages as chats")),
    (TextFormat.MARKDOWN, _("Markdown; lists of messages as chats")),
    (TextFormat.PLAIN, _("Exactly as written")),
]


class MappingForm(ColumnsForm):
    """What to take from a file of items and ratings: a shipped mapping, or a meaning for each column."""

    mapping_name = forms.ChoiceField(label=_("How to read it"), required=False)
    what = forms.ChoiceField(label=_("What to import"), choices=What.choices, widget=forms.RadioSelect)
    format = forms.ChoiceField(label=_("Show texts as"), required=False, choices=SHOWN_AS)

    has_headings = True

    def __init__(self, entered: Entered[str, Any] | None, upload: DataImport, opening: Opening) -> None:
        super().__init__(entered, upload, opening)
        self.seems_to_hold = guessed_what(guess_of(upload, opening), opening)
        self.guessed_what = upload.what or self.seems_to_hold.value
        self.initial["what"] = self.guessed_what
        shipped = [(name, gettext(mapping.title)) for name, mapping in SHIPPED.items()]
        how = self.fields["mapping_name"]
        assert isinstance(how, forms.ChoiceField)
        how.choices = [("", gettext("By its columns, as set below")), *shipped]
        for index, column in enumerate(self.columns):
            self.fields[f"label_{index}"] = forms.CharField(
                label=gettext("Heading of {column} as a part").format(column=column),
                required=False,
                max_length=80,
            )

    def read(self, stored: dict[str, Any]) -> Mapping:
        return mapping_from_json(stored)

    def guess_mapping(self, upload: DataImport, opening: Opening) -> Mapping:
        return guess_of(upload, opening)

    def meanings(self, upload: DataImport) -> Iterator[tuple[str, str]]:
        """Yield the meanings of columns, among them the values of each dimension."""
        yield from ((meaning, gettext(label)) for meaning, label in MEANINGS)
        for name in _dimensions_of(upload):
            yield f"{VALUES_OF}{name}", gettext("values of {dimension}").format(dimension=name)

    def may_repeat(self, meaning: str) -> bool:
        is_shipped = bool(self.cleaned_data.get("mapping_name"))  # which ignores the columns' meanings
        return is_shipped or meaning in REPEATED or meaning.startswith(VALUES_OF)

    def initial_of(self, mapping: Mapping) -> dict[str, str]:
        initial = {"mapping_name": mapping.name}
        if not isinstance(mapping, ColumnMapping):
            # A shipped mapping has no columns; if the admin leaves it, no column is lost.
            kept = {f"meaning_{index}": "metadata" for index, _ in enumerate(self.columns)}
            return initial | kept
        initial["format"] = mapping.format
        # From columns to meanings: the form has a field for each column.
        meanings = {getattr(mapping, meaning): meaning for meaning in SINGLE}
        meanings |= {part.column: "part" for part in mapping.parts}
        meanings |= dict.fromkeys(mapping.metadata, "metadata")
        meanings |= {values.column: f"{VALUES_OF}{values.dimension}" for values in mapping.value_columns}
        labels = {part.column: part.label for part in mapping.parts}
        for index, column in enumerate(self.columns):
            initial[f"meaning_{index}"] = meanings.get(column, "")
            initial[f"label_{index}"] = labels.get(column, "")
        return initial

    def make_mapping(self, columns: Entered[str, list[str]]) -> Mapping:
        if name := self.cleaned_data["mapping_name"]:
            return SHIPPED[name]
        label_of = {column: self.cleaned_data[f"label_{index}"] for index, column in enumerate(self.columns)}
        return ColumnMapping(
            **{meaning: columns[meaning][0] for meaning in SINGLE if meaning in columns},
            parts=tuple(PartColumn(each, label_of[each] or each) for each in columns.get("part", ())),
            value_columns=tuple(
                ValueColumn(column, meaning.removeprefix(VALUES_OF))
                for meaning, named in columns.items()
                if meaning.startswith(VALUES_OF)
                for column in named
            ),
            format=self.cleaned_data["format"],
            metadata=tuple(columns.get("metadata", ())),
        )

    def find_problem(self, mapping: Mapping) -> str:
        if reason := misfit(mapping, self.columns):
            return reason
        what = self.cleaned_data["what"] if self.is_bound else self.guessed_what
        if what in (What.ITEMS, What.BOTH) and not mapping.gives_items:
            return gettext(
                "For items, choose the columns of the document and of the system and output, or of the parts "
                "alone. Each output needs its system."
            )
        if what != What.ITEMS and not mapping.gives_ratings:
            return gettext("For ratings, choose the columns of the document, system, rater and values.")
        return ""

    @property
    def better_what(self) -> "StrOrPromise":
        """The kind of the file if it clearly differs from the chosen one, else empty."""
        chosen = self["what"].value()
        is_other = self.seems_to_hold == What.ANSWERS != chosen
        is_other |= self.seems_to_hold == What.RATINGS and chosen == What.ITEMS
        return self.seems_to_hold.label if is_other else ""

    def store(self, mapping: Mapping) -> dict[str, Any]:
        return mapping_to_json(mapping)


def _dimensions_of(upload: DataImport) -> list[str]:
    return list(upload.project.dimensions.values_list("name", flat=True))


def guess_of(upload: DataImport, opening: Opening) -> Mapping:
    return guess_mapping(opening.guessed, _dimensions_of(upload))


def guessed_what(mapping: Mapping, opening: Opening) -> What:
    """Return the kind of rows that a mapping reads; ratings of Round II if all rows name that round."""
    if isinstance(mapping, ColumnMapping) and mapping.gives_ratings and mapping.round:
        records = [record for record in opening.guessed if isinstance(record, Record)]
        if all(is_round(record.fields.get(mapping.round), 2) for record in records):
            return What.ANSWERS
    if mapping.gives_items and mapping.gives_ratings:
        return What.BOTH
    return What.RATINGS if mapping.gives_ratings else What.ITEMS


# What questions about comparisons and parts need.


class ComparisonsForm(forms.Form):
    """Comparisons to create."""

    size = forms.IntegerField(label=_("Outputs in a comparison"), min_value=2, max_value=MOST_SIDES)
    per_document = forms.IntegerField(
        label=_("Comparisons of each document"),
        min_value=1,
        max_value=1000,
        required=False,
        help_text=_("Empty: every set of systems. Otherwise Concord compares all systems equally often."),
    )


class PartsFileForm(forms.Form):
    file = forms.FileField(
        label=_("Parts"),
        help_text=_(
            "A CSV file with the columns document, system and part, one row for each part in order; or with "
            "a column parts that holds a JSON list."
        ),
        widget=forms.ClearableFileInput(attrs={"accept": "text/csv,.csv"}),
    )

    def clean_file(self) -> "UploadedFile[Any]":
        file: UploadedFile[Any] = self.cleaned_data["file"]
        if (file.size or 0) > MOST_BYTES:
            raise forms.ValidationError(
                gettext("The file is larger than {limit} MB.").format(limit=MOST_BYTES // 2**20)
            )
        return file
