"""What the disputes of a project came to, and what the intervals of its agreement are drawn from."""

from collections import Counter
from dataclasses import dataclass
from typing import Literal

from django.db.models import Count

from annotate.core.models import Dispute, Item, Project

Drawn = Literal["units", "documents"]


def default_drawn(project: Project) -> Drawn:
    """Return what intervals draw unless chosen otherwise: documents where one has several items. One query.

    Ratings of one document share its difficulty, so that drawing units alone makes intervals too narrow.
    """
    items = Item.objects.filter(document__project=project).order_by().values("document")
    return "documents" if items.annotate(items=Count("pk")).filter(items__gt=1).exists() else "units"


@dataclass(frozen=True)
class DisputeFigures:
    """What became of one dimension's disputes."""

    opened: int = 0
    settled: int = 0
    adjudicated: int = 0
    left_open: int = 0
    irresolvable: int = 0
    open: int = 0


def dispute_figures(project: Project) -> dict[int, DisputeFigures]:
    """Return what became of the disputes by the dimension's id. One query."""
    counts: dict[int, Counter[str]] = {}
    found = Dispute.objects.filter(round__project=project).values_list("dimension", "status")
    for dimension, status in found:
        counts.setdefault(dimension, Counter())[status] += 1
    return {dimension: DisputeFigures(opened=count.total(), **count) for dimension, count in counts.items()}
