"""manage.py reliability PROJECT."""

from annotate.management.results import ResultsCommand


class Command(ResultsCommand):
    """Prints where a model agrees with itself (R) and with people (P), and whether R tells P."""

    page = "reliability"
