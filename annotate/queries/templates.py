"""Templates: those that come with Concord, a person's own, and what a project is as one."""

from annotate.models import Dimension, GuidelineImage, Project, SavedTemplate, User
from annotate.pictures import keys_in
from annotate.presets import TEMPLATES
from annotate.specification import DimensionSpec, Picture, PointSpec, ProjectTemplate, TemplateSettings
from annotate.template_file import from_json

OWN = "own-"


def own_templates(user: User) -> list[SavedTemplate]:
    """Return the templates that a person saved or imported, the newest first, without their content."""
    return list(SavedTemplate.objects.filter(owner=user).defer("content"))


def template_for(user: User, key: str) -> ProjectTemplate | None:
    """Return the template that Concord or this person has under a key, None for another. One query."""
    number = key.removeprefix(OWN)
    if not key.startswith(OWN) or not number.isdecimal():
        return TEMPLATES.get(key)
    saved = SavedTemplate.objects.filter(owner=user, pk=int(number)).first()
    return from_json(saved.content, key=key) if saved else None


def template_of(project: Project, *, name: str = "") -> ProjectTemplate:
    """Return a project as a template: what is asked and told, nothing that was given. Three queries."""
    dimensions = tuple(map(spec_of, project.dimensions.prefetch_related("points")))
    texts = (project.guidelines, *(dimension.guidelines for dimension in dimensions))
    kept = {image.key: image for image in project.images.all()}
    shown = [kept[key] for key in keys_in(*texts) if key in kept]
    return ProjectTemplate(
        key="",
        name=name or project.name,
        summary=project.description,
        guidelines=project.guidelines,
        dimensions=dimensions,
        settings=TemplateSettings(**{name: getattr(project, name) for name in vars(TemplateSettings())}),
        pictures=tuple(Picture(image.name, _content(image)) for image in shown),
    )


def spec_of(dimension: Dimension) -> DimensionSpec:
    """Return a dimension as it is, ready to be made again. One query unless its points were prefetched."""
    points = tuple(PointSpec(each.value, each.label, each.description) for each in dimension.points.all())
    fields = [name for name in DimensionSpec.__dataclass_fields__ if name != "points"]
    return DimensionSpec(**{name: getattr(dimension, name) for name in fields}, points=points)


def _content(image: GuidelineImage) -> bytes:
    with image.file.open("rb") as file:
        return bytes(file.read())
