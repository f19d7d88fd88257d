"""All rows that belong to a project, whichever app they are of, in the order in which they can be deleted."""

from collections.abc import Iterator
from typing import Any

from django.apps import apps
from django.db.models import ForeignKey, Model, QuerySet

from annotate.models import Project, ProjectDeletion


def rows_of_project(project: Project) -> Iterator[QuerySet[Model]]:
    """Yield the rows of every table of the project, those that refer to others before these."""
    paths = _paths()
    for model in _referring_first(list(paths)):
        yield model._base_manager.filter(**{paths[model]: project})


def counts_of_project(project: Project) -> list[tuple[str, int]]:
    """Return how many rows of which kind belong to a project, the most first. A query for each table."""
    counts = [(str(rows.model._meta.verbose_name_plural), rows.count()) for rows in rows_of_project(project)]
    return sorted(((name, count) for name, count in counts if count), key=lambda each: (-each[1], each[0]))


def _paths() -> dict[type[Model], str]:
    """By which lookup a model's rows belong to a project: the shortest chain of references, never empty."""
    paths: dict[type[Model], str] = {Project: ""}
    reached: list[type[Model]] = [Project]
    while reached:
        reached = [
            model
            for model in apps.get_models(include_auto_created=True)
            if model not in paths and any(target in reached for target in _targets(model))
        ]
        for model in reached:
            field, target = next(
                (f, t) for t, f in _targets(model).items() if t in paths and t not in reached
            )
            paths[model] = f"{field}__{paths[target]}" if paths[target] else field
    del paths[Project], paths[ProjectDeletion]  # the permission goes last
    return paths


def _targets(model: type[Model]) -> dict[type[Model], str]:
    references = [each for each in _references(model) if not each.null or each.related_model is Project]
    return {each.related_model: each.name for each in references}


def _references(model: type[Model]) -> list[ForeignKey[Any, Any]]:
    return [field for field in model._meta.concrete_fields if isinstance(field, ForeignKey)]


def _referring_first(models: list[type[Model]]) -> Iterator[type[Model]]:
    left = list(models)
    while left:
        referred = {field.related_model for model in left for field in _references(model)}
        free = [model for model in left if model not in referred] or left[:1]
        yield from free
        left = [model for model in left if model not in free]
