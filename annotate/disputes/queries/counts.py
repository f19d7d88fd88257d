from dataclasses import dataclass

from django.db.models import Count

from annotate.core.models import Dispute, Project
from annotate.core.rounds import disputes_in


@dataclass(frozen=True)
class DisputeCounts:
    settled: int = 0
    adjudicated: int = 0
    open: int = 0
    left_open: int = 0
    irresolvable: int = 0

    @property
    def total(self) -> int:
        return self.settled + self.adjudicated + self.unresolved

    @property
    def unresolved(self) -> int:
        """The number of disputes that are neither settled nor adjudicated."""
        return self.open + self.left_open + self.irresolvable

    @property
    def breakdown(self) -> str:
        """The unresolved disputes by status, in the language of the page."""
        status = Dispute.Status
        unresolved = (status.OPEN, status.LEFT_OPEN, status.IRRESOLVABLE)
        counts = [(getattr(self, each), each.label) for each in unresolved]
        return ", ".join(f"{count:,} {label}" for count, label in counts if count)


def dispute_counts(project: Project) -> DisputeCounts:
    """Return the counts of a project. One query."""
    by_status = disputes_in(project).order_by().values_list("status").annotate(Count("pk"))
    return DisputeCounts(**dict(by_status))


def dispute_counts_by_dimension(project: Project) -> dict[int, DisputeCounts]:
    """Return the counts by the dimension's id, without dimensions that have no dispute. One query."""
    disputes = disputes_in(project).order_by()
    found: dict[int, dict[str, int]] = {}
    for dimension, status, count in disputes.values_list("dimension", "status").annotate(Count("pk")):
        found.setdefault(dimension, {})[status] = count
    return {dimension: DisputeCounts(**counts) for dimension, counts in found.items()}
