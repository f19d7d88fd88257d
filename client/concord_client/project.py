"""A project: set up, filled, opened to raters, judged by runs, measured and exported."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from concord_client import models
from concord_client.operations import find_operation, write_json
from concord_client.server import RefusedError, Server
from concord_client.tables import ResultTable, make_frame, read_records, read_tables

if TYPE_CHECKING:
    import pandas as pd

    from concord_client.tables import Table

OVER = ("paused", "stopped", "cancelled", "finished")


@dataclass
class Run:
    """A run with its last known progress.

    is_new: False if the requested judgments existed or were planned already; this is then the newest run.
    """

    server: Server = field(repr=False)
    slug: str
    detail: models.RunDetail
    is_new: bool = True

    @property
    def id(self) -> int:
        return self.detail["run"]["id"]

    @property
    def status(self) -> str:
        """`planned`, `running`, `paused`, `stopped`, `cancelled` or `finished`, when it was last read."""
        return str(self.detail["run"]["status"])

    def refresh(self) -> "Run":
        """Read its progress."""
        return self._call("getRun")

    def wait(self, seconds: float = 3600) -> "Run":
        """Return the run when it is over or paused. Raises TooSlowError after this many seconds."""
        return self.server.wait(self.refresh, lambda run: run.status in OVER, str, seconds)

    def start(self) -> "Run":
        """Start it, or resume it."""
        return self._take_step("start")

    def pause(self) -> "Run":
        """Start no further calls."""
        return self._take_step("pause")

    def cancel(self) -> "Run":
        """End it for good; its judgments stay."""
        return self._take_step("cancel")

    def retry(self) -> "Run":
        """Plan the failed judgments again."""
        return self._take_step("retry")

    def change_budget(self, budget: float | None) -> "Run":
        """Give it another budget in the endpoint's currency, or none."""
        return self._call("putRunBudget", budget=budget)

    def __str__(self) -> str:
        found = self.detail
        sentence = f"Run {self.id} is {self.status}: {found['done']} of {found['total']} judgments"
        problems = [f"{found[name]} {name}" for name in ("unreadable", "failed") if found[name]]
        left = found["seconds_left"]
        rest = [f"{left:.0f} s left"] if left and self.status == "running" else []
        reason = str(found["run"]["reason"])
        return ", ".join([sentence, *problems, *rest]) + (f". {reason}" if reason else ".")

    def _take_step(self, step: str) -> "Run":
        return self._call("postRunStep", step=step)

    def _call(self, operation: str, **parameters: Any) -> "Run":
        self.detail = self.server.call(operation, slug=self.slug, id=self.id, **parameters)
        return self


SENT_AT_ONCE = 2000  # rows
LARGEST = 4_000_000  # bytes of one request; the server takes 5 MiB
WAIT = 600.0  # seconds for a worker
SHIPPED = "shipped:"


class Project:
    """A project of a server, by the name in its URL, as the token's person sees it.

    A method that is called again with the same values changes nothing and returns the same. Methods take
    judges, endpoints, prompts and calibrations by name.

    >>> project = Server("https://concord.example", token).open_project("reviews-of-boots")
    >>> project.read_ratings().groupby(["system", "dimension"])["value"].mean()
    """

    def __init__(self, server: Server, slug: str) -> None:
        self.server = server
        self.slug = slug

    def __repr__(self) -> str:
        return f"Project({self.slug!r})"

    def call(self, operation: str, /, **parameters: Any) -> Any:
        """Call any operation of the API about this project by its id; see `Server.call`."""
        return self.server.call(operation, slug=self.slug, **parameters)

    def list_rows(self, operation: str, /, **parameters: Any) -> list[dict[str, Any]]:
        """Return all rows of an operation about this project that lists."""
        return list(self.server.list_rows(operation, slug=self.slug, **parameters))

    # Settings and dimensions.

    def read_settings(self) -> models.ProjectRow:
        """Return its name, settings and state."""
        return cast("models.ProjectRow", self.call("getProject"))

    def change_settings(self, **settings: Any) -> models.ProjectRow:
        """Change settings such as `raters_per_item` and `guidelines` that differ."""
        standing = self.read_settings()
        # The server rejects frozen settings once a round is open, so equal values are not sent.
        changed = {name: value for name, value in settings.items() if not _is_same(standing, {name: value})}
        return cast("models.ProjectRow", self.call("patchProject", **changed)) if changed else standing

    def add_dimension(self, name: str, definition: str, **settings: Any) -> models.DimensionRow:
        """Add a dimension, or change the one of this name if it differs.

        settings: as `scale_minimum` and `scale_maximum` (defaults: 1 and 5), `measurement_level`,
        `guidelines`, `points`. Questions of other kinds have `kind` and `options`; with `shown_if` one
        depends on the answers to an earlier question.
        """
        sent = {"name": name, "definition": definition, **settings}
        rows = self.call("getDimensions")
        return cast("models.DimensionRow", self._settle("Dimension", rows, sent, by="key"))

    def read_dimensions(self) -> "pd.DataFrame":
        """Return a row for each dimension, in order."""
        return make_frame(self.call("getDimensions"), models.DimensionRow)

    # Material.

    def import_documents(self, documents: "Table") -> dict[str, int]:
        """Add documents; return the numbers of sent and of new ones.

        documents: a frame, a file or rows. `document` is the key, `title` the title if there is one; every
        other column is a part, whose heading is the column's name.
        """
        return self._import("postDocuments", "documents", map(_read_document, read_records(documents)))

    def import_items(self, items: "Table") -> dict[str, int]:
        """Add items of existing documents; return the numbers of sent and of new ones.

        items: a frame, a file or rows with the columns `document`, `system`, `text`.
        """
        rows = _pick(items, ("document", "system", "text"), texts=3)
        return self._import("postItems", "items", rows)

    def draw_comparisons(self, size: int = 2, per_document: int | None = None) -> int:
        """Sample comparisons of `size` outputs before Round I opens; return the number of new ones."""
        answer = self.call("postComparisons", size=size, per_document=per_document)
        return int(answer["made"])

    def import_parts(self, parts: "Table") -> int:
        """Give outputs parts for separate judgments; return the number of outputs with new parts.

        parts: rows with `document`, `system` and `part`, a row for each part in order.
        """
        texts: dict[tuple[str, str], list[str]] = {}
        for row in _pick(parts, ("document", "system", "part"), texts=3):
            texts.setdefault((row["document"], row["system"]), []).append(row["part"])
        outputs = [{"document": key[0], "system": key[1], "parts": found} for key, found in texts.items()]
        return sum(self.call("postParts", outputs=piece)["outputs"] for piece in _split(outputs))

    def import_ratings(self, ratings: "Table") -> dict[str, int]:
        """Add recorded ratings as Round I, which opens for them.

        ratings: a frame, a file or rows with the columns `document`, `system`, `rater`, `dimension`, `value`.
        """
        rows = _pick(ratings, ("document", "system", "rater", "dimension", "value"), texts=4)
        return self._import("postRecordedRatings", "ratings", rows)

    def import_judgments(self, judgments: "Table") -> dict[str, int]:
        """Add recorded judgments; creates judges by name.

        judgments: rows with `method`, `document`, `system`, `dimension`, and `value` or `reply`; further
        columns, such as `judge` and `cost`, follow the operation `postJudgments`.
        """
        return self._import("postJudgments", "judgments", read_records(judgments))

    def read_documents(self) -> "pd.DataFrame":
        """Return a row for each document, with its parts."""
        return make_frame(self.list_rows("getDocuments"), models.DocumentRow)

    def read_items(self) -> "pd.DataFrame":
        """Return a row for each item: document, system, `text`."""
        return make_frame(self.list_rows("getItems"), models.ItemRow)

    # People and rounds.

    def invite(
        self, *emails: str, role: models.RoleEnum = "annotator", note: str = "", send: bool = False
    ) -> dict[str, str]:
        """Invite people; return each one's link, empty for members.

        note: a description of the work, for the link's page. send: True if a worker mails new links.
        """
        self.call("postSeveralInvitations", addresses=emails, role=role, note=note, send=send)
        pending = self.call("getInvitations")
        links = {each["invitation"]["email"].casefold(): each["link"] for each in pending}
        return {email: links.get(email.casefold(), "") for email in emails}

    def read_people(self) -> "pd.DataFrame":
        """Return a row for each member, for admins."""
        return make_frame(self.list_rows("getPeople"), models.MembershipRow)

    def choose_plan(self, kind: models.PlanInputKindEnum, **settings: Any) -> models.PlanRow:
        """Choose the plan that assigns items when Round I opens."""
        sent = {"kind": kind, **settings}
        standing = self.call("getPlan")
        return cast("models.PlanRow", standing if _is_same(standing, sent) else self.call("putPlan", **sent))

    def open_round(self, number: int) -> models.RoundRow:
        """Open Round I or II; an open one is returned."""
        return cast("models.RoundRow", self.call("postRoundStep", step=f"open-{number}"))

    def close_round(self, number: int) -> models.RoundRow:
        """Close Round I or II; a closed one is returned."""
        return cast("models.RoundRow", self.call("postRoundStep", step=f"close-{number}"))

    def set_deadline(self, number: int, day: date | None) -> models.RoundRow:
        """Set or remove the deadline of a round."""
        return cast("models.RoundRow", self.call("putRoundDeadline", number=number, deadline=day))

    def read_ratings(self, *, round: int | None = None, dimension: str | None = None) -> "pd.DataFrame":
        """Return a row for each rating, of both rounds unless `round` is set."""
        return make_frame(self.list_rows("getRatings", round=round, dimension=dimension), models.RatingRow)

    # Judges and runs.

    def add_endpoint(self, name: str, url: str, *, key: str = "", **settings: Any) -> models.EndpointRow:
        """Add an endpoint with an OpenAI-compatible API, or change the one of this name if it differs.

        settings: as `input_price` and `output_price` of a million tokens, and `calls_in_flight`. The key is
        stored encrypted and never returned.
        """
        sent = {"name": name, "base_url": url, **({"key": key} if key else {}), **settings}
        rows = self.list_rows("getEndpoints")
        return cast("models.EndpointRow", self._settle("Endpoint", rows, sent))

    def test_endpoint(self, name: str, **asked: str) -> models.TrialRow:
        """Call an endpoint once; `problem` is the reason for a missing reply. asked: `model`, `message`."""
        return cast(
            "models.TrialRow", self.call("postTrialOfEndpoint", id=self._id("endpoint", name), **asked)
        )

    def add_prompt(self, name: str, method: str, text: str, **settings: Any) -> models.PromptRow:
        """Add a prompt of a method, or a new version if it differs; return the newest version."""
        sent = {"name": name, "method": method, "text": text, **settings}
        rows = self.list_rows("getPrompts")[::-1]  # the newest version of a name comes first
        return cast("models.PromptRow", self._settle("Prompt", rows, sent))

    def add_judge(
        self, name: str, model: str, *, prompt: str = "rts", endpoint: str | None = None, **settings: Any
    ) -> models.JudgeRow:
        """Add a judge, or change the one of this name. The server rejects a change of a judge with judgments.

        prompt: the name of a prompt of the project, or the key of a method with a prompt of Concord.
        endpoint: optional if there is only one. settings: such as `temperature`, `samples`, `max_tokens`.
        """
        template = self._find("Prompts", prompt)
        sent = {"name": name, "model": model, **settings}
        # A prompt of the project hides a method of Concord with the same name.
        sent["template"] = str(template["id"]) if template else f"{SHIPPED}{prompt}"
        if endpoint is not None:
            sent["endpoint"] = self._id("endpoint", endpoint)
        return cast("models.JudgeRow", self._settle("Judge", self.list_rows("getJudges"), sent))

    def read_judges(self) -> "pd.DataFrame":
        """Return a row for each judge."""
        return make_frame(self.list_rows("getJudges"), models.JudgeRow)

    def plan_run(
        self, judges: str | Sequence[str] | None = None, dimensions: Sequence[str] | None = None, **scope: Any
    ) -> models.PlanShape:
        """Return the calls and cost of a run without planning it. Parameters: see `start_run`."""
        scope = self._scope(judges, dimensions, scope)
        return cast("models.PlanShape", self.call("postRunPreview", **scope))

    def start_run(
        self, judges: str | Sequence[str] | None = None, dimensions: Sequence[str] | None = None, **scope: Any
    ) -> Run:
        """Start the judgments that judges have not made yet; `run.wait()` returns when they are done.

        judges: names; those without judgments unless given. dimensions: keys, all unless given. scope: as
        `budget` in the endpoint's currency, `documents` for the size of a random sample, `via="batch"`.
        """
        scope = self._scope(judges, dimensions, scope)
        plan = self.call("postRunPreview", **scope)
        # Without calls left, an earlier run has made all: a repeated start returns the newest one.
        runs = self.list_rows("getRuns") if plan["judgments"] and not plan["calls"] else []
        if not runs:
            return self._run(self.call("postRuns", **scope)).start()
        newest = self._run(self.call("getRun", id=runs[-1]["id"]))
        newest.is_new = False
        # A paused or stopped run may hold calls without a worker, so it continues.
        return newest if newest.status in ("running", "cancelled", "finished") else newest.start()

    def read_runs(self) -> "pd.DataFrame":
        """Return a row for each run."""
        return make_frame(self.list_rows("getRuns"), models.RunRow)

    def read_judgments(self, **chosen: Any) -> "pd.DataFrame":
        """Return a row for each judgment; chosen: `judge`, `dimension`, `status`, `run`, `problem`."""
        return make_frame(self.list_rows("getJudgments", **chosen), models.JudgmentRow)

    # Results.

    def list_results(self) -> list[models.PageRow]:
        """Return the pages of results by name, each with its options."""
        return cast("list[models.PageRow]", self.call("getResults"))

    def read_result(self, name: str, *, seconds: float = WAIT, **chosen: Any) -> dict[str, ResultTable]:
        """Return the tables of a page of results by their keys, as `agreement`, `systems` or `judges`.

        Gives a worker this many seconds if the data have changed since the last computation.
        chosen: options of the page, such as `drawn="documents"`. Raises RefusedError and TooSlowError.
        """

        def look() -> models.ResultShape:
            found = self.call("getResult", name=name, **chosen)
            # A problem of earlier data does not matter once current values exist.
            if found["problem"] and not found["current"]:
                raise RefusedError(found["problem"], "not_computed")
            return cast("models.ResultShape", found)

        found = self.server.wait(look, lambda f: f["current"], lambda _: f"Computing {name}.", seconds)
        return read_tables(found)

    def read_agreement(self, *, seconds: float = WAIT, **chosen: Any) -> "pd.DataFrame":
        """Return the coefficients of both rounds, a row for each dimension."""
        return self.read_result("agreement", seconds=seconds, **chosen)["rounds"].frame

    def save_table(self, result: str, key: str, path: str | Path, **chosen: Any) -> Path:
        """Write a table of a result to a file (.csv, .json, .md, .tex), or its plot (.svg, .pdf, .png)."""
        # The server has no file until the result is computed, so this call checks until then.
        self.read_result(result, **chosen)
        ending = Path(path).suffix.removeprefix(".")
        parameters = {"slug": self.slug, "name": result, "key": key, "ending": ending}
        return self.server.download("getResultFile", path, **parameters, **chosen)

    # Certificates and routing.

    def draw_sample(self, name: str, **settings: Any) -> models.CalibrationDetail:
        """Create the random sample that tests a judge, and assign it; an existing one is returned.

        settings: as `judge` and `other` (names), `dimensions`, `risk`, `size`, `raters`.
        """
        found = self._find("Certificates", name)
        if found:
            return cast("models.CalibrationDetail", self.call("getCalibration", id=found["id"]))
        sent = self._replace_names_by_ids(settings, judge="judge", other="judge")
        return cast("models.CalibrationDetail", self.call("postCertificates", name=name, **sent))

    def certify(self, name: str) -> models.CalibrationDetail:
        """Compute the certificates of a sample from its ratings, once; computed ones are returned."""
        calibration = self._id("certificate", name)
        return cast(
            "models.CalibrationDetail", self.call("postCalibrationStep", id=calibration, step="compute")
        )

    def plan_routing(
        self, name: str, *, certificate: str | None = None, **settings: Any
    ) -> models.PolicyDetail:
        """Make a policy, or return the one of this name, with the units that it would send to people.

        Nothing is routed. certificate: the calibration that it follows; without, it goes by R. settings: as
        `rts` and `mcq` (names), `threshold` or `budget`, `audit_share`, `raters`.
        """
        if found := self._find("Policies", name):
            return cast("models.PolicyDetail", self.call("getPolicy", id=found["id"]))
        sent = {"name": name, **self._replace_names_by_ids(settings, rts="judge", mcq="judge")}
        if certificate is None:
            return cast("models.PolicyDetail", self.call("postPolicies", **sent))
        calibration = self._id("certificate", certificate)
        return cast("models.PolicyDetail", self.call("postPolicyOfCalibration", id=calibration, **sent))

    def route(self, plan: models.PolicyDetail) -> models.PolicyDetail:
        """Send to people only the units in the plan; a routed policy is returned."""
        policy = plan["policy"]["id"]
        routed = self.call("postPolicyStep", id=policy, step="route", shown=plan["digest"])
        return cast("models.PolicyDetail", routed)

    # Exports.

    def export(
        self, path: str | Path, format: models.FormatEnum = "jsonl", *, seconds: float = WAIT, **choice: Any
    ) -> Path:
        """Write a snapshot of the project to a file. Pauses until a worker finishes, see `read_result`.

        choice: `parts` that go with it (`comments`, `threads`, `replies`, `sources`), `licence`, `authors`.
        The server keeps one of equal snapshots.
        """
        made = self.call("postExports", format=format, **choice)
        found = self.server.wait(
            lambda: self.call("getExport", id=made["id"]),
            lambda row: row["status"] in ("ready", "stopped"),
            lambda row: f"Export {row['id']} is {row['status']}.",
            seconds,
        )
        if found["status"] == "stopped":
            raise RefusedError(f"The export stopped: {found['message']}", "export_stopped")
        self.server.download("getExportFile", path, slug=self.slug, id=made["id"])
        same = ("format", "left_out", "licence", "content_hash", "size", "concord_version")
        # The file is here, so of two equal exports only the earlier one stays on the server.
        for row in self.list_rows("getExports"):
            if row["id"] < made["id"] and all(row[name] == found[name] for name in same):
                self.call("deleteExport", id=made["id"])
                break
        return Path(path)

    def _settle(
        self, what: str, rows: Iterable[Mapping[str, Any]], sent: Mapping[str, Any], *, by: str = "id"
    ) -> Any:
        """Create a row, or change the row of this name. Fields that are not sent keep their values."""
        row = next((each for each in rows if each["name"] == sent["name"]), None)
        if row is None:
            return self.call(f"post{what}s", **sent)
        if _is_same(row, sent):
            return row
        change = find_operation(f"put{what}")
        # The request replaces the whole row, so fields that are not sent come from the present one.
        kept = {name: row[name] for name in change.fields if row.get(name) is not None}
        body = {**kept, **{name: value for name, value in sent.items() if name in change.fields}}
        # The API returns the id of a prompt as a number, and takes it as a string.
        if "template" in body:
            body["template"] = str(body["template"])
        return self.call(change.id, **{by: row[by]}, **body)

    def _find(self, what: str, name: str) -> dict[str, Any] | None:
        """Return the newest row of a name."""
        rows = [row for row in self.list_rows(f"get{what}") if row["name"] == name]
        return rows[-1] if rows else None

    def _id(self, what: str, name: str | int) -> int:
        """Return the id of a row by its name. Raises RefusedError, which lists the names."""
        if isinstance(name, int):
            return name
        rows = self.list_rows(f"get{what.capitalize()}s")
        keys = {row["name"]: row["id"] for row in rows}
        if name not in keys:
            message = f"The project has no {what} {name!r}; it has {', '.join(keys) or 'none'}."
            raise RefusedError(message, "not_found")
        return int(keys[name])

    def _replace_names_by_ids(self, settings: Mapping[str, Any], **kinds: str) -> dict[str, Any]:
        """Return settings with names replaced by ids."""
        return {
            name: self._id(kinds[name], value) if name in kinds and value is not None else value
            for name, value in settings.items()
        }

    def _scope(
        self, judges: str | Sequence[str] | None, dimensions: Sequence[str] | None, scope: Mapping[str, Any]
    ) -> dict[str, Any]:
        given = {name: value for name, value in scope.items() if value is not None}
        if judges is not None:
            names = [judges] if isinstance(judges, str) else judges
            given["judges"] = [self._id("judge", name) for name in names]
        if dimensions is not None:
            given["dimensions"] = list(dimensions)
        return given

    def _run(self, detail: models.RunDetail) -> Run:
        return Run(self.server, self.slug, detail)

    def _import(self, operation: str, what: str, rows: Iterable[Mapping[str, Any]]) -> dict[str, int]:
        sent = made = 0
        for piece in _split(rows):
            answer = self.call(operation, **{what: piece})
            sent, made = sent + len(piece), made + answer["made"][what]
            # A single short request needs no report of progress.
            if sent > len(piece) or len(piece) >= SENT_AT_ONCE:
                self.server.tell(f"Imported {sent:,} {what}.")
        return {"sent": sent, "made": made}


def _split(rows: Iterable[Mapping[str, Any]]) -> Iterator[list[Mapping[str, Any]]]:
    """Yield the rows in pieces that a request can hold."""
    piece: list[Mapping[str, Any]] = []
    size = 0
    for row in rows:
        # The size as it is sent, because the server limits the bytes of a request.
        length = len(write_json(row))
        if piece and (len(piece) == SENT_AT_ONCE or size + length > LARGEST):
            yield piece
            piece, size = [], 0
        piece.append(row)
        size += length
    if piece:
        yield piece


def _pick(table: "Table", columns: Sequence[str], *, texts: int) -> Iterator[dict[str, Any]]:
    """Yield these columns of each row, the first ones as strings even if pandas parsed them as numbers."""
    for row in read_records(table):
        yield {
            name: str(row[name]) if number < texts else row[name]
            for number, name in enumerate(columns)
            if name in row
        }


def _read_document(row: Mapping[str, Any]) -> dict[str, Any]:
    labels = [name for name in row if name not in ("document", "title") and str(row[name]).strip()]
    named = {name: str(row[name]) for name in ("document", "title") if name in row}
    return {**named, "parts": [{"label": name, "text": str(row[name])} for name in labels]}


def _is_same(row: Mapping[str, Any], sent: Mapping[str, Any]) -> bool:
    """Return True if a row has these values; amounts are compared as numbers."""
    return all(name in row and _is_equal(row[name], value) for name, value in sent.items())


def _is_equal(found: Any, sent: Any) -> bool:
    if isinstance(found, Mapping) and isinstance(sent, Mapping):
        return _is_same(found, sent)
    if isinstance(found, list) and isinstance(sent, list | tuple):
        return len(found) == len(sent) and all(map(_is_equal, found, sent))
    # The API returns amounts of money as strings, which keep all digits.
    if isinstance(found, str) and isinstance(sent, int | float):
        try:
            return float(found) == sent
        except ValueError:
            return False
    return bool(found == sent)
