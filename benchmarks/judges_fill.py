"""Fills a new database with SummEval for benchmarks/judges.py: judges_fill.py DATA_FOLDER PROMPTS_FILE.

Writes the very questions that the judge asks, one a line, for the yardstick.
"""

import json
import sys
from io import StringIO
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import django

django.setup()

from django.core.management import call_command  # noqa: E402

from annotate.core.guidelines import current_guideline  # noqa: E402
from annotate.core.models import Item, User  # noqa: E402
from annotate.setup.commands import create_project  # noqa: E402
from annotate.setup.presets import TEMPLATES  # noqa: E402
from judges.core.models import Endpoint, Judge, PromptTemplate  # noqa: E402
from judges.methods import METHODS  # noqa: E402
from judges.methods.base import Subject  # noqa: E402
from judges.runs.queries.work import question  # noqa: E402

CALLS_IN_FLIGHT = 64
SAMPLES = 21  # of the judge with which 100,800 judgments are planned


def main() -> None:
    data, prompts = Path(sys.argv[1]), Path(sys.argv[2])
    call_command("migrate", verbosity=0)
    user = User.objects.create_user("admin@example.org")
    project = create_project(user=user, name="News", template=TEMPLATES["news-summaries"])
    for name in ("documents.jsonl.gz", "summaries.jsonl.gz"):
        call_command("import_items", project.slug, str(data / name), verbosity=0, stdout=StringIO())
    endpoint = Endpoint.objects.create(
        project=project,
        name="replay",
        base_url="http://127.0.0.1:1/v1",
        calls_in_flight=CALLS_IN_FLIGHT,
        input_price=1,
        output_price=2,
    )
    template = PromptTemplate.objects.create(
        project=project, method="rts", name="rts", version=1, text=METHODS["rts"].default_template
    )
    common = {"project": project, "endpoint": endpoint, "template": template, "method": "rts"}
    model = "gpt-3.5-turbo-0301"
    judge = Judge.objects.create(name="once", model=model, **common)
    Judge.objects.create(name="often", model=model, samples=SAMPLES, temperature=1, **common)
    dimensions = current_guideline(project).dimensions
    with prompts.open("w", encoding="utf-8") as file:
        for item in Item.objects.select_related("document").order_by("pk"):
            parts = tuple((part["label"], part["text"]) for part in item.document.parts)
            for dimension in dimensions:
                asked = question(judge, Subject(parts, item.text), [dimension])
                messages = [{"role": each.role, "content": each.content} for each in asked.messages]
                file.write(json.dumps({"messages": messages, "max_tokens": asked.max_tokens}) + "\n")


if __name__ == "__main__":
    main()
