"""Notes by which page and worker communicate while a transaction holds the database."""

from contextlib import suppress

from django.core.files.storage import default_storage

from annotate.core.files import changed_at, keep_text


class JobNotes:
    """What page and worker of an import or export pass each other while a transaction holds the database.

    On SQLite nobody else writes then, and nobody reads what that transaction has written.
    """

    SUFFIXES = (".written", ".cancelled", ".alive")

    def __init__(self, folder: str, number: int) -> None:
        self._written, self._cancelled, self._alive = (f"{folder}/{number}{each}" for each in self.SUFFIXES)

    def note_lines(self, lines: int) -> None:
        """Note how many lines are written."""
        keep_text(self._written, str(lines))

    @property
    def lines(self) -> int:
        """How many lines were written when it was noted last."""
        try:
            with default_storage.open(self._written, "rb") as note:
                return int(note.read() or 0)  # empty: it is being written
        except FileNotFoundError:
            return 0

    def record_heartbeat(self) -> None:
        """Note that the worker is alive."""
        with suppress(FileNotFoundError):  # the job ended in this moment, and its notes were cleared
            keep_text(self._alive, "")

    @property
    def noted_at(self) -> float:
        """When something was noted last, in seconds of the clock; 0 where nothing was."""
        return max(changed_at(self._written), changed_at(self._alive))

    def cancel(self) -> None:
        """Ask the worker to stop."""
        keep_text(self._cancelled, "")

    @property
    def is_cancelled(self) -> bool:
        """Whether the worker was asked to stop."""
        return default_storage.exists(self._cancelled)

    def clear(self) -> None:
        """Forget everything."""
        for note in (self._written, self._cancelled, self._alive):
            default_storage.delete(note)
