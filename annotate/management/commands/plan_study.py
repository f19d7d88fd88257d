"""manage.py plan_study PROJECT."""

from annotate.management.results import ResultsCommand


class Command(ResultsCommand):
    """Prints how many raters, documents and hours a larger study needs, from a project's Round I."""

    page = "study"
