"""Parts of items, which are judged one by one: sentences, or facts that a person lists."""

import re
from collections.abc import Sequence

from django.db import transaction
from django.utils.translation import gettext

from annotate.core.configuration import lock_configurable
from annotate.core.errors import InvalidValueError
from annotate.core.models import Item, ItemPart, Project

BATCH = 500
MOST_PARTS = 200
# A sentence ends with its mark, and what quotes or brackets close there, before a blank and no small letter.
SENTENCE_END = re.compile(r"""(?<=[.!?…。！？])(?P<closing>["'”’»)\]]*)\s+(?=[^\s.,;:a-z])|\n+""")
SHORT_FORMS = re.compile(
    r"\b(?:Mr|Mrs|Ms|Dr|Prof|St|Jr|Sr|vs|e\.g|i\.e|z\.B|d\.h|bzw|Nr|No|Fig|approx|[A-Z])\.$"
)


def split_sentences(text: str) -> list[str]:
    """Return the sentences of a text, by rule: marks that end sentences, but not after usual short forms."""
    sentences: list[str] = []
    begin = 0
    for end in SENTENCE_END.finditer(text):
        piece = text[begin : end.start()] + (end.group("closing") or "")
        if SHORT_FORMS.search(piece):
            continue
        sentences.append(piece.strip())
        begin = end.end()
    sentences.append(text[begin:].strip())
    return [each for each in sentences if each]


@transaction.atomic
def split_items(*, project: Project) -> int:
    """Give every output without parts its sentences as parts; return how many items got some.

    Locks the project. Safe to run twice. Raises FrozenError.
    """
    project = lock_configurable(project)
    items = Item.objects.filter(document__project=project, kind=Item.Kind.OUTPUT, parts__isnull=True)
    made = 0
    for item in items.order_by("pk").iterator(BATCH):
        _write(item, split_sentences(item.text)[:MOST_PARTS])
        made += 1
    return made


@transaction.atomic
def set_parts(*, item: Item, texts: Sequence[str]) -> None:
    """Make these the parts of an item, in their order. Locks the project. Raises FrozenError.

    Raises InvalidValueError for an empty part, and for too many.
    """
    lock_configurable(item.document.project)
    cleaned = [text.strip() for text in texts]
    if not all(cleaned) or len(cleaned) > MOST_PARTS:
        raise InvalidValueError(
            gettext("List 1 to {most} parts, none of them empty.").format(most=MOST_PARTS)
        )
    item.parts.all().delete()
    _write(item, cleaned)


def _write(item: Item, texts: Sequence[str]) -> None:
    ItemPart.objects.bulk_create(
        ItemPart(item=item, position=position, text=text) for position, text in enumerate(texts)
    )
