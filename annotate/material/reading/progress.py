"""Progress of an import while it runs, and two files by which page and worker communicate meanwhile."""

from pathlib import Path
from typing import Any, Protocol


class OnProgress(Protocol):
    """Gets the stage of an import, the share of the file, the lines so far, and with the end a report."""

    def __call__(self, stage: str, fraction: float, lines: int = 0, report: Any = None, /) -> None:
        """Take them; what this raises stops the import."""


def silent(_stage: str, _fraction: float, _lines: int = 0, _report: Any = None) -> None:
    """Report to nobody."""


class Notes:
    """What page and worker of an import pass each other while a transaction holds the database.

    On SQLite nobody else writes then, and nobody reads what that transaction has written.
    """

    SUFFIXES = (".written", ".unseen", ".cancelled", ".alive")

    def __init__(self, folder: Path, number: int) -> None:
        self._written = folder / f"{number}.written"
        self._cancelled = folder / f"{number}.cancelled"
        self._alive = folder / f"{number}.alive"

    def note_lines(self, lines: int) -> None:
        """Note how many lines are written."""
        unseen = self._written.with_suffix(".unseen")
        unseen.parent.mkdir(parents=True, exist_ok=True)
        unseen.write_text(str(lines))
        unseen.rename(self._written)

    @property
    def lines(self) -> int:
        """How many lines were written when it was noted last."""
        try:
            return int(self._written.read_text())
        except FileNotFoundError:
            return 0

    def record_heartbeat(self) -> None:
        """Note that the worker is alive."""
        self._alive.parent.mkdir(parents=True, exist_ok=True)
        self._alive.touch()

    @property
    def noted_at(self) -> float:
        """When something was noted last, in seconds of the clock; 0 where nothing was."""
        return max(_changed_at(self._written), _changed_at(self._alive))

    def cancel(self) -> None:
        """Ask the worker to stop."""
        self._cancelled.parent.mkdir(parents=True, exist_ok=True)
        self._cancelled.touch()

    @property
    def is_cancelled(self) -> bool:
        """Whether the worker was asked to stop."""
        return self._cancelled.exists()

    def clear(self) -> None:
        """Forget everything."""
        for note in (self._written, self._cancelled, self._alive):
            note.unlink(missing_ok=True)


def _changed_at(note: Path) -> float:
    try:
        return note.stat().st_mtime
    except FileNotFoundError:
        return 0.0
