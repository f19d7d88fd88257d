"""Read and fill a project of Concord from Python, as data frames."""

from concord_client.project import Project
from concord_client.server import RefusedError
from concord_client.tables import ResultTable

__all__ = ["Project", "RefusedError", "ResultTable"]
