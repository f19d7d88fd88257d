"""Mappings that ship with Concord, for files that research groups have released."""

from collections.abc import Iterator
from functools import partial

from annotate.core.translation import gettext, gettext_noop
from annotate.material.reading.columns import attempt
from annotate.material.reading.rows import (
    ImportedDocument,
    ImportedItem,
    ImportedRating,
    Part,
    Record,
    RefusedLine,
    Row,
)
from annotate.material.reading.values import (
    RefusedFieldError,
    is_blank,
    key_from_parts,
    key_of,
    parts_of,
    rated_value,
    require_field,
    text_of,
)

SUMMEVAL_OP_SYSTEMS = (
    "human-summaries",
    "vicuna-7b-v1.5",
    "Mistral-7B-Instruct-v0.2",
    "vicuna-13b-v1.5",
    "Llama-2-13b-chat-hf",
    "chatgpt-3.5-turbo",
    "zephyr-7b-beta",
    "plansum",
    "gpt-4",
    "Llama-2-7b-chat-hf",
    "ls-sum-g",
    "Multimodalsum",
    "SOLAR-10.7B-Instruct-v1.0",
)
SUMMEVAL_OP_DIMENSIONS = {
    "fl": "fluency",
    "co": "coherence",
    "re": "relevance",
    "fa": "faithfulness",
    "ac": "aspect coverage",
    "sc": "sentiment consistency",
    "sp": "specificity",
}


class ItemsOnly:
    gives_items = True
    gives_ratings = False

    def rating_rows(self, _record: Record) -> Iterator[Row | RefusedLine]:
        """Nothing: these files have no rater's values."""
        yield from ()


class SummEvalOp(ItemsOnly):
    """SummEval-OP's file with system names. Its mean ratings belong to no rater and are not imported."""

    name = "summeval-op"
    title = gettext_noop("SummEval-OP: reviews and summaries with system names")

    def item_rows(self, record: Record) -> Iterator[Row | RefusedLine]:
        values = require_field(record.fields, "summaries")
        if not isinstance(values, dict):
            raise RefusedFieldError(
                "summaries",
                gettext("The field “{field}” is not an object of system names and summaries.").format(
                    field="summaries"
                ),
            )
        summaries = values
        parts = _reviews(record)
        for system, entry in summaries.items():
            yield attempt(
                record.line, partial(_summeval_op_item, record, parts, system, _summary(system, entry))
            )


class SummEvalOpDetailed:
    """SummEval-OP's file with every annotator's rating. The systems are in the release's fixed order."""

    name = "summeval-op-detailed"
    title = gettext_noop("SummEval-OP: reviews, summaries and the ratings of three annotators")
    gives_items = True
    gives_ratings = True

    def item_rows(self, record: Record) -> Iterator[Row | RefusedLine]:
        summaries = _per_system(record, "summaries")
        parts = _reviews(record)
        for system, text in zip(SUMMEVAL_OP_SYSTEMS, summaries, strict=True):
            yield attempt(record.line, partial(_summeval_op_item, record, parts, system, text))

    def rating_rows(self, record: Record) -> Iterator[Row | RefusedLine]:
        key = key_from_parts(_reviews(record), "product")
        for code, dimension in SUMMEVAL_OP_DIMENSIONS.items():
            # The values of each system are in the order of its annotators, who have no names.
            for system, values in zip(SUMMEVAL_OP_SYSTEMS, _per_system(record, code), strict=True):
                line = record.line
                field = f"{code}.{system}"
                if not isinstance(values, list):
                    raise RefusedFieldError(
                        field,
                        gettext("The field “{field}” is not a list of the annotators' values.").format(
                            field=field
                        ),
                    )
                for number, value in enumerate(values, start=1):
                    if not is_blank(value):
                        make = partial(_rating, line, key, system, f"A{number}", dimension, value, field)
                        yield attempt(line, make)


class SummEval:
    """SummEval's annotations: one system's summary of one article with the experts' scores."""

    name = "summeval"
    title = gettext_noop("SummEval: summaries with the experts' scores")
    gives_items = True
    gives_ratings = True

    def item_rows(self, record: Record) -> Iterator[Row | RefusedLine]:
        yield attempt(record.line, partial(self._item, record))

    def rating_rows(self, record: Record) -> Iterator[Row | RefusedLine]:
        document, system = self._unit(record)
        for number, scores in enumerate(_list(record, "expert_annotations"), start=1):
            field = f"expert_annotations[{number - 1}]"
            if not isinstance(scores, dict):
                raise RefusedFieldError(
                    field, gettext("The field “{field}” is not an object of scores.").format(field=field)
                )
            for dimension, value in scores.items():
                path = f"{field}.{dimension}"
                make = partial(_rating, record.line, document, system, f"E{number}", dimension, value, path)
                yield attempt(record.line, make)

    def _item(self, record: Record) -> Row:
        document, system = self._unit(record)
        parts: tuple[Part, ...] = ()
        # Without an article, the document must have been imported before.
        article = _first_of(record, ("text", "source"), required=False)
        if article:
            parts = (("Article", text_of(record.fields[article], article)),)
        summary = _first_of(record, ("decoded", "summary"))
        text = text_of(record.fields[summary], summary)
        return ImportedItem(record.line, document, "", parts, system, text)

    def _unit(self, record: Record) -> tuple[str, str]:
        system = _first_of(record, ("model_id", "system"))
        return key_of(require_field(record.fields, "id"), "id"), key_of(record.fields[system], system)


class SummEvalDocuments(ItemsOnly):
    name = "summeval-documents"
    title = gettext_noop("SummEval: the articles alone")

    def item_rows(self, record: Record) -> Iterator[Row | RefusedLine]:
        yield attempt(record.line, partial(self._document, record))

    def _document(self, record: Record) -> Row:
        text = text_of(require_field(record.fields, "source"), "source")
        return ImportedDocument(
            record.line, key_of(require_field(record.fields, "id"), "id"), "", (("Article", text),)
        )


def _summeval_op_item(record: Record, parts: tuple[Part, ...], system: str, text: object) -> Row:
    # Products have no key in this release, so their reviews give it.
    key = key_from_parts(parts, "product")
    title = f"Product {record.line}"
    field = f"summaries.{system}"
    return ImportedItem(record.line, key, title, parts, key_of(system, "summaries"), text_of(text, field))


def _reviews(record: Record) -> tuple[Part, ...]:
    reviews = require_field(record.fields, "reviews")
    texts = list(reviews.values()) if isinstance(reviews, dict) else reviews
    if not isinstance(texts, list) or not texts:
        raise RefusedFieldError("reviews", gettext("The field “reviews” holds no reviews."))
    return parts_of(texts, "Review", "reviews")


def _rating(
    line: int, document: str, system: str, rater: str, dimension: str, value: object, field: str
) -> Row:
    return ImportedRating(line, document, system, rater, key_of(dimension, field), rated_value(value, field))


def _per_system(record: Record, field: str) -> list[object]:
    values = _list(record, field)
    if len(values) != len(SUMMEVAL_OP_SYSTEMS):
        reason = gettext("The field “{field}” has {count} entries where the release has 13 systems.").format(
            field=field, count=len(values)
        )
        raise RefusedFieldError(field, reason)
    return values


def _list(record: Record, field: str) -> list[object]:
    values = require_field(record.fields, field)
    if not isinstance(values, list):
        raise RefusedFieldError(field, gettext("The field “{field}” is not a list.").format(field=field))
    return values


def _summary(system: str, entry: object) -> object:
    if not isinstance(entry, dict) or "summary" not in entry:
        raise RefusedFieldError(
            f"summaries.{system}", gettext("The system “{system}” has no “summary”.").format(system=system)
        )
    return entry["summary"]


def _first_of(record: Record, names: tuple[str, ...], *, required: bool = True) -> str:
    found = next((name for name in names if name in record.fields), "")
    if required and not found:
        raise RefusedFieldError(
            names[0],
            gettext("The field “{name}” (or “{other}”) is missing.").format(name=names[0], other=names[1]),
        )
    return found
