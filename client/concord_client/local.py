"""Finds the Concord that runs on this machine, and a token for it."""

import json
import os
import tempfile
from importlib.metadata import entry_points
from pathlib import Path

from concord_client.server import RefusedError

ADDRESS, TOKEN = "CONCORD_URL", "CONCORD_TOKEN"
TOKEN_FILE = "command_token"  # noqa: S105 - in the folder of data
NO_SERVER = (
    "No Concord runs on this machine. Start one with `concord serve`, or set CONCORD_URL and CONCORD_TOKEN."
)


def find_access() -> tuple[str, str]:
    """Return URL and token of the server to call. Raises RefusedError.

    CONCORD_URL and CONCORD_TOKEN take precedence over the server that this machine runs.
    """
    address, token = os.environ.get(ADDRESS), os.environ.get(TOKEN)
    if address and token:
        return address, token
    if address:
        raise RefusedError(f"Set CONCORD_TOKEN, too. Create a token at {address}, page “Tokens of the API”.")
    address, data = find_running()
    return address, token or _read_token(address, data)


def find_running() -> tuple[str, Path]:
    """Return URL and data folder of the Concord that runs on this machine. Raises RefusedError."""
    try:
        running = json.loads(state_file().read_text())
        os.kill(running["pid"], 0)  # of a killed server, another program may have the port: it gets no token
        return running["address"], Path(running["data"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise RefusedError(NO_SERVER) from error


def state_file() -> Path:
    """Return the file with the URL and the data folder of a Concord for one person."""
    return Path(os.environ.get("XDG_STATE_HOME") or "~/.local/state").expanduser() / "concord" / "server.json"


def forget_token() -> bool:
    """Remove the stored token, which is no longer valid. Return False if CONCORD_TOKEN is in use instead."""
    if os.environ.get(TOKEN):
        return False
    try:
        (find_running()[1] / TOKEN_FILE).unlink()
    except (OSError, RefusedError):
        return False
    return True


def _read_token(address: str, data: Path) -> str:
    file = data / TOKEN_FILE
    if file.exists():
        return file.read_text().strip()
    makers = entry_points(group="concord.local", name="make_token")
    if not makers:
        raise RefusedError(f"Set CONCORD_TOKEN. Create a token at {address}, page “Tokens of the API”.")
    os.environ["CONCORD_DATA"] = str(data)
    try:
        token: str = next(iter(makers)).load()(address)
    except LookupError as error:
        raise RefusedError(str(error)) from error
    handle, unfinished = tempfile.mkstemp(prefix=TOKEN_FILE, dir=data)  # only this account may read it
    with os.fdopen(handle, "w") as kept:
        kept.write(token)
    Path(unfinished).replace(file)
    return token
