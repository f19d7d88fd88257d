"""The annotator's screen before Round I, on a real item, with nobody's answers."""

from annotate.guideline import FrozenGuideline
from annotate.models import Assignment, Guideline, Item, Project, Round
from annotate.queries.guidelines import current_guideline
from annotate.queries.work import ItemPage, Row

EXAMPLE = [{"label": "Part 1", "text": "Here stands the document that the text is about."}]


def preview_page(project: Project, number: int) -> tuple[ItemPage, FrozenGuideline]:
    """Return the page of the project's item of this number, from 1, and what it is rated by. Five queries.

    Nothing of it is a row: the assignment, its round and guideline exist on this page only.
    """
    guideline = current_guideline(project)
    version = Guideline(project=project, version=1, digest=guideline.digest(), content=guideline.to_json())
    round = Round(project=project, number=1, guideline=version, status=Round.Status.OPEN)
    items = Item.objects.filter(document__project=project)
    count = items.count()
    number = min(max(number, 1), max(count, 1))
    item = items.select_related("document").order_by("pk")[number - 1 : number].first()
    return ItemPage(
        assignment=Assignment(round=round, position=number),
        title=item.document.title if item else "A document",
        parts=item.document.parts if item else EXAMPLE,
        text=item.text if item else "Here stands the text to rate. Import items to see yours.",
        rows=[Row(dimension, None) for dimension in guideline.dimensions],
        previous=number - 1 if number > 1 else None,
        next=number + 1 if number < count else None,
    ), guideline
