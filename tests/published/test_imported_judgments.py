"""The replies of Shen and others 2023, imported as files: the published figures come out of the product.

The files are imported as they were released: their columns are recognised, judges are named by model and
method, and replies are read by the product's methods.
"""

from collections import Counter

import pytest

from judges.core.models import Judgment
from tests.factories import make_user
from tests.judges.importing import run
from tests.judges.news import folder, imported_news
from tests.published.certificate_figures import certificates_are_those_of_the_arrays
from tests.published.judges_page import compared_with_published
from tests.published.reliability_figures import (
    compare_estimates,
    compare_reliability,
    the_constant_judge_passes_where_no_judge_does,
)

pytestmark = [pytest.mark.once, pytest.mark.django_db]

MODEL = "gpt-3.5-turbo-0301"
LABELS = {"rts": "Reason, then score", "mcq": "Multiple choice", "h2h": "Head to head"}


def test_every_published_figure_comes_out_of_imported_replies():
    project = imported_news(make_user())
    for name, said in (("h2h", "1 judge, 8,800 judgments"), ("responses", "2 judges, 9,600 judgments")):
        code, out, _ = run("import_judgments", project.slug, folder() / f"{name}_{MODEL}.jsonl.gz")
        assert (code, out) == (0, f"Imported {said}.\n")
    assert Counter(Judgment.objects.values_list("status", "run")) == {("done", None): 18_400}
    judges = {method: f"{MODEL}, {label}" for method, label in LABELS.items()}
    assert compared_with_published(project, judges) == {"5": 4, "22": 88}
    del judges["h2h"]
    compare_reliability(project)
    compare_estimates(project, judges)
    the_constant_judge_passes_where_no_judge_does(project, judges)
    certificates_are_those_of_the_arrays(project, judges)
