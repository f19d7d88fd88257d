"""Notes for communication between page and worker while a transaction locks the database."""

from contextlib import suppress

from django.core.files.storage import default_storage

from annotate.core.files import changed_at, keep_text


class JobNotes:
    """Messages between page and worker of an import or export while a transaction locks the database.

    On SQLite no other process can write during the transaction, or read the rows that it has written.
    """

    SUFFIXES = (".written", ".cancelled", ".alive")

    def __init__(self, folder: str, number: int) -> None:
        self._written, self._cancelled, self._alive = (f"{folder}/{number}{each}" for each in self.SUFFIXES)

    def note_lines(self, lines: int) -> None:
        keep_text(self._written, str(lines))

    @property
    def lines(self) -> int:
        try:
            with default_storage.open(self._written, "rb") as note:
                return int(note.read() or 0)  # empty: it is being written
        except FileNotFoundError:
            return 0

    def record_heartbeat(self) -> None:
        with suppress(FileNotFoundError):  # the job ended in this moment, and its notes were cleared
            keep_text(self._alive, "")

    @property
    def noted_at(self) -> float:
        """Return the time of the last note, in seconds of the clock; 0 without any."""
        return max(changed_at(self._written), changed_at(self._alive))

    def cancel(self) -> None:
        keep_text(self._cancelled, "")

    @property
    def is_cancelled(self) -> bool:
        return default_storage.exists(self._cancelled)

    def clear(self) -> None:
        for note in (self._written, self._cancelled, self._alive):
            default_storage.delete(note)
