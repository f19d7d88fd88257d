"""Set up and run a whole benchmark of Concord from Python, and read it as data frames."""

from concord_client.project import Project, Run
from concord_client.server import RefusedError, Server, TooSlowError
from concord_client.tables import ResultTable

__all__ = ["Project", "RefusedError", "ResultTable", "Run", "Server", "TooSlowError"]
