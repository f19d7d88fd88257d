"""Progress of an import while it runs."""

from typing import Any, Protocol


class OnProgress(Protocol):
    """Gets the stage of an import, the share of the file, the lines so far, and with the end a report."""

    def __call__(self, stage: str, fraction: float, lines: int = 0, report: Any = None, /) -> None:
        """Take them; what this raises stops the import."""


def silent(_stage: str, _fraction: float, _lines: int = 0, _report: Any = None) -> None:
    """Report to nobody."""
