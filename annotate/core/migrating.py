"""How an app's first migration makes its tables."""

from copy import copy
from itertools import takewhile

from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.migrations.state import ProjectState


class TablesTogether(migrations.Migration):
    """A migration that begins with new tables, all of which are known before the first is made.

    After each new model Django renders anew all that are related to it: with so many tables, nearly all of
    which lead to a project and so to each other, that is most of what an empty database waits for.
    """

    def apply(
        self, project_state: ProjectState, schema_editor: BaseDatabaseSchemaEditor, collect_sql: bool = False
    ) -> ProjectState:
        """Make the tables, then do the rest as any migration does. SQL that is only shown stays as it was."""
        if collect_sql:
            return super().apply(project_state, schema_editor, collect_sql)
        tables = list(takewhile(lambda made: isinstance(made, migrations.CreateModel), self.operations))
        project_state.__dict__.pop("apps", None)  # the rendered models, made again when they are asked for
        for table in tables:
            table.state_forwards(self.app_label, project_state)
        for table in tables:
            table.database_forwards(self.app_label, schema_editor, project_state, project_state)
        rest = copy(self)
        rest.operations = self.operations[len(tables) :]  # type: ignore[misc]  # for the stubs it belongs to the class
        return super(TablesTogether, rest).apply(project_state, schema_editor)
