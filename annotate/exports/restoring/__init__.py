"""Writing an export back into the database."""

from annotate.exports.restoring.project import RestoreRefusedError, restore_export
