"""Operations of the API about material."""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from django.utils.translation import gettext
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from annotate.api.forms import form_input
from annotate.api.operations import ApiView, reads, writes
from annotate.api.values import Input, Points, Text
from annotate.core.access import data_import_in, project_for_admin, project_for_reader
from annotate.core.errors import ImportRefusedError
from annotate.core.models import DataImport, Document, Item, Project, System
from annotate.core.page import request_user
from annotate.material.commands.comparisons import draw_comparisons, remove_comparisons
from annotate.material.commands.imports import import_file
from annotate.material.commands.parts import MOST_PARTS, import_parts
from annotate.material.commands.uploads import undo_import
from annotate.material.forms import ComparisonsForm
from annotate.material.reading.columns import ColumnMapping, PartColumn
from annotate.material.reading.report import ImportReport
from annotate.material.reading.rows import RefusedLine
from annotate.material.reading.source import Source
from annotate.material.reading.values import RATER_LIMIT

# Bulk imports, by the same code as files: all rows, or none and a message for each rejected one.

MOST_ROWS = 10_000


@contextmanager
def as_file(rows: Sequence[Mapping[str, Any]]) -> Iterator[Path]:
    """Write the rows to a file, one per line, and yield its path."""
    with TemporaryDirectory(prefix="concord-api-") as folder:
        path = Path(folder) / "rows.jsonl"
        with path.open("w", encoding="utf-8") as file:
            file.writelines(json.dumps(row) + "\n" for row in rows)
        yield path


def refuse_lines(refused: Sequence[RefusedLine], *, within: str) -> None:
    """Raise ImportRefusedError with a message for each rejected row, if there is any."""
    if not refused:
        return
    fields: dict[str, str] = {}
    for line in refused:
        # Lines count from 1 and entries of a list from 0; line 0 is the request as a whole.
        path = f"{within}.{line.line - 1}" if line.line else within
        # The first reason about a field stays, as later ones often follow from it.
        fields.setdefault(f"{path}.{line.field}" if line.field else path, line.reason)
    message = gettext("Nothing was imported: {reason}").format(reason=refused[0].reason)
    raise ImportRefusedError(message, fields=fields)


# Documents, systems and items: pages for readers of results.

DOCUMENTS = ColumnMapping("document", "title", (PartColumn("parts", ""),))
ITEMS = ColumnMapping(document_key="document", system="system", text="text")
RATINGS = ColumnMapping(
    document_key="document", system="system", rater="rater", dimension="dimension", value="value"
)


class MaterialFilter(serializers.Serializer[Any]):
    """Filters for documents and systems."""

    document = serializers.CharField(required=False, help_text="The document's key.")
    system = serializers.CharField(required=False, help_text="The system's name.")


class DocumentFilter(serializers.Serializer[Any]):
    """Filters for documents."""

    document = serializers.CharField(required=False, help_text="The document's key.")


class Part(serializers.Serializer[Any]):
    """A part of a document."""

    label = serializers.CharField()  # type: ignore[assignment]
    text = serializers.CharField()


class DocumentRow(serializers.ModelSerializer[Document]):
    """A document."""

    document = serializers.CharField(source="key")
    parts = Part(many=True)

    class Meta:
        model = Document
        fields = ("document", "title", "parts", "metadata")


class SystemRow(serializers.ModelSerializer[System]):
    """A system."""

    system = serializers.CharField(source="name")

    class Meta:
        model = System
        fields = ("system",)


class ItemRow(serializers.ModelSerializer[Item]):
    """A system's output for a document, or a comparison without an output."""

    document = serializers.CharField(source="document.key")
    system = serializers.CharField(source="system.name")

    class Meta:
        model = Item
        fields = ("document", "system", "kind", "text", "metadata")


class PartInput(Input):
    """A part of a document."""

    label = Text(max_length=200)  # type: ignore[assignment]
    text = Text(trim_whitespace=False)


class DocumentInput(Input):
    """A document. A document with this key and the same parts is not created again."""

    document = Text(max_length=200, help_text="Its key.")
    title = Text(required=False, allow_blank=True, max_length=300)
    parts = PartInput(many=True, allow_empty=False, help_text="Each with a label of its own.")

    def validate_parts(self, parts: list[dict[str, str]]) -> list[dict[str, str]]:
        labels = [part["label"] for part in parts]
        # The import takes parts by their labels, so the second of a label would replace the first.
        if twice := next((label for label in labels if labels.count(label) > 1), None):
            raise serializers.ValidationError(
                gettext("Two parts have the label “{label}”; give each a label of its own.").format(
                    label=twice
                )
            )
        return parts


class ItemInput(Input):
    """A system's output for an existing document."""

    document = Text(max_length=200, help_text="The document's key.")
    system = Text(max_length=200, help_text="The system's name; a new one is made.")
    text = Text(trim_whitespace=False)


class DocumentsInput(Input):
    """Documents. Either all of them are created, or none."""

    documents = serializers.ListField(child=DocumentInput(), min_length=1, max_length=MOST_ROWS)


class ItemsInput(Input):
    """Items. Either all of them are created, or none."""

    items = serializers.ListField(child=ItemInput(), min_length=1, max_length=MOST_ROWS)


class RatingInput(Input):
    """A rating recorded elsewhere."""

    document = Text(max_length=200, help_text="The document's key.")
    system = Text(max_length=200, help_text="The system's name.")
    rater = Text(max_length=RATER_LIMIT, help_text="A name of the rater; a new name becomes a new member.")
    dimension = Text(max_length=100, help_text="The dimension's key or name.")
    value = Points()


class RecordedInput(Input):
    """Ratings recorded elsewhere. The server imports all or none."""

    ratings = serializers.ListField(child=RatingInput(), min_length=1, max_length=MOST_ROWS)


class RecordedRows(serializers.Serializer[Any]):
    """Numbers of raters and ratings."""

    raters = serializers.IntegerField()
    ratings = serializers.IntegerField()


class RecordedImport(serializers.Serializer[Any]):
    """The result of an import of ratings."""

    made = RecordedRows()
    already_there = RecordedRows()
    opens_round_one = serializers.BooleanField(help_text="Whether Round I was opened for them.")


class MadeRows(serializers.Serializer[Any]):
    """The number of new rows, and the number of existing ones."""

    documents = serializers.IntegerField()
    systems = serializers.IntegerField()
    items = serializers.IntegerField()


class Imported(serializers.Serializer[Any]):
    """The outcome for the submitted rows."""

    made = MadeRows()
    already_there = MadeRows()


class Documents(ApiView):
    """The documents of a project."""

    about = "material"

    @reads(DocumentRow, paged=True, filters=(DocumentFilter,))
    def get(self, request: Request, slug: str) -> Response:
        """List documents with their parts."""
        documents = Document.objects.filter(project=project_for_reader(request.user, slug))
        chosen = self.filters(DocumentFilter)
        if "document" in chosen:
            documents = documents.filter(key=chosen["document"])
        return self.page(documents, DocumentRow)

    @writes(Imported, accepts=DocumentsInput, status=201)
    def post(self, request: Request, slug: str) -> Response:
        """Create documents, all or none."""
        project = project_for_admin(request.user, slug)
        sent = self.check(DocumentsInput)["documents"]
        rows = [{**row, "parts": {part["label"]: part["text"] for part in row["parts"]}} for row in sent]
        report = _import_rows(request, project, rows, DOCUMENTS, within="documents")
        return Response(Imported(report).data, status=201)


class Systems(ApiView):
    """The systems of a project."""

    about = "material"

    @reads(SystemRow, paged=True)
    def get(self, request: Request, slug: str) -> Response:
        """List systems."""
        project = project_for_reader(request.user, slug)
        # The system of a comparison represents several systems and is none itself.
        return self.page(System.objects.filter(project=project, compares=False), SystemRow)


class Items(ApiView):
    """The items of a project."""

    about = "material"

    @reads(ItemRow, paged=True, filters=(MaterialFilter,))
    def get(self, request: Request, slug: str) -> Response:
        """List items: systems' outputs for documents."""
        project = project_for_reader(request.user, slug)
        paths = {"document": "document__key", "system": "system__name"}
        chosen = {paths[name]: value for name, value in self.filters(MaterialFilter).items()}
        items = Item.objects.filter(document__project=project, **chosen)
        # Rows only name the document, whose parts can be long.
        named = items.select_related("document", "system").defer("document__parts")
        return self.page(named, ItemRow)

    @writes(Imported, accepts=ItemsInput, status=201)
    def post(self, request: Request, slug: str) -> Response:
        """Create items of existing documents, with the systems that they need, all or none."""
        project = project_for_admin(request.user, slug)
        report = _import_rows(request, project, self.check(ItemsInput)["items"], ITEMS, within="items")
        return Response(Imported(report).data, status=201)


# What questions about comparisons and parts need.


ComparisonsInput = form_input("ComparisonsInput", ComparisonsForm, usual={"size": 2, "per_document": None})


class CreatedComparisons(serializers.Serializer[Any]):
    """The number of new comparisons."""

    made = serializers.IntegerField()


class Comparisons(ApiView):
    """The comparisons of a project."""

    about = "material"

    @writes(CreatedComparisons, accepts=ComparisonsInput, status=201)
    def post(self, request: Request, slug: str) -> Response:
        """Create comparisons before Round I opens. Documents with comparisons of this size keep them."""
        project = project_for_admin(request.user, slug)
        made = draw_comparisons(project=project, **self.check(ComparisonsInput))
        return Response(CreatedComparisons({"made": made}).data, status=201)

    @writes(None, status=204)
    def delete(self, request: Request, slug: str) -> Response:
        """Remove all comparisons before Round I opens."""
        remove_comparisons(project=project_for_admin(request.user, slug))
        return Response(status=204)


class PartsOfOutput(Input):
    """The parts of an output, in order."""

    document = Text(max_length=200, help_text="The document's key.")
    system = Text(max_length=200, help_text="The system's name.")
    parts = serializers.ListField(child=Text(), min_length=1, max_length=MOST_PARTS)


class PartsInput(Input):
    """Parts of outputs. Either all of them are stored, or none."""

    outputs = serializers.ListField(child=PartsOfOutput(), min_length=1, max_length=MOST_ROWS)


class ImportedParts(serializers.Serializer[Any]):
    """The number of outputs that now have these parts."""

    outputs = serializers.IntegerField()


class Parts(ApiView):
    """The parts of outputs: sentences, facts or content units, each judged separately."""

    about = "material"

    @writes(ImportedParts, accepts=PartsInput, status=201)
    def post(self, request: Request, slug: str) -> Response:
        """Give outputs these parts before Round I opens. Opening splits the other outputs into sentences."""
        project = project_for_admin(request.user, slug)
        sent = self.check(PartsInput)["outputs"]
        parts = {(each["document"], each["system"]): each["parts"] for each in sent}
        made = import_parts(project=project, parts=parts)
        return Response(ImportedParts({"outputs": made}).data, status=201)


class RecordedRatings(ApiView):
    """Ratings recorded elsewhere."""

    about = "ratings"

    @writes(RecordedImport, accepts=RecordedInput, status=201)
    def post(self, request: Request, slug: str) -> Response:
        """Import ratings recorded elsewhere into Round I, all or none, by the same rules as files.

        The import opens Round I if it is not open. It skips equal ratings and never overwrites one.
        """
        project = project_for_admin(request.user, slug)
        rows = self.check(RecordedInput)["ratings"]
        report = _import_rows(request, project, rows, RATINGS, within="ratings")
        return Response(RecordedImport(report).data, status=201)


class ImportRow(serializers.ModelSerializer[DataImport]):
    """A file on its way into a project, or the rows of a request."""

    class Meta:
        model = DataImport
        fields = ("id", "kind", "name", "status", "created_at", "undone_at")


class Imports(ApiView):
    """The imports of a project."""

    about = "material"

    @reads(ImportRow, paged=True)
    def get(self, request: Request, slug: str) -> Response:
        """List imports."""
        project = project_for_admin(request.user, slug)
        return self.page(DataImport.objects.filter(project=project), ImportRow)


class UndoneImport(ApiView):
    """An import that is undone."""

    about = "material"

    @writes(ImportRow)
    def post(self, request: Request, slug: str, pk: int) -> Response:
        """Delete the documents, items and systems of an import that nothing depends on yet."""
        found = data_import_in(project_for_admin(request.user, slug), pk)
        return Response(ImportRow(undo_import(data_import=found, by=request_user(request))).data)


def _import_rows(
    request: Request, project: Project, rows: list[dict[str, Any]], mapping: ColumnMapping, *, within: str
) -> ImportReport:
    ratings = mapping.gives_ratings
    with as_file(rows) as path:
        source = Source(path, f"{within}.jsonl", mapping, items=not ratings, ratings=ratings)
        report = import_file(project=project, source=source, by=request_user(request))
    refuse_lines(report.refused_lines, within=within)
    return report
