"""The report of an import of judgments."""

from dataclasses import dataclass
from typing import ClassVar

from annotate.core.translation import ngettext
from annotate.material.reading.report import Cause, FileReport, Tally


@dataclass(slots=True)
class JudgmentCounts(Tally):
    judges: int = 0
    judgments: int = 0


@dataclass(frozen=True, kw_only=True)
class JudgmentReport(FileReport):
    """The report of a file of judgments. unreadable: the new replies without a value, by reason."""

    counts: ClassVar[type[Tally]] = JudgmentCounts

    made: JudgmentCounts
    already_there: JudgmentCounts
    unreadable_count: int
    unreadable: tuple[Cause, ...]

    @property
    def remarks(self) -> list[str]:
        if not self.unreadable_count:
            return super().remarks
        unreadable = ngettext(
            "{count:,} reply is unreadable: kept with the reason, counted, and left out of every figure.",
            "{count:,} replies are unreadable: kept with the reason, counted, and left out of every figure.",
            self.unreadable_count,
        ).format(count=self.unreadable_count)
        return [*super().remarks, unreadable]

    @property
    def unread(self) -> tuple[Cause, ...]:
        """The reasons for unreadable values of new rows."""
        return self.unreadable
