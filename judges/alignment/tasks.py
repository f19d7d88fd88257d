"""What workers do to let judges learn: they take ids, and what matters is in the database."""

from celery import shared_task

from judges.alignment.commands import searches
from judges.alignment.drafting import run_drafting


@shared_task(name="judges.alignment.tasks.draft_proposals")
def draft_proposals(drafting: int) -> None:
    """Ask a model for proposals that wait."""
    run_drafting(drafting=drafting)


@shared_task(name="judges.alignment.tasks.advance_search")
def advance_search(search: int) -> None:
    """Go on with a search whose stage has ended."""
    searches.advance_search(search=search)
