from copy import copy
from itertools import takewhile

from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.migrations.operations.base import Operation
from django.db.migrations.state import ProjectState


class TablesTogether(migrations.Migration):
    """A migration that starts with new tables. It registers all of them before it creates the first.

    After each new model Django renders all related models again. With this number of tables, most of which
    lead to a project and so to each other, that takes most of the time of migrating an empty database.
    """

    def apply(
        self, project_state: ProjectState, schema_editor: BaseDatabaseSchemaEditor, collect_sql: bool = False
    ) -> ProjectState:
        """Create the tables, then apply the other operations normally. SQL for display only is unchanged."""
        if collect_sql:
            return super().apply(project_state, schema_editor, collect_sql)
        tables = list(takewhile(lambda made: isinstance(made, migrations.CreateModel), self.operations))
        project_state.__dict__.pop("apps", None)  # The rendered models, rebuilt on access.
        for table in tables:
            table.state_forwards(self.app_label, project_state)
        for table in tables:
            table.database_forwards(self.app_label, schema_editor, project_state, project_state)
        # Django keeps this migration after `apply`, so a copy carries the shortened list of operations.
        rest = copy(self)
        rest.operations = self.operations[len(tables) :]  # type: ignore[misc]  # for the stubs it belongs to the class
        return super(TablesTogether, rest).apply(project_state, schema_editor)


# How unused columns and tables go. While PostgreSQL is migrated, servers of the version before still use
# them: they leave the models first, and a later version drops them, with `unused_since`. SQLite serves one
# version at a time, and drops them at once.


class _StaysOnPostgreSQL(Operation):
    """An operation that SQLite carries out, and PostgreSQL replaces by `retire`."""

    def database_forwards(
        self,
        app_label: str,
        schema_editor: BaseDatabaseSchemaEditor,
        from_state: ProjectState,
        to_state: ProjectState,
    ) -> None:
        if schema_editor.connection.vendor == "sqlite":
            super().database_forwards(app_label, schema_editor, from_state, to_state)
        else:
            self.retire(app_label, schema_editor, from_state)

    def database_backwards(
        self,
        app_label: str,
        schema_editor: BaseDatabaseSchemaEditor,
        from_state: ProjectState,
        to_state: ProjectState,
    ) -> None:
        if schema_editor.connection.vendor == "sqlite":
            super().database_backwards(app_label, schema_editor, from_state, to_state)

    def retire(self, app_label: str, editor: BaseDatabaseSchemaEditor, state: ProjectState) -> None:
        raise NotImplementedError


class RetireField(_StaysOnPostgreSQL, migrations.RemoveField):
    """Take a column out of the models; on PostgreSQL it stays, and gets the field's default."""

    def retire(self, app_label: str, editor: BaseDatabaseSchemaEditor, state: ProjectState) -> None:
        model = state.apps.get_model(app_label, self.model_name)
        field = model._meta.get_field(self.name)
        table, column = (editor.quote_name(name) for name in (model._meta.db_table, field.column))
        default = editor.quote_value(editor.effective_default(field))
        editor.execute(f"ALTER TABLE {table} ALTER COLUMN {column} SET DEFAULT {default}")


class RetireModel(_StaysOnPostgreSQL, migrations.DeleteModel):
    """Take a table out of the models; on PostgreSQL it stays, and its rows go with the rows they refer to."""

    def retire(self, app_label: str, editor: BaseDatabaseSchemaEditor, state: ProjectState) -> None:
        table = state.apps.get_model(app_label, self.name)._meta.db_table
        with editor.connection.cursor() as cursor:
            found = editor.connection.introspection.get_constraints(cursor, table)
        quoted = editor.quote_name
        # Triggers that guard histories would stop the deletion of a project or a person.
        editor.execute(f"ALTER TABLE {quoted(table)} DISABLE TRIGGER USER")
        for name, constraint in found.items():
            if constraint["foreign_key"]:
                (column,), (target, key) = constraint["columns"], constraint["foreign_key"]
                editor.execute(
                    f"ALTER TABLE {quoted(table)}"
                    f" DROP CONSTRAINT {quoted(name)}, ADD CONSTRAINT {quoted(name)}"
                    f" FOREIGN KEY ({quoted(column)}) REFERENCES {quoted(target)} ({quoted(key)})"
                    " ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED"
                )
