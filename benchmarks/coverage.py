"""Error rates of tests and coverage of intervals, on simulated ratings.

python benchmarks/coverage.py NAME [--simulations 1000]

NAME is a key of `REPORTS`. Its module says which shares are printed; docs/reference/statistics.md has all.
"""

import argparse
import sys
from importlib import import_module
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

# The module of each report, whose function is `report_NAME`.
REPORTS = {
    "biases": "benchmarks.coverage_judges",
    "by_system": "benchmarks.coverage_by_system",
    "calibration": "benchmarks.coverage_spread",
    "cascades": "benchmarks.coverage_certificates",
    "certificates": "benchmarks.coverage_certificates",
    "controls": "benchmarks.coverage_replacement",
    "corrected": "benchmarks.coverage_corrected",
    "crossed": "benchmarks.coverage_crossed",
    "drift": "benchmarks.coverage_stopping",
    "errors": "benchmarks.coverage_errors",
    "judges": "benchmarks.coverage_judges",
    "kappas": "benchmarks.coverage_skewed",
    "meta": "benchmarks.coverage_by_system",
    "one_more_rater": "benchmarks.coverage_replacement",
    "others": "benchmarks.coverage_others",
    "passages": "benchmarks.coverage_questions",
    "power": "benchmarks.coverage_power",
    "questions": "benchmarks.coverage_questions",
    "replacement": "benchmarks.coverage_replacement",
    "routing": "benchmarks.coverage_routing",
    "severity": "benchmarks.coverage_severity",
    "skewed": "benchmarks.coverage_skewed",
    "splits": "benchmarks.coverage_severity",
    "spread": "benchmarks.coverage_spread",
    "stopping": "benchmarks.coverage_stopping",
    "strengths": "benchmarks.coverage_questions",
    "unequal": "benchmarks.coverage_crossed",
}


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("name", choices=REPORTS)
    parser.add_argument("--simulations", type=int, default=1_000)
    options = parser.parse_args()
    report = getattr(import_module(REPORTS[options.name]), f"report_{options.name}")
    report(options.simulations)


if __name__ == "__main__":
    main()
