"""Writing an export back into the database."""

from annotate.commands.restoring.project import RestoreRefusedError, restore_export

__all__ = ["RestoreRefusedError", "restore_export"]
