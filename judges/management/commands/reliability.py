"""manage.py reliability PROJECT."""

from annotate.management.results import ResultsCommand


class Command(ResultsCommand):
    """Prints a model's agreement with itself (R) and with people (P), and the relation of R to P."""

    page = "reliability"
