"""A random sample of a project's documents, for runs that try something out."""

from annotate.agreement.streams import Stream
from annotate.core.models import Project
from judges.core.specification import Scope

MOST_DOCUMENTS = 10_000
"""What fits into one statement; a run over more is a run over all."""


def sampled_documents(project: Project, number: int | None) -> list[int] | None:
    """Return the keys of so many documents with items, drawn by the project's seed; None for all. One query.

    A larger sample holds a smaller one, so that a run that is extended pays only for what is new, and judges
    that are asked about as many documents are asked about the same.
    """
    if number is None:
        return None
    documents = project.documents.filter(items__isnull=False).distinct().order_by("key")
    drawn = list(documents.values_list("pk", flat=True))
    Stream(project.seed).of("sample of documents").shuffler().shuffle(drawn)
    return drawn[:number]


def documents_of(project: Project, scope: Scope) -> list[int] | None:
    """Return the keys of the documents that a scope chooses or draws; None for all. One query at the most."""
    return sampled_documents(project, scope.documents) if scope.chosen is None else list(scope.chosen)
