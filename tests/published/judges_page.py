"""The page of judges and people as `compare_judges --json` prints it, held against published figures."""

import csv
import json
from collections import Counter
from io import StringIO

import pytest
from django.core.management import call_command

from tests.reference import reference_data

MEASURES = {"kendall": "kendall_tau_b"}


def compared_with_published(project, judges):
    """Hold every published figure of these judges against the page; return how many by table and method."""
    out = StringIO()
    call_command("compare_judges", project.slug, "--round", "1", "--json", stdout=out)
    page = JudgesPage(json.loads(out.getvalue()), judges)
    compared: Counter[tuple[str, bool]] = Counter()
    path = reference_data() / "published" / "news_summeval_chatgpt.csv"
    for row in csv.DictReader(path.read_text().splitlines()):
        pairs = row["method"] == "h2h"
        if pairs and "h2h" not in judges:
            continue
        measure = MEASURES.get(row["coefficient"], row["coefficient"])
        value = READ[row["quantity"]](page, row, measure)
        assert value == pytest.approx(float(row["recomputed"]), abs=5.1e-7), row
        compared[row["paper_table"], pairs] += 1
    scoring = {table: count for (table, pairs), count in compared.items() if not pairs}
    assert scoring == {
        **{"4": 24, "5": 16, "6": 24, "7": 24, "20": 48, "21": 48},
        **{"23": 144, "24": 144, "25": 96, "29": 144},
    }
    return {table: count for (table, pairs), count in compared.items() if pairs}


class JudgesPage:
    """Tables by key, and those of one judge by its name; `judges` has a judge's name by method."""

    def __init__(self, report, judges):
        self.judges = judges
        self.sections = {
            each["title"]: {self._ending(table["key"]): rows_of(table) for table in each["tables"]}
            for each in report["sections"]
        }

    def of_judge(self, key, row):
        """Return a row of a table of all judges."""
        return self._row("All judges", key, row, judge=self.judges[row["method"]])

    def of_system(self, row):
        """Return a system's row of a judge's own table; people's are the same beside every judge."""
        name = self.judges[row["method"] or "rts"]
        return self._row(name, "quality", row, system=row["system"])

    def indicator(self, row, measure):
        """Return R of a system, whose columns are the keys of dimensions."""
        key = {"spearman": "indicator", "pearson": "indicator-pearson"}.get(measure, "indicator-kendall")
        (found,) = (each for each in self.sections["All judges"][key] if each["system"] == row["system"])
        return found[row["dimension"]]

    def of_pair(self, row):
        """Return a pair's row of a judge that compares."""
        first, second = row["system"].split("-")
        return self._row(self.judges["h2h"], "pairs", row, first=first, second=second)

    def _row(self, section, key, row, **names):
        names["dimension"] = row["dimension"]
        (found,) = (
            each
            for each in self.sections[section][key]
            if all(each[name].lower() == value.lower() for name, value in names.items())
        )
        return found

    @staticmethod
    def _ending(key):
        return key.split("-", 2)[-1] if key.startswith("judge-") else key


def rows_of(table):
    """Return the rows of a table by the keys of its columns."""
    keys = [column["key"] for column in table["columns"]]
    return [dict(zip(keys, (cell.get("value") for cell in row), strict=True)) for row in table["rows"]]


def _preferences(page, row, _measure):
    if row["method"] == "h2h":
        return page.of_judge("comparing", row)["correct"]
    return page.of_judge("preferences", row)["correct" if row["subset"] == "full" else "neighbours_correct"]


READ = {
    "correlation_with_humans": lambda page, row, measure: page.of_judge("correlations", row)[
        f"{measure}_dataset"
    ],
    "correct_preferences": _preferences,
    "meta_correlation": lambda page, row, measure: page.of_judge("meta", row)[measure],
    "indicator_vs_human_correlation": lambda page, row, measure: page.of_judge("validity", row)[measure],
    "reliability_indicator": lambda page, row, measure: page.indicator(row, measure),
    "sd_of_human_scores": lambda page, row, _: page.of_system(row)["human_spread"],
    "mean_human_score": lambda page, row, _: page.of_system(row)["quality"],
    "mean_judge_score": lambda page, row, _: page.of_system(row)["judge_mean"],
    "per_system_correlation": lambda page, row, measure: page.of_system(row)[measure],
    "h2h_points_of_system_1": lambda page, row, _: page.of_pair(row)[
        "points" if row["coefficient"] == "llm" else "human_points"
    ],
}
