"""Deleting a project with everything in it, histories included: the only way to delete from those."""

from django.db import transaction
from django.db.models import FileField, Model, QuerySet
from django.db.models.fields.files import FieldFile
from django.utils import timezone

from annotate.commands.configuration import lock_project
from annotate.commands.uploads import forget_files
from annotate.errors import InvalidValueError
from annotate.models import AuditEntry, DataImport, Project, ProjectDeletion, User
from annotate.models.audit import DELETED
from annotate.queries.project_rows import rows_of_project


@transaction.atomic
def delete_project(*, project: Project, name: str, by: User) -> None:
    """Delete a project, whose name must be given as it is. Locks the project.

    What stays is one audit entry that tells who deleted what and when. Raises InvalidValueError.
    """
    project = lock_project(project)
    if name.strip() != project.name:
        sentence = f"Type “{project.name}”, exactly as it is, to delete this project; nothing was deleted."
        raise InvalidValueError(sentence, fields={"name": sentence})
    imports = list(DataImport.objects.filter(project=project))
    files: list[FieldFile] = []
    permission = ProjectDeletion.objects.create(project=project)
    counts = {}
    # Straight to the tables: protected references, which refuse deleting, go with what refers to them.
    for rows in rows_of_project(project):
        files += _files_of(rows)
        if deleted := rows._raw_delete(rows.db):
            counts[str(rows.model._meta.verbose_name_plural)] = deleted
    permission.delete()
    Project.objects.filter(pk=project.pk)._raw_delete(rows.db)
    AuditEntry.objects.create(
        at=timezone.now(),
        actor=by,
        act=DELETED,
        subject=project.name,
        before={"slug": project.slug, **counts},
    )
    transaction.on_commit(lambda: _forget(imports, files))


def _files_of(rows: QuerySet[Model]) -> list[FieldFile]:
    fields = [each.name for each in rows.model._meta.concrete_fields if isinstance(each, FileField)]
    return [getattr(row, name) for name in fields for row in rows.only(name)]


def _forget(imports: list[DataImport], files: list[FieldFile]) -> None:
    for file in files:
        if file.name:
            file.storage.delete(file.name)
    for each in imports:
        forget_files(each)
