"""The gold items of a project."""

from django.db.models import Count, QuerySet

from annotate.models import GoldItem, Project


def gold_of(project: Project) -> "QuerySet[GoldItem]":
    """Return a project's gold items with the number of their values, practice first."""
    found = GoldItem.objects.filter(item__document__project=project).annotate(known=Count("values"))
    return found.select_related("item__document", "item__system").order_by("-use", "pk")
