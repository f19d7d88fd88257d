"""The choice between units and documents for the intervals of agreement."""

from typing import Literal

from django.db.models import Count

from annotate.core.models import Item, Project

Drawn = Literal["units", "documents"]


def default_drawn(project: Project) -> Drawn:
    """Return what intervals draw unless chosen otherwise: documents where one has several items. One query.

    Ratings of one document share its difficulty, so that drawing units alone makes intervals too narrow.
    """
    items = (
        Item.objects.filter(document__project=project, kind=Item.Kind.OUTPUT).order_by().values("document")
    )
    return "documents" if items.annotate(items=Count("pk")).filter(items__gt=1).exists() else "units"
