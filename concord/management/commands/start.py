"""The command that prepares and starts everything on one host."""

import json
import os
import sys
from argparse import SUPPRESS
from io import StringIO
from pathlib import Path
from typing import Any

from django.conf import settings
from django.contrib.staticfiles.finders import get_finders
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import connections
from django.urls import reverse

from annotate.core.models import Project, User
from annotate.core.version import VERSION
from annotate.management.demonstration import NAME
from annotate.people.commands import first_account_token
from concord.processes import HOST, TEMPORARY, Plan, become_supervisor, find_port
from concord.schema import compare_database
from judges.management.demonstration.finished import is_wanted
from judges.management.demonstration.recorded_server import PORT as RECORDED_PORT
from judges.management.demonstration.tasks import load_finished_demonstration

LOOPBACK = frozenset({"localhost", HOST, "::1", "[::1]"})
LOCAL_ENDPOINTS, ENDPOINTS_FILE = "CONCORD_LOCAL_ENDPOINTS", "CONCORD_LOCAL_ENDPOINTS_FILE"
WEB = "concord.web --workers 1 --blocking-threads 4 --log-level warning"
# Usual ports of model servers: llama.cpp, `make demo-model`, LM Studio, vLLM next to Concord, Ollama;
# and the demonstration's recorded replies.
MODEL_PORTS = (8080, 8090, 1234, 8001, 11434, RECORDED_PORT)
RECORDED_REPLIES = "judges.management.demonstration.serving"
OTHER_PORT = 9000
WORKER = "celery --quiet -A concord worker --pool threads --concurrency 4 --loglevel INFO"


class Command(BaseCommand):
    help = "Prepares and starts Concord on this host: database, demonstration, web server and worker."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--port", type=int, default=8000, help="of the web server")
        parser.add_argument("--empty", action="store_true", help="start without the demonstration projects")
        parser.add_argument("--host", default=HOST, help="the address to answer at, behind a proxy")
        parser.add_argument("--open", action="store_true", help="open the start page in a browser")
        parser.add_argument("--temporary", action="store_true", help=SUPPRESS)  # of `concord demo`

    def handle(self, *_args: Any, host: str, port: int, empty: bool, **options: Any) -> None:
        # Checked here, because the supervisor would restart a web server without a port for ever.
        refuse_unusable_port(port, host)
        if options["temporary"] and not settings.DATA_DIR.name.startswith(TEMPORARY):
            raise CommandError("Only `concord demo` removes its folder of data at the end.")
        # `migrate` cannot prepare such a database.
        if mismatch := compare_database().mismatch():
            raise CommandError(mismatch)
        call_command("migrate", interactive=False, verbosity=0)
        collect_static_files()
        address = f"http://{HOST}:{port}/"
        self.stdout.write(welcome(address, first_account(address) if empty else demonstrations()))
        # Another program replaces this process below, and unwritten output would be lost.
        self.stdout.flush()
        commands = {
            "web": ["-m", *WEB.split(), "--host", host, "--port", str(port)],
            "worker": ["-m", *WORKER.split()],
        }
        if not empty:
            commands["worker"] += ["--include", RECORDED_REPLIES]
        plan = Plan(
            {name: [sys.executable, *command] for name, command in commands.items()},
            state_file=state_file(host),
            state=json.dumps({"address": address, "data": str(settings.DATA_DIR), "pid": os.getpid()}),
            opened=address if options["open"] else None,
            temporary=str(settings.DATA_DIR) if options["temporary"] else None,
        )
        # The supervisor replaces this process, in which nothing could close them later.
        connections.close_all()
        become_supervisor(plan, {**os.environ, **local_models(port, host)})


def refuse_unusable_port(port: int, host: str) -> None:
    """Stop with the reason if the web server cannot use this port."""
    try:
        find_port(port, host)
    except (OSError, OverflowError) as error:
        reason = getattr(error, "strerror", None) or "a port is a number from 1 to 65535"
        raise CommandError(f"Port {port} cannot be used ({reason}): try --port {OTHER_PORT}.") from error


def state_file(host: str) -> str | None:
    """Return the file from which the command `concord` reads the location of this server; see
    concord_client.server.

    None if others use the installation, too: a reader of its data folder may do everything.
    """
    database = Path(str(settings.DATABASES["default"]["NAME"]))
    if is_shared(host) or database.parent != settings.DATA_DIR:
        return None
    folder = os.environ.get("XDG_STATE_HOME") or "~/.local/state"
    return str(Path(folder).expanduser() / "concord" / "server.json")


def is_shared(host: str) -> bool:
    """Return True if other machines reach Concord. ALLOWED_HOSTS does not stop a forged `Host: localhost`."""
    return settings.HTTPS or not LOOPBACK.issuperset([host, *settings.ALLOWED_HOSTS])


def local_models(own_port: int, host: str = HOST) -> dict[str, str]:
    """Return settings that permit endpoints on this machine's usual model ports, and on those in a file.

    No settings if others reach Concord: they must not reach servers that serve this machine alone. The
    operator's own list replaces the usual ports.
    """
    if is_shared(host):
        return {}
    file = os.environ.get(ENDPOINTS_FILE) or str(Path(settings.DATA_DIR, "local-endpoints"))
    if os.environ.get(LOCAL_ENDPOINTS):
        return {ENDPOINTS_FILE: file}
    ports = [port for port in MODEL_PORTS if port != own_port]
    hosts = ",".join(f"{name}:{port}" for name in (HOST, "localhost") for port in ports)
    return {LOCAL_ENDPOINTS: hosts, ENDPOINTS_FILE: file}


def collect_static_files() -> None:
    """Gather and compress the static files, unless none changed since the last time."""
    manifest, version = (Path(settings.STATIC_ROOT, name) for name in ("staticfiles.json", "version"))
    gathered = manifest.stat().st_mtime if manifest.exists() else 0.0
    is_other = not version.exists() or version.read_text() != VERSION  # a package's files keep older dates
    files = (storage.path(name) for finder in get_finders() for name, storage in finder.list([]))
    if is_other or any(Path(path).stat().st_mtime > gathered for path in files):
        call_command("collectstatic", interactive=False, verbosity=0)
        version.write_text(VERSION)


def first_account(address: str) -> str:
    if User.objects.exists():
        return ""
    path = reverse("first_account", args=[first_account_token()])
    return f"Make the first account: {address}{path.lstrip('/')}"


def demonstrations() -> str:
    """Load the open demonstration, have a worker make the finished one, and return the sign-in lines."""
    said = demonstration()
    if said and is_wanted():
        load_finished_demonstration.delay()
        said += "\n\nA finished project with judges and results is being made and appears within a minute."
    return said


def demonstration() -> str:
    """Load the demonstration project unless it was deleted, and return its sign-in lines."""
    names = set(Project.objects.values_list("name", flat=True))
    if names and NAME not in names:
        return ""
    said = StringIO()
    call_command("load_demonstration", stdout=said)
    return said.getvalue().strip()


def welcome(address: str, ways_in: str) -> str:
    """Return the message after the start: the URL and the ways to sign in."""
    lines = [f"Concord is at {address}", "", *ways_in.splitlines(), "", "Stop it with Ctrl-C."]
    return "\n" + "\n".join(f"  {line}".rstrip() for line in lines) + "\n"
