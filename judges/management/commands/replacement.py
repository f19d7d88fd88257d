"""manage.py replacement PROJECT."""

from annotate.management.results import ResultsCommand


class Command(ResultsCommand):
    """Prints whether a judge may replace an annotator, by the alternative annotator test."""

    page = "replacement"
