"""manage.py estimates PROJECT."""

from annotate.management.results import ResultsCommand


class Command(ResultsCommand):
    """Prints mean human scores by system from all judgments and the available ratings."""

    page = "estimates"
