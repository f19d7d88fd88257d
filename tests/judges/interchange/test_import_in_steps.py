"""Uploads of judgments that SQLite takes step by step."""

from datetime import timedelta

import pytest
from django.core.files.base import ContentFile
from django.db import connection
from django.utils import timezone

from annotate.core import database
from annotate.core.configuration import ProjectHeldError
from annotate.core.jobs import run_job
from annotate.core.models import DataImport
from annotate.material.commands.uploads import receive_upload, start_upload
from judges.core.models import Judge, Judgment
from judges.interchange import commands as interchange_commands
from judges.interchange.commands import JUDGMENTS, add_recorded_judge
from judges.interchange.reading import guess_judgment_mapping
from judges.methods.scales import OwnScale
from tests.factories import make_project
from tests.judges.importing import jsonl, row

pytestmark = pytest.mark.django_db(transaction=True)


def test_judgments_that_a_dead_worker_began_are_finished_by_the_next(
    tmp_path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cast = make_project()
    path = jsonl(tmp_path, *(row(value=3, method="direct", sample=number) for number in range(120)))
    file = ContentFile(path.read_bytes(), path.name)
    upload = receive_upload(project=cast.project, by=cast.admin, file=file, name=path.name, kind=JUDGMENTS)
    mapping = guess_judgment_mapping(row(value=3, method="direct", sample=1), {})
    start_upload(data_import=upload, mapping=mapping.to_json())
    monkeypatch.setattr(interchange_commands, "JUDGMENTS_PER_STEP", 100)
    monkeypatch.setattr(database, "sleep", lambda _: None)
    monkeypatch.setattr(database, "TARGET_SECONDS", 0)
    with monkeypatch.context() as patch:
        create, calls = Judgment.objects.bulk_create, iter(range(1000))

        def create_or_die(judgments):
            if next(calls) == (1 if connection.vendor == "sqlite" else 0):
                raise KeyboardInterrupt
            return create(judgments)

        patch.setattr(Judgment.objects, "bulk_create", create_or_die)
        with pytest.raises(KeyboardInterrupt):
            run_job("import", upload.pk)
    assert 0 <= Judgment.objects.count() < 120
    if connection.vendor == "sqlite":
        assert Judgment.objects.exists()
        with pytest.raises(ProjectHeldError):
            add_recorded_judge(
                project=cast.project,
                name="other",
                model="m",
                method="direct",
                prompt="",
                pattern="",
                scale=OwnScale(1, 5),
            )
    DataImport.objects.update(touched_at=timezone.now() - timedelta(hours=1))
    run_job("import", upload.pk)
    upload.refresh_from_db()
    assert (upload.status, upload.written) == ("imported", ""), upload.message
    assert upload.report is not None
    assert upload.report["made"]["judgments"] == Judgment.objects.count() == 120
    assert Judge.objects.get().samples == 120
