"""`manage.py reproduce`, as tests call it."""

from io import StringIO

from django.core.management import call_command


def reproduce(*arguments):
    """Return exit code and output of the command."""
    out = StringIO()
    try:
        call_command("reproduce", *map(str, arguments), stdout=out, stderr=StringIO())
    except SystemExit as ended:
        return ended.code, out.getvalue()
    return 0, out.getvalue()
