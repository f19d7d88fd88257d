"""Read and fill a project of Concord from Python, as data frames."""

from typing import TYPE_CHECKING, Any

from concord_client.server import RefusedError

if TYPE_CHECKING:
    from concord_client.project import Project
    from concord_client.tables import ResultTable

__all__ = ["Project", "RefusedError", "ResultTable"]


def __getattr__(name: str) -> Any:
    """Import what needs pandas when it is used: the command `concord` starts without it."""
    if name == "Project":
        from concord_client.project import Project

        return Project
    if name == "ResultTable":
        from concord_client.tables import ResultTable

        return ResultTable
    raise AttributeError(name)
