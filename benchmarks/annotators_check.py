"""Looks for acknowledged answers in the database for benchmarks/annotators.py: annotators_check.py SLUG FILE.

FILE holds what the annotators were told was saved. Prints how many of it are missing or stand differently,
how many ratings have a second state in their history, and how many have a second row of their unit.
"""

import json
import sys
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import django

django.setup()

from annotate.core.models import RatingChange  # noqa: E402

slug, file = sys.argv[1:]
acknowledged = [tuple(answer) for answer in json.loads(Path(file).read_text())]
history = RatingChange.objects.filter(rating__assignment__round__project__slug=slug)
rows = history.values_list(
    "rating__assignment__annotator", "rating__assignment__position", "rating__dimension__key", "value_after"
)
stored = Counter(rows)
units = Counter(answer[:3] for answer in stored.elements())
told = {
    "acknowledged": len(acknowledged),
    "missing": sum(answer not in stored for answer in acknowledged),
    "doubled": sum(count - 1 for count in units.values()),
    "unacknowledged": sum(stored.values()) - len(set(acknowledged)),
}
print(json.dumps(told))
