"""manage.py plan_study PROJECT."""

from annotate.management.results import ResultsCommand


class Command(ResultsCommand):
    """Prints the numbers of raters, documents and hours that a larger study needs, from a project's Round
    I.
    """

    page = "study"
