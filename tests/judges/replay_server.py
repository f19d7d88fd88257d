"""The replay server with its replies read, as processes begin that are forked after this import."""

import asyncio
import sys
from functools import cache
from importlib.util import module_from_spec, spec_from_file_location
from multiprocessing.connection import Connection
from os import dup2
from typing import Any

from tests.judges.replay import script


def load_server() -> Any:
    """Return the server's module, which reads the usual replies no second time."""
    spec = spec_from_file_location("replay_server", script())
    assert spec
    assert spec.loader
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    module.Responses = cache(module.Responses)  # type: ignore[attr-defined]
    module.Responses(module.DATA, module.MODEL)
    return module


def run(arguments: list[str], output: Connection) -> None:
    """Answer until this process is killed, and write the address first."""
    dup2(output.fileno(), 1)
    sys.argv[1:] = arguments
    asyncio.run(server.main())


server = load_server()
