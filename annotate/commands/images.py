"""Pictures of guidelines: added and removed."""

from django.core.files.base import ContentFile
from django.db import transaction
from django.utils.translation import gettext

from annotate.commands.audit import record
from annotate.commands.configuration import lock_project
from annotate.errors import InvalidValueError, NotReadyError
from annotate.models import GuidelineImage, Project, User
from annotate.pictures import LARGEST, key_of
from annotate.queries.images import places_of_image


@transaction.atomic
def add_image(*, project: Project, by: User | None, name: str, content: bytes) -> GuidelineImage:
    """Keep a picture; the same picture again is the one that is there. Locks the project.

    Raises InvalidValueError for what is too large or not a picture.
    """
    if len(content) > LARGEST:
        raise InvalidValueError(
            gettext("“{name}” has {value:.1f} MB; a picture may have {value_2}. Make it smaller.").format(
                name=name, value=len(content) / 2**20, value_2=LARGEST // 2**20
            )
        )
    key = key_of(content)
    if key is None:
        raise InvalidValueError(
            gettext("“{name}” is not a PNG, JPEG, GIF or WebP picture; save it as one of these.").format(
                name=name
            )
        )
    lock_project(project)
    if there := project.images.filter(key=key).first():
        return there
    image = GuidelineImage(project=project, key=key, name=name[-150:], added_by=by)
    image.file.save(key, ContentFile(content), save=False)
    image.save()
    record(project, "picture.added", image.name, by=by)
    return image


@transaction.atomic
def remove_image(*, image: GuidelineImage) -> None:
    """Remove a picture. Locks the project. Raises NotReadyError for one that a guideline shows."""
    project = lock_project(image.project)
    if places := places_of_image(project, image.key):
        raise NotReadyError(
            gettext("This picture is shown in {listed}, so it stays; take it out there first.").format(
                listed=", ".join(places)
            )
        )
    storage, stored = image.file.storage, str(image.file.name)
    if GuidelineImage.objects.filter(pk=image.pk).delete()[0]:
        record(project, "picture.removed", image.name)
    transaction.on_commit(lambda: storage.delete(stored))
