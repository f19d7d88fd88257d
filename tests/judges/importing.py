"""Files of judgments for tests of importing them."""

import json
from io import StringIO

from django.core.management import call_command


def row(document="product-1", system="system-1", **fields):
    unit = {"judge": "GPT elsewhere", "method": "rts", "document": document, "system": system}
    return {**unit, "dimension": "fluency", **fields}


def jsonl(folder, *rows, name="judgments.jsonl"):
    path = folder / name
    path.write_text("".join(json.dumps(each) + "\n" for each in rows))
    return path


def run(*arguments):
    """Return exit code, standard output and error output of a command."""
    out, err = StringIO(), StringIO()
    try:
        call_command(*map(str, arguments), stdout=out, stderr=err)
    except SystemExit as ended:
        return int(str(ended.code)), out.getvalue(), err.getvalue()
    return 0, out.getvalue(), err.getvalue()
