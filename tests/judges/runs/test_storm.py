"""Everything breaks in the middle of a run by calls and one by batches, and both complete by themselves."""

from pathlib import Path

import pytest

from tests.judges.storm import HELD, storm


@pytest.mark.long
@pytest.mark.once  # the servers that break are the test's own
def test_whatever_breaks_each_judgment_is_there_once_and_little_is_repeated(tmp_path: Path) -> None:
    found = storm(tmp_path, documents=20, dimensions=("fluency",), rounds=1)
    assert found.blows >= 3, "the others found nothing left to ask"
    assert found.runs == ["finished", "finished"]
    assert sum(found.statuses.values()) == 480
    assert found.statuses.keys() <= {"done", "unreadable", "failed"}
    assert found.statuses["done"] >= 450
    assert (found.without_reason, found.held) == (0, 0)
    assert found.stats["different"] >= found.statuses["done"] - 5, (
        "texts that are alike are one to the server"
    )
    assert found.stats["repeated"] <= found.kills * HELD
    assert found.spent >= found.cost, "what was repeated is paid, too"
