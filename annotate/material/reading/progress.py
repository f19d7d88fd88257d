from typing import Any, Protocol


class OnProgress(Protocol):
    """Gets the stage of an import, the share of the file, the lines until now, and at the end a report."""

    def __call__(self, stage: str, fraction: float, lines: int = 0, report: Any = None, /) -> None:
        """Report progress. An exception in it stops the import."""


def silent(_stage: str, _fraction: float, _lines: int = 0, _report: Any = None) -> None:
    """Report nothing."""
