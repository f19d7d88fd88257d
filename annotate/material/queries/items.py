import hashlib
from collections.abc import Sequence

from django.utils.translation import gettext

from annotate.core.models import Document, text_digest
from annotate.material.queries.catalogue import Catalogue, DocumentRecord, ItemRecord, SystemRecord
from annotate.material.reading.report import ImportCounts
from annotate.material.reading.rows import ImportedDocument, ImportedItem, LineReason, Part, RefusedLine


class ItemCheck:
    """Takes rows individually and counts the resulting rows; an importer also writes them."""

    def __init__(self, catalogue: Catalogue) -> None:
        self.catalogue = catalogue
        self.made = ImportCounts()
        self.already_there = ImportCounts()
        self._last_parts: tuple[Part, ...] = ()
        self._last_digest = b""

    def take(self, row: ImportedDocument | ImportedItem) -> RefusedLine | None:
        key = row.document
        parts = row.parts
        # Outputs of one document usually follow each other, so its digest is computed once.
        if parts != self._last_parts or not self._last_digest:
            written = [{"label": label, "text": text} for label, text in parts]
            self._last_parts, self._last_digest = parts, bytes.fromhex(text_digest(written))
        digest = self._last_digest
        document = self.catalogue.documents.get(key)
        if document is None:
            if not row.parts:
                reason = LineReason.fill(
                    gettext(
                        "The project has no document “{document}”; import the documents before their texts."
                    ),
                    example=key,
                    document=key,
                )
                return RefusedLine(row.line, "document", reason)
            document = self.new_document(digest, row)
        elif row.parts and digest != document.digest:
            other = (
                gettext(
                    "The document “{document}” has other texts in line {line:,} of this file: {difference}; "
                    "give this one another key."
                )
                if document.line
                else gettext(
                    "The document “{document}” has other texts in the project: {difference}; "
                    "give this one another key."
                )
            )
            difference = _difference(document, row)
            reason = LineReason.fill(
                other, example=key, document=key, line=document.line, difference=difference
            )
            return RefusedLine(row.line, "document", reason)
        # A document of the project counts once, however many rows name it.
        elif not document.in_file and not document.line:
            document.in_file = True
            self.already_there.documents += 1
        return self._take_item(document, row) if isinstance(row, ImportedItem) else None

    def new_document(self, digest: bytes, row: ImportedDocument | ImportedItem) -> DocumentRecord:
        self.made.documents += 1
        known = self.catalogue.add_document(row.document, digest, line=row.line)
        known.parts = part_digests(row.parts)
        return known

    def new_system(self, name: str) -> SystemRecord:
        self.made.systems += 1
        return self.catalogue.add_system(name)

    def new_item(
        self, document: DocumentRecord, system: SystemRecord, digest: bytes, row: ImportedItem
    ) -> ItemRecord:
        self.made.items += 1
        return self.catalogue.add_item(document, system, digest, row.line)

    def _take_item(self, document: DocumentRecord, row: ImportedItem) -> RefusedLine | None:
        digest = bytes.fromhex(text_digest(row.text))
        system = self.catalogue.systems.get(row.system) or self.new_system(row.system)
        known = self.catalogue.items.get((document.number, system.number))
        if known is None:
            self.new_item(document, system, digest, row)
            return None
        # An existing output is never replaced: raters may have seen it.
        if known.digest != digest:
            other = (
                gettext(
                    "“{system}” has another text for document “{document}” in line {line:,} of this file; "
                    "a text is never replaced, so give this one another system or document."
                )
                if known.line
                else gettext(
                    "“{system}” has another text for document “{document}” in the project; "
                    "a text is never replaced, so give this one another system or document."
                )
            )
            example = f"{row.system} – {row.document}"
            reason = LineReason.fill(
                other, example=example, system=row.system, document=row.document, line=known.line
            )
            return RefusedLine(row.line, "text", reason)
        self.already_there.items += 1
        return None


def part_digests(parts: Sequence[Part]) -> tuple[bytes, ...]:
    # Short digests keep the documents of a large file in memory; only messages use them. No text contains
    # NUL, so label and text cannot run into each other.
    return tuple(hashlib.blake2b("\0".join(part).encode(), digest_size=8).digest() for part in parts)


def _difference(document: DocumentRecord, row: ImportedDocument | ImportedItem) -> str:
    """Return the part of a document that differs. One query if the document is in the project."""
    there = document.parts
    if not there:
        assert document.pk is not None, "documents of the file alone have parts"
        stored = Document.objects.values_list("parts", flat=True).get(pk=document.pk)
        there = part_digests([(part["label"], part["text"]) for part in stored])
    here = part_digests(row.parts)
    if len(there) != len(here):
        return gettext("{there} parts there and {here} here").format(there=len(there), here=len(here))
    differing = [index for index, (one, other) in enumerate(zip(there, here, strict=True)) if one != other]
    if not differing:
        return gettext("the parts are in another form")
    label = row.parts[differing[0]][0]
    part = f"{differing[0] + 1} (“{label}”)" if label else str(differing[0] + 1)
    if len(differing) == 1:
        return gettext("part {part} differs").format(part=part)
    return gettext("part {part} differs, and {more} more").format(part=part, more=len(differing) - 1)
