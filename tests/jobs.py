"""Jobs as the sweeper finds them and workers do them."""

from annotate.core.jobs import JOB_KINDS, due_jobs, run_job


def due_keys(kind: str) -> list[int]:
    """Return the keys of the jobs of a kind that need a message."""
    return list(due_jobs(JOB_KINDS[kind]).values_list("pk", flat=True))


def run_due(kind: str) -> None:
    """Do the jobs of a kind that need a message."""
    for pk in due_keys(kind):
        run_job(kind, pk)
