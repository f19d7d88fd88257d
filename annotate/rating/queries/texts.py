"""The texts of an item in which passages are marked."""

from annotate.core.models import Item
from annotate.fastpath.queries import NUMBERS, Prepared


def item_texts(item: int) -> list[str]:
    """Return the text rated, its document's parts, and the sides of a comparison, by number of the part.

    Each end of a line is one character. One query; one more for a comparison.
    """
    found = _ITEM.all(item)[0]
    texts = [found.text, *(part["text"] for part in found.document.parts)]
    if found.kind == Item.Kind.COMPARISON:
        texts += (
            Item.objects.filter(comparisons__item=item)
            .order_by("comparisons__position")
            .values_list("text", flat=True)
        )
    return [text.replace("\r\n", "\n") for text in texts]


_ITEM = Prepared(lambda pk: Item.objects.select_related("document").filter(pk=pk), NUMBERS[0])
