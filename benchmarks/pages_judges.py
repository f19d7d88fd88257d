"""Makes three judges with an answer about each unit of the one project, for `benchmarks/pages.py --judges`.

Inside the database itself, on PostgreSQL only; nothing where there are judges already.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import django

django.setup()

from django.db import connection  # noqa: E402
from django.utils import timezone  # noqa: E402

from annotate.core.models import Project  # noqa: E402
from annotate.rating.commands.rounds import freeze_guideline  # noqa: E402
from judges.core.models import Judge, Judgment, Run  # noqa: E402
from tests.judges.factories import make_judge  # noqa: E402

REPLY = "Fine throughout, with small flaws."
EXPRESSIONS = {
    "dimension_id": "dimension.id",
    "item_id": "item.id",
    "value": "1 + (item.id * 7 + dimension.id * 3 + (random() * 2)::int + %(judge)s) %% 5",
    "messages_hash": "md5(item.id::text || dimension.id)",
    "answered_at": "now()",
}


def answer(run: Run, judge: Judge) -> None:
    """Make the answers of a judge."""
    made = Judgment(run=run, judge=judge, status="done", attempts=1, rationale=REPLY, reply=REPLY)
    made.input_tokens, made.output_tokens, made.seconds, made.finish_reason = 800, 60, 1.2, "stop"
    fields = [field for field in Judgment._meta.concrete_fields if not field.primary_key]
    values = {
        str(each.column): each.get_db_prep_save(getattr(made, each.attname), connection) for each in fields
    }
    selected = [EXPRESSIONS.get(name, f"%({name})s") for name in values]
    with connection.cursor() as cursor:
        cursor.execute(
            f"INSERT INTO judges_judgment ({', '.join(values)})"
            f" SELECT {', '.join(selected)} FROM annotate_item item, annotate_dimension dimension",
            values | {"judge": judge.pk},
        )


project = Project.objects.order_by("pk")[0]
if not Judge.objects.exists():
    now = timezone.now()
    run = Run.objects.create(
        project=project, guideline=freeze_guideline(project), status="finished", finished_at=now
    )
    for name, method in (("Reasoner", "rts"), ("Chooser", "mcq"), ("Another", "rts")):
        answer(run, make_judge(project, method, name=name))
    with connection.cursor() as cursor:
        cursor.execute("VACUUM ANALYZE judges_judgment")
print(f"{Judgment.objects.count():,} judgments")
