"""A project: its material, ratings and results, and judges that are run."""

import time
from collections.abc import Iterable, Mapping
from typing import Any, cast

import httpx2
import pandas as pd

from concord_client.models import ProjectRow, RunDetail
from concord_client.server import RefusedError, Server
from concord_client.tables import ResultTable, table_of

OVER = ("paused", "stopped", "cancelled", "finished")
EVERY = 2.0  # seconds between two looks at what a worker does
SENT_AT_ONCE = 2000  # rows


class Project:
    """A project of the Concord at `address`, by the name in its address, as the token's person sees it.

    >>> project = Project("https://concord.example", token, "reviews-of-boots")
    >>> project.ratings().groupby(["system", "dimension"])["value"].mean()
    """

    def __init__(
        self, address: str, token: str, slug: str, *, transport: httpx2.BaseTransport | None = None
    ) -> None:
        self._server = Server(address, token, transport=transport)
        self._home = f"projects/{slug}/"

    def __enter__(self) -> "Project":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections to the server; `with Project(...) as project:` does it by itself."""
        self._server.close()

    def about(self) -> ProjectRow:
        """Return the project's name, settings and state."""
        return cast("ProjectRow", self._server.get(self._home))

    def ratings(self, *, round: int | None = None, dimension: str | None = None) -> pd.DataFrame:
        """Return a row for each rating, of both rounds unless one is named."""
        return self._frame("ratings/", round=round, dimension=dimension)

    def items(self) -> pd.DataFrame:
        """Return a row for each item: document, system, text."""
        return self._frame("items/")

    def dimensions(self) -> pd.DataFrame:
        """Return a row for each dimension, in their order."""
        return pd.DataFrame(self._server.get(f"{self._home}dimensions/"))

    def judges(self) -> pd.DataFrame:
        """Return a row for each judge."""
        return self._frame("judges/")

    def results(self, name: str, *, seconds: float = 600, **parameters: str) -> dict[str, ResultTable]:
        """Return the tables of a page of results by their keys, as `agreement`, `systems` or `judges`.

        Waits so many seconds for a worker where the data have changed since the figures were computed.
        parameters: what the page offers to choose, as `drawn="documents"`.
        Raises RefusedError, also where nothing came in time.
        """
        until = time.monotonic() + seconds
        found = self._server.get(f"{self._home}results/{name}/", **parameters)
        while not found["current"]:
            if found["problem"]:
                raise RefusedError(found["problem"], "not_computed")
            if time.monotonic() > until:
                raise RefusedError(f"No worker has computed {name} within {seconds:g} seconds.", "too_slow")
            time.sleep(EVERY)
            found = self._server.get(f"{self._home}results/{name}/", **parameters)
        tables = (table_of(each) for section in found["sections"] for each in section["tables"])
        return {table.key: table for table in tables}

    def agreement(self, *, seconds: float = 600, **parameters: str) -> pd.DataFrame:
        """Return the coefficients of both rounds, a row for each dimension. Waits and raises as `results`."""
        return self.results("agreement", seconds=seconds, **parameters)["rounds"].frame

    def import_documents(self, documents: pd.DataFrame) -> dict[str, int]:
        """Add documents; return how many were new.

        documents: `document` is the key, every other column a part, whose heading is the column's name.
        """
        labels = [str(name) for name in documents.columns if name != "document"]
        rows = (
            {
                "document": str(row["document"]),
                "parts": [{"label": label, "text": row[label]} for label in labels if _is_there(row[label])],
            }
            for row in documents.to_dict("records")
        )
        return self._import("documents", rows)

    def import_items(self, items: pd.DataFrame) -> dict[str, int]:
        """Add items (columns `document`, `system`, `text`) of documents that are there; return how many."""
        columns = ["document", "system", "text"]
        rows = items[columns].astype(str).itertuples(index=False)
        return self._import("items", (dict(zip(columns, row, strict=True)) for row in rows))

    def run_judge(
        self,
        name: str,
        dimensions: Iterable[str] | None = None,
        *,
        budget: float | None = None,
        documents: int | None = None,
        wait: bool = True,
    ) -> RunDetail:
        """Let a judge judge what it has not judged yet, on all dimensions unless some are named.

        budget: in the endpoint's currency; documents: a random sample of so many. Returns the run with what
        became of its judgments; with `wait` when it is over or paused. Raises RefusedError.
        """
        keys = {each["name"]: each["id"] for each in self._server.rows(f"{self._home}judges/")}
        if name not in keys:
            raise RefusedError(f"The project has no judge {name!r}; it has {', '.join(keys) or 'none'}.")
        if dimensions is None:
            dimensions = [each["key"] for each in self._server.get(f"{self._home}dimensions/")]
        wanted: dict[str, Any] = {"judges": [keys[name]], "dimensions": list(dimensions)}
        wanted |= {k: v for k, v in (("budget", budget), ("documents", documents)) if v is not None}
        planned = self._server.post(f"{self._home}runs/", wanted)
        address = f"{self._home}runs/{planned['run']['id']}/"
        found: RunDetail = self._server.post(f"{address}start/")
        while wait and found["run"]["status"] not in OVER:
            time.sleep(EVERY)
            found = self._server.get(address)
        return found

    def _frame(self, path: str, **parameters: Any) -> pd.DataFrame:
        return pd.DataFrame(self._server.rows(f"{self._home}{path}", **parameters))

    def _import(self, what: str, rows: Iterable[Mapping[str, Any]]) -> dict[str, int]:
        sent, made = list(rows), 0
        for start in range(0, len(sent), SENT_AT_ONCE):
            answer = self._server.post(f"{self._home}{what}/", {what: sent[start : start + SENT_AT_ONCE]})
            made += answer["made"][what]
        return {"sent": len(sent), "made": made}


def _is_there(text: Any) -> bool:
    return isinstance(text, str) and bool(text.strip())
