"""Projects begun and configured."""

from itertools import count

from django.db import transaction
from django.utils.text import slugify

from annotate.commands.audit import record
from annotate.commands.configuration import lock_configurable, lock_project
from annotate.commands.dimensions import add_dimension
from annotate.commands.images import add_image
from annotate.commands.people import add_member
from annotate.models import Project, Role, User
from annotate.specification import ProjectTemplate

# A round freezes the first; the others can be changed at any time.
FROZEN_FIELDS = ("guidelines", "raters_per_item", "dispute_threshold", "tolerance")
FREE_FIELDS = ("name", "description", "reservation_minutes")
# Words that stand in the place of a project's slug in addresses.
RESERVED_SLUGS = frozenset({"new"})


@transaction.atomic
def create_project(*, user: User | None, name: str, template: ProjectTemplate | None = None) -> Project:
    """Begin a project, with a template's dimensions or none, whose admin is this person or nobody yet."""
    project = Project(slug=_free_slug(name), name=name, created_by=user)
    if template:
        project.description, project.guidelines = template.summary, template.guidelines
        for field, value in vars(template.settings).items():
            setattr(project, field, value)
    project.save(force_insert=True)
    record(project, "project.begun", project, by=user)
    if user:
        add_member(project=project, role=Role.ADMIN, user=user)
    for dimension in template.dimensions if template else ():
        add_dimension(project=project, dimension=dimension)
    for picture in template.pictures if template else ():
        add_image(project=project, by=user, name=picture.name, content=picture.content)
    return project


@transaction.atomic
def update_project(*, project: Project, **values: str | int) -> Project:
    """Change settings (FREE_FIELDS and FROZEN_FIELDS) and return the project. Locks the project.

    Raises FrozenError if one that a round froze would become different.
    """
    locked = lock_project(project)
    changed = {field: value for field, value in values.items() if getattr(locked, field) != value}
    if unknown := changed.keys() - {*FREE_FIELDS, *FROZEN_FIELDS}:
        raise TypeError(f"Not settings of a project: {', '.join(sorted(unknown))}.")
    if changed.keys() & set(FROZEN_FIELDS):
        lock_configurable(project)
    before = {field: getattr(locked, field) for field in changed}
    for field, value in changed.items():
        setattr(locked, field, value)
    locked.save(update_fields=list(changed))
    record(locked, "project.changed", locked, before=before, after=changed)
    return locked


def _free_slug(name: str) -> str:
    base = slugify(name)[:50].strip("-") or "project"
    candidates = (base if n == 1 else f"{base}-{n}" for n in count(1))
    return next(
        slug
        for slug in candidates
        if slug not in RESERVED_SLUGS and not Project.objects.filter(slug=slug).exists()
    )
