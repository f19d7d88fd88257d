"""One run for benchmarks/judges.py: judges_run.py URL CALLS_IN_FLIGHT JUDGE DIMENSIONS SECONDS.

Plans it, lets it go and waits until workers have finished it, or for so many seconds. Judgments that were
made before are forgotten first. Prints what was answered, how long planning took and the whole, and the peak
memory of this process.
"""

import json
import resource
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import django

django.setup()

from django.utils import timezone  # noqa: E402

from annotate.core.models import Project  # noqa: E402
from judges.core.models import Endpoint, Judge, Judgment, Run  # noqa: E402
from judges.core.specification import Scope  # noqa: E402
from judges.runs.commands.runs import pause_run, plan_run, start_run  # noqa: E402

LOOK_EVERY = 0.1


def main() -> None:
    url, calls, name, dimensions, seconds = sys.argv[1:]
    Endpoint.objects.update(base_url=url, calls_in_flight=calls, resting_until=None)
    Judgment.objects.all().delete()
    project = Project.objects.get()
    keys = list(project.dimensions.order_by("position").values_list("key", flat=True))[: int(dimensions)]
    scope = Scope([Judge.objects.select_related("endpoint", "template").get(name=name)], keys)
    begun, begun_at = time.perf_counter(), timezone.now()
    run = plan_run(project=project, scope=scope, by=None)
    planned = time.perf_counter() - begun
    run = start_run(run=run)
    while run.status == Run.Status.RUNNING and time.perf_counter() < begun + float(seconds):
        time.sleep(LOOK_EVERY)
        run.refresh_from_db()
    if run.status == Run.Status.RUNNING:
        pause_run(run=run)
    elif run.status != Run.Status.FINISHED:
        sys.exit(f"The run was {run.get_status_display()}: {run.reason}")
    ended_at = run.finished_at or timezone.now()
    told = {
        "planned": Judgment.objects.filter(run=run).count(),
        "answered": Judgment.objects.filter(run=run, status=Judgment.Status.DONE).count(),
        "planning": planned,
        "seconds": (ended_at - begun_at).total_seconds(),
        "peak": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
    }
    print(json.dumps(told))


if __name__ == "__main__":
    main()
