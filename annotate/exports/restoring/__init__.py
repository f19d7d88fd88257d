from annotate.exports.restoring.project import RestoreRefusedError, restore_export
