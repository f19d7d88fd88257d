"""The command that prepares and starts everything on one host."""

import gc
import os
import socket
import sys
from io import StringIO
from pathlib import Path
from typing import Any

from django.conf import settings
from django.contrib.staticfiles.finders import get_finders
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.urls import reverse

from annotate.core.models import Project, User
from annotate.management.demonstration.load import NAME
from annotate.people.first_account import first_account_token
from concord.processes import run_together
from concord.schema.comparison import compare_database
from judges.management.demonstration.finished import is_wanted
from judges.management.demonstration.recorded_server import PORT as RECORDED_PORT
from judges.management.demonstration.recorded_server import serve_recorded_replies
from judges.management.demonstration.tasks import load_finished_demonstration

# Others come in through a proxy with HTTPS, and not to the demonstration, whose passwords everyone knows.
HOST = "127.0.0.1"
LOOPBACK = frozenset({"localhost", HOST, "[::1]"})
LOCAL_ENDPOINTS, ENDPOINTS_FILE = "CONCORD_LOCAL_ENDPOINTS", "CONCORD_LOCAL_ENDPOINTS_FILE"
WEB = "concord.web --workers 1 --blocking-threads 4 --log-level warning"
# Usual ports of model servers: llama.cpp, `make demo-model`, LM Studio, vLLM next to Concord, Ollama;
# and the demonstration's recorded replies.
MODEL_PORTS = (8080, 8090, 1234, 8001, 11434, RECORDED_PORT)
WORKER = "celery --quiet -A concord worker --pool threads --concurrency 4 --loglevel INFO"


class Command(BaseCommand):
    """Prepares database, static files and demonstration, then runs the web server and a worker."""

    help = "Prepares and starts Concord on this host: database, demonstration, web server and worker."

    def add_arguments(self, parser: CommandParser) -> None:
        """Take the port to answer at."""
        parser.add_argument("--port", type=int, default=8000)
        parser.add_argument("--empty", action="store_true", help="begin without the demonstration projects")

    def handle(self, *_args: Any, port: int, empty: bool, **_options: Any) -> None:
        """Prepare everything, say where it is, and run until stopped."""
        refuse_unusable_port(port)
        refuse_other_schema()
        call_command("migrate", interactive=False, verbosity=0)
        collect_static_files()
        address = f"http://{HOST}:{port}/"
        self.stdout.write(welcome(address, first_account(address) if empty else demonstrations()))
        self.stdout.flush()
        python = [sys.executable, "-m"]
        web = [*python, *WEB.split(), "--host", HOST, "--port", str(port)]
        worker = [*python, *WORKER.split()]
        environment = {**os.environ, **local_models(port)}
        if not empty:
            serve_recorded_replies()
        run_together({"web": web, "worker": worker}, environment=environment)
        gc.freeze()  # Python's last collections of garbage would take a second, and the process ends anyway


def refuse_unusable_port(port: int) -> None:
    """Say in one sentence why nothing can answer at this port."""
    try:
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind((HOST, port))
    except (OSError, OverflowError) as error:
        reason = getattr(error, "strerror", None) or "a port is a number from 1 to 65535"
        raise CommandError(f"Port {port} cannot be used ({reason}): try make run PORT=9000.") from error


def refuse_other_schema() -> None:
    """Stop if `migrate` cannot prepare this database."""
    if mismatch := compare_database().mismatch():
        raise CommandError(mismatch)


def local_models(own_port: int) -> dict[str, str]:
    """Return settings: endpoints may name this machine's usual ports of models, and those in a file.

    Nothing where others reach Concord: they must not get at servers that listen to this machine alone. No
    usual ports where the operator says which ones.
    """
    if settings.HTTPS or not LOOPBACK.issuperset(settings.ALLOWED_HOSTS):
        return {}
    file = os.environ.get(ENDPOINTS_FILE) or str(Path(settings.DATA_DIR, "local-endpoints"))
    if os.environ.get(LOCAL_ENDPOINTS):
        return {ENDPOINTS_FILE: file}
    ports = [port for port in MODEL_PORTS if port != own_port]
    places = ",".join(f"{host}:{port}" for host in (HOST, "localhost") for port in ports)
    return {LOCAL_ENDPOINTS: places, ENDPOINTS_FILE: file}


def collect_static_files() -> None:
    """Gather and compress the static files, unless none changed since the last time."""
    manifest = Path(settings.STATIC_ROOT, "staticfiles.json")
    gathered = manifest.stat().st_mtime if manifest.exists() else 0.0
    if any(Path(path).stat().st_mtime > gathered for path in static_files()):
        call_command("collectstatic", interactive=False, verbosity=0)


def static_files() -> list[str]:
    """Return the paths of the static files of every app."""
    return [storage.path(name) for finder in get_finders() for name, storage in finder.list([])]


def first_account(address: str) -> str:
    """Return where the first account is made, as long as there is none."""
    if User.objects.exists():
        return ""
    path = reverse("first_account", args=[first_account_token()])
    return f"Make the first account: {address}{path.lstrip('/')}"


def demonstrations() -> str:
    """Load the demonstration in progress, have a worker make the finished one, and say how to sign in."""
    said = demonstration()
    if said and is_wanted():
        load_finished_demonstration.delay()
        said += "\n\nA finished project with judges and results is being made and appears within a minute."
    return said


def demonstration() -> str:
    """Load the demonstration project, unless it was deleted, and return how to sign in to it."""
    names = set(Project.objects.values_list("name", flat=True))
    if names and NAME not in names:
        return ""
    said = StringIO()
    call_command("load_demonstration", stdout=said)
    return said.getvalue().strip()


def welcome(address: str, ways_in: str) -> str:
    """Return what a person reads when Concord has started."""
    lines = [f"Concord is at {address}", "", *ways_in.splitlines(), "", "Stop it with Ctrl-C."]
    return "\n" + "\n".join(f"  {line}".rstrip() for line in lines) + "\n"
