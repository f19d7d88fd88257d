"""The gold items of a project."""

from django.db.models import Count, QuerySet

from annotate.models import GoldItem, Project

MOST_NAMES = 500


def gold_of(project: Project) -> "QuerySet[GoldItem]":
    """Return a project's gold items with the number of their values, practice first."""
    found = GoldItem.objects.filter(item__document__project=project).annotate(known=Count("values"))
    return found.select_related("item__document", "item__system").order_by("-use", "pk")


def names_to_choose(project: Project) -> dict[str, list[str]]:
    """Return the names of documents and systems that a page offers, at most 500 of each. Two queries."""
    documents = project.documents.order_by("pk").values_list("key", flat=True)[:MOST_NAMES]
    systems = project.systems.order_by("name").values_list("name", flat=True)[:MOST_NAMES]
    return {"documents": list(documents), "systems": list(systems)}
