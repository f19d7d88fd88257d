"""Tables 17 and 18 of Shen et al. (2023) from raw replies over HTTP, beside those of the imported release.

python benchmarks/wordings.py

Imports SummEval as released, lets three judges ask the replay server for the 14,400 replies to second
wordings and to prompts for stars, one call at a time, and computes the paper's figures from what was stored.
Beside them stand the figures of `manage.py reproduce llm-summeval`, which imports the same replies. Ends with
1 where any of them differs.
"""

import os
import sys
import tempfile
import time
from io import StringIO
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.export import own_database
from benchmarks.stopping import clean_up_when_stopped

QUANTITIES = ("correlation_with_humans", "correct_preferences", "meta_correlation")
METHODS = ("rts2", "mcq2", "stareval")
LONGEST = 3600.0


def compare() -> bool:
    """Compute the figures both ways, print which differ; return whether none does."""
    import django

    django.setup()

    from django.core.management import call_command

    from annotate.core.models import Project
    from judges.interchange.reproduction.llm_summeval import compute_figures
    from tests.factories import make_user
    from tests.judges.news import imported_news
    from tests.published.wordings_over_http import judge_over_http
    from tests.reference import reference_data

    call_command("migrate", verbosity=0)
    call_command("reproduce", "llm-summeval", data=reference_data(), stdout=StringIO())
    released = compute_figures(Project.objects.get())
    project, began = imported_news(make_user()), time.monotonic()
    states = [run.status for run in judge_over_http(project, calls_in_flight=1, seconds=LONGEST)]
    asked = compute_figures(project)
    wanted = [key for key in released if key[0] in QUANTITIES and key[2] in METHODS]
    different = [key for key in wanted if asked.get(key) != released[key]]
    print(f"asked in {time.monotonic() - began:.0f} s, runs {', '.join(states)}")
    print(f"{len(wanted)} figures of tables 17 and 18, {len(different)} differ")
    for key in different:
        print(*key, asked.get(key), released[key])
    return bool(wanted) and not different


def main() -> None:
    """Fail where a figure differs."""
    clean_up_when_stopped()
    with (
        tempfile.TemporaryDirectory(prefix="concord-wordings-") as name,
        own_database(Path(name)) as environment,
    ):
        os.environ.clear()
        os.environ.update(environment)
        os.environ["CONCORD_LOCAL_ENDPOINTS"] = "127.0.0.1:*"
        if not compare():
            sys.exit("Replies over HTTP give other figures than the release.")


if __name__ == "__main__":
    main()
