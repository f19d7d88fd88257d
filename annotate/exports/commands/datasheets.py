from django.db import transaction

from annotate.core.audit import record
from annotate.core.configuration import lock_project
from annotate.core.models import Project, User
from annotate.exports.citation import Datasheet


@transaction.atomic
def save_datasheet(*, project: Project, datasheet: Datasheet, by: User | None) -> Project:
    """Store a project's datasheet for future exports, and return the project. Locks the project."""
    locked = lock_project(project)
    before, locked.datasheet = locked.datasheet, datasheet.to_dict()
    locked.save(update_fields=["datasheet"])
    record(
        locked,
        "project.datasheet_changed",
        locked,
        before={"datasheet": before},
        after={"datasheet": locked.datasheet},
        by=by,
    )
    return locked
