"""Concord beside Potato, an annotation tool from the package index: processor time an item, and saves.

python benchmarks/peers.py [--annotators 8] [--seconds 20] [--rounds 3] [--only concord] [--potato PYTHON]

Installs Potato in a temporary environment, or takes the environment of `--potato`. Both get 416 texts of
SummEval-OP's size and seven questions. The same number of annotators rates over HTTP: at a person's pace, a
key every 300 ms, and at a robot's, without a pause. Each client sends what the page of its program sends for
an item, without static files. Programs and paces take turns; a round is a turn of each. Every turn has a new
project. Concord rates on SQLite, and where DATABASE_URL names a PostgreSQL server in a new database there.
After each turn what was acknowledged is looked for in what the program stored.

Clients, servers and database share this machine's cores. Linux only.
"""

import argparse
import json
import os
import platform
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import median, quantiles
from urllib.error import URLError
from urllib.request import urlopen

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.annotators import CONCORD, ITEMS, check, rate, serving
from benchmarks.annotators_client import Told
from benchmarks.annotators_process import begin, cpu_seconds, database_cpu, end, family
from benchmarks.export import own_database
from benchmarks.judges import run
from benchmarks.peers_client import POINTS, QUESTIONS, ConcordPerson, PotatoPerson
from benchmarks.stopping import clean_up_when_stopped
from tests.ports import free_port

HERE = Path(__file__).resolve().parent
POTATO = "potato-annotation==2.12.1"
PACES = {"person": 0.3, "robot": 0.0}  # seconds between keys
WARM_UP_ITEMS = 3
LONGEST_START = 180.0  # seconds
CORES = 2


@dataclass(frozen=True)
class PeerTurn:
    told: Told
    seconds: float
    server: float
    client: float

    @property
    def pace(self) -> float:
        """Items a second."""
        return self.told.items / self.seconds

    @property
    def server_cpu(self) -> float:
        """Seconds of web server and database for an item."""
        return self.server / self.told.items

    @property
    def client_cpu(self) -> float:
        """Seconds of the client for an item."""
        return self.client / self.told.items

    @property
    def slow_save(self) -> float:
        """The 95th percentile of the seconds of a save."""
        return quantiles(self.told.saves, n=20)[18]


@contextmanager
def installed_potato(folder: Path) -> Iterator[Path]:
    """Install Potato in an environment of its own and give its Python; uv takes a tenth of pip's time."""
    home = folder / "potato"
    subprocess.run([sys.executable, "-m", "venv", str(home)], check=True)
    python = home / "bin" / "python"
    uv = shutil.which("uv") or shutil.which("uv", path=str(Path(sys.executable).parent))
    install = [uv, "pip", "install", "--python", str(python)] if uv else [str(python), "-m", "pip", "install"]
    if subprocess.run([*install, "--quiet", POTATO], check=False).returncode:
        subprocess.run([str(python), "-m", "pip", "install", "--quiet", POTATO], check=True)
    yield python


def potato_project(folder: Path) -> Path:
    """Write a project of Potato with the same amount of text and questions, and return its configuration."""
    chance = random.Random(0)

    def words(count: int) -> str:
        return " ".join("".join(chance.choices("abcdefghij", k=chance.randint(2, 9))) for _ in range(count))

    sources = ["\n".join(f"Review {n}: {words(60)}" for n in range(1, 9)) for _ in range(ITEMS // 13)]
    items = [
        {"id": f"item-{n}", "text": words(60), "source": sources[n % len(sources)]} for n in range(ITEMS)
    ]
    (folder / "items.jsonl").write_text("".join(json.dumps(item) + "\n" for item in items))
    configuration = {
        "annotation_task_name": "Peers",
        "task_dir": ".",
        "output_annotation_dir": "output",
        "output_annotation_format": "json",
        "data_files": ["items.jsonl"],
        "item_properties": {"id_key": "id", "text_key": "text"},
        "instance_display": {
            "fields": [
                {"key": "source", "type": "text", "label": "Reviews"},
                {"key": "text", "type": "text", "label": "Summary"},
            ]
        },
        "annotation_schemes": [
            {
                "annotation_type": "likert",
                "name": name,
                "description": f"How good is the {name}?",
                "min_label": "poor",
                "max_label": "good",
                "size": POINTS,
                "sequential_key_binding": True,
            }
            for name in QUESTIONS
        ],
        "user_config": {"allow_all_users": True, "users": []},
        "require_password": False,
    }
    target = folder / "config.yaml"
    target.write_text(json.dumps(configuration))  # JSON is YAML
    return target


@contextmanager
def serving_potato(python: Path, folder: Path) -> Iterator[tuple["subprocess.Popen[bytes]", int]]:
    """Start Potato as its documentation says; give its process and port."""
    port, log = free_port(), folder / "log"
    with log.open("wb") as output:
        command = [str(python), "-m", "potato", "start", str(potato_project(folder))]
        server = begin(
            [*command, "-p", str(port), "--host", "127.0.0.1"],
            {**os.environ, "PYTHONWARNINGS": "ignore"},
            folder=folder,
            output=output,
        )
    try:
        until = time.monotonic() + LONGEST_START
        while not answers(port):
            if server.poll() is not None or time.monotonic() > until:
                raise RuntimeError(f"Potato did not start:\n{log.read_text()[-2000:]}")
            time.sleep(0.1)
        yield server, port
    finally:
        end(server)


def answers(port: int) -> bool:
    try:
        with urlopen(f"http://127.0.0.1:{port}/", timeout=30):
            return True
    except (URLError, OSError):
        return False


def turn_of_potato(python: Path, annotators: int, seconds: float, pause: float) -> PeerTurn:
    with tempfile.TemporaryDirectory(prefix="concord-peers-") as name:
        folder = Path(name)
        with serving_potato(python, folder) as (server, port):
            people = [PotatoPerson(port, number, pause=0.0) for number in range(annotators)]
            try:
                first = together(people, lambda each: each.rate(each.enter(), 0.0, WARM_UP_ITEMS))
                for each in people:
                    each.told, each.pause = Told(), pause
                used, client = cpu_seconds(family(server.pid)), time.process_time()
                begun = time.perf_counter()
                items = dict(zip(people, first, strict=True))
                together(people, lambda each: each.rate(items[each], time.monotonic() + seconds, 1))
                took = time.perf_counter() - begun
                client = time.process_time() - client
                used = cpu_seconds(family(server.pid)) - used
            finally:
                for each in people:
                    each.close()
        told = Told()
        for each in people:
            told.add(each.told)
        look_for_answers(folder, [answer for each in people for answer in each.stored])
    return PeerTurn(told, took, used, client)


def together(people: Sequence[PotatoPerson], act: Callable[[PotatoPerson], str]) -> list[str]:
    with ThreadPoolExecutor(len(people)) as threads:
        try:
            return list(threads.map(act, people))
        except BaseException:
            for each in people:
                each.stopped = True
            raise


def look_for_answers(folder: Path, acknowledged: Sequence[tuple[object, ...]]) -> None:
    """Stop if Potato has not stored an answer that it acknowledged."""
    stored = set()
    for file in folder.glob("output/*/user_state.json"):
        labels = json.loads(file.read_text())["instance_id_to_label_to_value"]
        for instance, given in labels.items():
            stored |= {(file.parent.name, instance, label["schema"], int(value)) for label, value in given}
    if missing := set(acknowledged) - stored:
        sys.exit(f"Potato lost {len(missing)} of {len(acknowledged)} answers.")


def turn_of_concord(
    environment: Mapping[str, str], annotators: int, seconds: float, pause: float
) -> PeerTurn:
    made = run("annotators_fill.py", environment, annotators, ITEMS)
    address, url = f"/projects/{made['slug']}/rate/", environment.get("DATABASE_URL", "")

    def crowd(pause: float) -> list[ConcordPerson]:
        return [
            ConcordPerson(port, session, number, pause) for number, session in enumerate(made["sessions"])
        ]

    with serving(environment, CONCORD, workers=2 if url else 1) as (server, port):  # as it is deployed
        warm = rate([*crowd(0.0)], address, 0.0, WARM_UP_ITEMS)
        processes = family(server.pid)
        used, client = cpu_seconds(processes) + (database_cpu(url) or 0.0), time.process_time()
        begun = time.perf_counter()
        told = rate([*crowd(pause)], address, seconds, 1)
        took = time.perf_counter() - begun
        client = time.process_time() - client
        used = cpu_seconds(processes) + (database_cpu(url) or 0.0) - used
    check(environment, made["slug"], warm.answers + told.answers)
    return PeerTurn(told, took, used, client)


def report(turns: Mapping[tuple[str, str], list[PeerTurn]]) -> None:
    print(
        f"{'pace':<8}{'program':<22}{'items/s':>9}{'server CPU':>12}{'client CPU':>12}{'save p95':>10}"
        f"{'raters':>8}{'Potato to it':>14}"
    )
    for (pace, program), each in turns.items():
        server = median(turn.server_cpu for turn in each)
        peer = turns.get((pace, "Potato"))
        ratio = f"{median(turn.server_cpu for turn in peer) / server:.1f}x" if peer else "-"
        print(
            f"{pace:<8}{program:<22}{median(turn.pace for turn in each):>9.1f}{server * 1000:>9.1f} ms"
            f"{median(turn.client_cpu for turn in each) * 1000:>9.1f} ms"
            f"{median(turn.slow_save for turn in each) * 1000:>7.0f} ms"
            f"{60 * CORES / server:>8,.0f}{ratio:>14}"
        )


def main() -> None:
    clean_up_when_stopped()
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--annotators", type=int, default=8)
    parser.add_argument("--seconds", type=float, default=20.0, help="how long a turn takes")
    parser.add_argument("--rounds", type=int, default=3, help="turns of each, of which medians are shown")
    parser.add_argument("--only", choices=["concord"], help="without Potato")
    parser.add_argument("--potato", type=Path, help="the Python of an environment that has Potato")
    asked = parser.parse_args()
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="concord-peers-")))
        programs: dict[str, Callable[[int, float, float], PeerTurn]] = {}
        if asked.only is None:
            python = (
                asked.potato.absolute() if asked.potato else stack.enter_context(installed_potato(folder))
            )
            programs["Potato"] = partial(turn_of_potato, python)
        for name, url in databases().items():
            (folder / name).mkdir()
            there = stack.enter_context(own_database(folder / name, url))
            there |= {"PYTHONPATH": str(HERE.parent), "CONCORD_LOG_LEVEL": "ERROR"}
            programs[f"Concord, {name}"] = partial(turn_of_concord, there)
        print(
            f"{asked.annotators} annotators, {asked.rounds} rounds of {asked.seconds:g} s; "
            f"Python {platform.python_version()}, {os.cpu_count()} cores; processor time is for an item.",
            flush=True,
        )
        turns: dict[tuple[str, str], list[PeerTurn]] = {
            (pace, each): [] for pace in PACES for each in programs
        }
        for number in range(asked.rounds):
            for pace, program in list(turns)[:: -1 if number % 2 else 1]:
                done = programs[program](asked.annotators, asked.seconds, PACES[pace])
                turns[pace, program].append(done)
                print(f"  {pace}, {program}: {done.server_cpu * 1000:.1f} ms an item", flush=True)
    report(turns)
    print(f"\nraters: so many at an item a minute take {CORES} cores of server and database.")


def databases() -> dict[str, str]:
    """Return where Concord rates: on SQLite, and on the PostgreSQL server that DATABASE_URL names."""
    url = os.environ.get("DATABASE_URL", "")
    return {"SQLite": ""} | ({"PostgreSQL": url} if url.startswith("postgres") else {})


if __name__ == "__main__":
    main()
