"""A run of judges."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from concord_client.models import RunDetail
    from concord_client.server import Server

OVER = ("paused", "stopped", "cancelled", "finished")


@dataclass
class Run:
    """A run with its last known progress.

    is_new: False if the requested judgments existed or were planned already; this is then the newest run.
    """

    server: "Server" = field(repr=False)
    slug: str
    detail: "RunDetail"
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
