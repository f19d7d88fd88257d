"""Everything breaks again and again while 2,400 judgments are collected by calls and 2,400 by batches.

python benchmarks/storm.py [--rounds 5] [--documents 50]

The long form of tests/judges/runs/test_storm.py: a PostgreSQL, a RabbitMQ that ends slow consumers, a worker
and the replay server on a bad day are started. In each round the worker is killed, all connections of the
database and of the broker are closed, and both are restarted. Ends with 1 where a judgment is missing,
stranded or without a reason, or where more was repeated than kills times what a worker may hold.
"""

import argparse
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.stopping import clean_up_when_stopped
from tests.judges.storm import HELD, storm

DIMENSIONS = ("coherence", "consistency", "fluency", "relevance")
SYSTEMS = 12


def main() -> None:
    """Let it break, print what is there afterwards, and fail where that is not all."""
    clean_up_when_stopped()
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--documents", type=int, default=50)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="concord-storm-") as name:
        found = storm(Path(name), documents=asked.documents, dimensions=DIMENSIONS, rounds=asked.rounds)
    planned = 2 * asked.documents * SYSTEMS * len(DIMENSIONS)
    print(f"{planned:,} judgments: {found.statuses}; runs: {', '.join(found.runs)}; {found.blows} blows")
    print(
        f"{found.stats['repeated']} replies repeated after {found.kills} kills, {found.kills * HELD} at most"
    )
    print(f"spent {found.spent:.4f}, of which stored judgments cost {found.cost:.4f}")
    is_whole = sum(found.statuses.values()) == planned and set(found.runs) == {"finished"}
    nothing_stranded = not (found.held or found.without_reason)
    sys.exit(not (is_whole and nothing_stranded and found.stats["repeated"] <= found.kills * HELD))


if __name__ == "__main__":
    main()
