"""Material of judges of numbers: single outputs, and dimensions that are scales."""

from django.db.models import QuerySet

from annotate.core.models import Dimension, Item, Project
from annotate.questions.scale import SCALE


def scales_of(project: Project) -> QuerySet[Dimension]:
    """Return the dimensions whose answers are numbers, or codes of categories."""
    return project.dimensions.filter(kind=SCALE.key)


def outputs_of(project: Project) -> QuerySet[Item]:
    """Return the single outputs of systems, without comparisons and an addition's bridging items."""
    return Item.objects.filter(document__project=project, kind=Item.Kind.OUTPUT, gold__bridging__isnull=True)


def has_other_kinds(project: Project) -> bool:
    """Return True if a project has questions that are no scales. One query."""
    return project.dimensions.exclude(kind=SCALE.key).exists()


def names_of_scales(project: Project) -> tuple[list[tuple[str, str]], bool]:
    """Return keys and names of the scales, and True if there are also other questions. One query."""
    rows = list(project.dimensions.values_list("key", "name", "kind"))
    scales = [(key, name) for key, name, kind in rows if kind == SCALE.key]
    return scales, len(scales) < len(rows)
