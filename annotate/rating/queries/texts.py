"""The numbered parts of an item that can contain marked passages."""

from annotate.core.models import Item
from annotate.fastpath.queries import NUMBERS, Prepared


def item_texts(item: int) -> list[str]:
    return texts_of(_ITEM.all(item)[0])


def texts_of(item: Item) -> list[str]:
    """Return the output, its document's parts, and the sides of a comparison, by number of the part.

    Each end of a line is one character. The item's document is loaded. One query for a comparison.
    """
    texts = [item.text, *(part["text"] for part in item.document.parts)]
    if item.is_comparison:
        sides = Item.objects.filter(comparisons__item=item).order_by("comparisons__position")
        texts += sides.values_list("text", flat=True)
    return [text.replace("\r\n", "\n") for text in texts]


_ITEM = Prepared(lambda pk: Item.objects.select_related("document").filter(pk=pk), NUMBERS[0])
