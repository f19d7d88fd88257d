"""The choice between units and documents for the intervals of agreement."""

from typing import Literal

from django.db.models import Count

from annotate.core.models import Item, Project

Drawn = Literal["units", "documents"]


def default_drawn(project: Project) -> Drawn:
    """Return the default resampling of intervals: documents if one has several items. One query.

    Ratings of one document share its difficulty, so intervals that resample units alone are too narrow.
    """
    items = (
        Item.objects.filter(document__project=project, kind=Item.Kind.OUTPUT).order_by().values("document")
    )
    return "documents" if items.annotate(items=Count("pk")).filter(items__gt=1).exists() else "units"
