"""The texts of an item in which passages are marked."""

from annotate.core.models import Item
from annotate.fastpath.queries import NUMBERS, Prepared


def item_texts(item: int) -> list[str]:
    """Return the text rated and the parts of its document, each end of a line as one character. One query."""
    return texts_of(_ITEM.all(item)[0])


def texts_of(item: Item) -> list[str]:
    """Return the same of an item whose document is loaded."""
    texts = [item.text, *(part["text"] for part in item.document.parts)]
    return [text.replace("\r\n", "\n") for text in texts]


_ITEM = Prepared(lambda pk: Item.objects.select_related("document").filter(pk=pk), NUMBERS[0])
