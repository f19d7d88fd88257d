"""Steps shared by a document: new judgments reuse earlier answers."""

import json
from typing import Any

from judges.core.models import DocumentUnits, Judge, Judgment, Run
from judges.methods.content_units import METHOD as CONTENT_UNITS
from judges.runs.queries.shared import Key, document_key

NOT_PAID = {"input_tokens": 0, "output_tokens": 0, "calls": 0}


def adopt_first_steps(run: Run, judge: Judge) -> None:
    """Set the first step of new judgments from their document, if known.

    The sources are the project's content units, if the method uses them, and the judge's earlier answers
    about the document. Only the paid call counts its tokens. Three queries and one for each document, none
    for methods without such a step.
    """
    if not judge.asks_of_documents:
        return
    known = _first_answers(judge)
    new = Judgment.objects.filter(run=run, judge=judge, status=Judgment.Status.PLANNED, steps_done=0)
    of_project = _units(run) if judge.method == CONTENT_UNITS.key else {}
    for document, dimension in new.order_by().values_list("item__document", "dimension").distinct():
        step = of_project.get(document) or known.get(document_key(judge, document, dimension))
        if step is not None:
            new.filter(item__document=document, dimension=dimension).update(steps=[step], steps_done=1)


def _first_answers(judge: Judge) -> dict[Key, dict[str, Any]]:
    """Return the first step of each document that the judge answered, the latest one."""
    rows = Judgment.objects.filter(judge=judge, steps_done__gte=1).order_by("pk")
    columns = rows.values_list("item__document", "dimension", "steps")
    return {
        document_key(judge, document, dimension): {**steps[0], **NOT_PAID}
        for document, dimension, steps in columns.iterator(1000)
        if steps[0]["reply"]  # not removed by retention
    }


def _units(run: Run) -> dict[int, dict[str, Any]]:
    found = DocumentUnits.objects.filter(document__project=run.project_id)
    return {
        document: {"name": "units of the project", "reply": json.dumps(units, ensure_ascii=False), **NOT_PAID}
        for document, units in found.values_list("document", "units")
    }
