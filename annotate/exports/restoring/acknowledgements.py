"""Who has read which wording."""

from annotate.core.models import Acknowledgement
from annotate.exports.restoring.archive import ExportArchive
from annotate.exports.restoring.restored import Restored

AT_ONCE = 500


def restore_acknowledgements(restored: Restored, archive: ExportArchive) -> None:
    """Make the acknowledgements in their order, of which the last one counts; earlier exports have none."""
    read = (
        Acknowledgement(
            annotator=restored.raters[row["rater"]],
            guideline=restored.guidelines[row["guideline_version"]],
            at=row["at"],
        )
        for row in archive.rows("acknowledgements")
    )
    Acknowledgement.objects.bulk_create(read, AT_ONCE)
