"""manage.py agreement PROJECT."""

from annotate.management.results import ResultsCommand


class Command(ResultsCommand):
    """Prints the agreement of a project's raters, per round and dimension."""

    page = "agreement"
    brief = ("rounds",)
