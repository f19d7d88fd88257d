"""What pages about imports of any kind share."""

from typing import Any

from django.db import transaction
from django.http import HttpResponse
from django.shortcuts import redirect

from annotate.core.models import DataImport
from annotate.core.page import Request, show_refusal
from annotate.material import tasks
from annotate.material.commands.uploads import start_upload
from annotate.material.import_kinds import KINDS


def start_on_worker(
    request: Request, upload: DataImport, mapping: dict[str, Any], what: str = "", *, only_good: bool = False
) -> HttpResponse:
    """Have a worker import an upload of any kind, and show its page."""
    with show_refusal(request):
        start_upload(data_import=upload, mapping=mapping, what=what, only_good=only_good)
        # Robust: without a broker the file waits, and its page says that no worker has taken it.
        transaction.on_commit(lambda: tasks.run_import.delay(upload.pk), robust=True)
    return redirect(KINDS[upload.kind].page, upload.project.slug, upload.pk)
