"""Templates saved from projects, imported and removed."""

from django.db import transaction

from annotate.errors import ImportRefusedError
from annotate.models import SavedTemplate, User
from annotate.specification import ProjectTemplate
from annotate.template_file import TemplateRefusedError, from_json, to_json


@transaction.atomic
def save_template(*, owner: User, template: ProjectTemplate) -> SavedTemplate:
    """Keep a template; the same again is the one that is there."""
    content = to_json(template)
    there = SavedTemplate.objects.filter(owner=owner, content=content).first()
    return there or SavedTemplate.objects.create(owner=owner, name=template.name, content=content)


def import_template(*, owner: User, text: bytes) -> SavedTemplate:
    """Keep the template of a file. Raises ImportRefusedError with every problem of the file, by its path."""
    try:
        return save_template(owner=owner, template=from_json(text))
    except TemplateRefusedError as error:
        shown = error.problems[:20]
        more = [f"… and {len(error.problems) - 20} more."] if len(error.problems) > 20 else []
        raise ImportRefusedError("\n".join([*shown, *more])) from error


def remove_template(*, template: SavedTemplate) -> None:
    """Remove a saved template; projects that were begun from it stay as they are."""
    SavedTemplate.objects.filter(pk=template.pk).delete()
