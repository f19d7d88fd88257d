"""The output, sides and parts of an item, as its annotator sees them."""

from agreement.streams import Stream
from annotate.core.models import Assignment, Item, ItemPart, Rating
from annotate.fastpath.queries import NUMBERS, Prepared
from annotate.questions import Given, ItemContent


def stored_answer(rating: Rating | None) -> Given | None:
    """Return the answer that a rating holds, None without a value."""
    return None if rating is None or rating.value is None else Given(rating.value, rating.data)


def content_of(assignment: Assignment) -> ItemContent:
    """Return the content of an assignment's item. Three queries."""
    sides = _SIDES.all(assignment.item_id)
    return ItemContent(
        texts=item_texts(assignment.item_id),
        sides=[each.text for each in sides],
        formats=[each.format for each in sides],
        order=order_of_sides(assignment, len(sides)),
        parts=[each.text for each in _PARTS.all(assignment.item_id)],
    )


def order_of_sides(assignment: Assignment, sides: int) -> list[int]:
    """Return the order of the sides for an assignment's annotator, at random by project and annotator.

    Round II has the order of Round I, so that the numbers in the raters' reasons stay valid.
    """
    order = list(range(sides))
    if sides > 1:
        annotator = assignment.annotator
        name = ("sides", assignment.item.digest, annotator.pseudonym if annotator else "")
        Stream(assignment.round.project.seed).of(*name).shuffler().shuffle(order)
    return order


_SIDES = Prepared(
    lambda item: Item.objects.filter(comparisons__item=item).order_by("comparisons__position"), NUMBERS[0]
)
_PARTS = Prepared(lambda item: ItemPart.objects.filter(item=item).order_by("position"), NUMBERS[0])


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
