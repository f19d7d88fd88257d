"""Commands of `concord` that need an installed server; see concord_client.commands."""

import argparse
import os
import shutil
import sys
import tempfile
from collections.abc import Sequence
from contextlib import suppress

from concord.processes import HOST, TEMPORARY, find_port

NO_ACCOUNT = "No one has an account here yet. Open {address} and create the first one."
STORES = ("DATABASE_URL", "CONCORD_BROKER_URL", "CONCORD_FILES_URL")  # not for a demonstration
NAME_OF_TOKEN = "the command concord on this machine"  # noqa: S105


def run_demonstration(arguments: Sequence[str]) -> None:
    """Serve the demonstration from a temporary folder, and open it in a browser."""
    parser = argparse.ArgumentParser("concord demo", description=run_demonstration.__doc__)
    parser.add_argument("--port", type=int, help="8000 or, if it is in use, any other one")
    parser.add_argument("--host", default=HOST, help="another address to answer at, behind a proxy")
    parser.add_argument("--no-browser", action="store_true")
    chosen = parser.parse_args(arguments)
    # A demonstration must not use the operator's database, broker or bucket.
    for name in STORES:
        os.environ.pop(name, None)
    folder = os.environ["CONCORD_DATA"] = tempfile.mkdtemp(prefix=TEMPORARY)
    options = [] if chosen.no_browser else ["--open"]
    port = chosen.port or _find_usual_port()
    try:
        manage(["start", "--temporary", *options, "--host", chosen.host, "--port", str(port)])
    finally:  # if it did not start; once it runs, nothing comes back here
        shutil.rmtree(folder, ignore_errors=True)


def serve(arguments: Sequence[str]) -> None:
    manage(["start", "--empty", *arguments])


def back_up(arguments: Sequence[str]) -> None:
    manage_running(["backup", *arguments])


def restore(arguments: Sequence[str]) -> None:
    manage(["restore", *arguments])


def write_paper(arguments: Sequence[str]) -> None:
    manage_running(["paper", *arguments])


def manage_running(arguments: Sequence[str]) -> None:
    """Run a management command on the Concord that runs on this machine, unless a variable names another."""
    from concord_client.server import RefusedError, find_running

    if not any(os.environ.get(name) for name in ("CONCORD_DATA", "DATABASE_URL")):
        with suppress(RefusedError):
            os.environ["CONCORD_DATA"] = str(find_running()[1])
    manage(arguments)


def manage(arguments: Sequence[str], *, name: str = "concord manage") -> None:
    """Run a management command of the server; `concord manage help` lists them."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "concord.settings")
    from django.core.management import execute_from_command_line
    from django.db import OperationalError

    from concord.environment import SettingError

    try:
        execute_from_command_line([name, *arguments])
    except SettingError as error:
        sys.exit(str(error))
    except OperationalError as error:
        if "--traceback" in arguments:
            raise
        sys.exit(f"The database cannot be used: {' '.join(str(error).split())}")
    except KeyboardInterrupt:
        # 130 is the usual exit code of a program that Ctrl-C has ended.
        sys.exit(130)


def make_local_token(address: str) -> str:
    """Return a token for the one person of the installation in CONCORD_DATA. Raises LookupError."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "concord.settings")
    os.environ.pop("DATABASE_URL", None)  # the database is in the data folder
    import django

    django.setup()
    from annotate.api.tokens import LONGEST, SCOPES, make_token
    from annotate.core.access import may_begin_projects
    from annotate.core.models import User
    from annotate.management.demonstration import PEOPLE

    makers = [user for user in User.objects.filter(is_active=True).order_by("pk") if may_begin_projects(user)]
    demonstrators = {person.email for person in PEOPLE}
    # A demonstration has several accounts, and any of its makers will do.
    own = [user for user in makers if user.email not in demonstrators] or makers[:1]
    if not own:
        raise LookupError(NO_ACCOUNT.format(address=address))
    if len(own) > 1:
        names = ", ".join(user.email for user in own)
        raise LookupError(
            f"Several accounts can create projects here ({names}). Set CONCORD_TOKEN to the token of one."
        )
    _, secret = make_token(user=own[0], name=NAME_OF_TOKEN, scopes=SCOPES, lasts=LONGEST)
    return secret


def _find_usual_port() -> int:
    try:
        return find_port(8000)
    except OSError:
        return find_port()
