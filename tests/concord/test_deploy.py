"""What deploy/ holds: its files agree, and the programs that read them find nothing wrong."""

import re
import shutil
import ssl
import subprocess
import sys
import threading
import urllib.error
import urllib.request
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.certificates import make_certificate
from tests.concord.running import LONGEST, ROOT, eventually
from tests.concord.serving import nginx, nginx_program
from tests.ports import free_port

NAME = "concord.example.org"
DEPLOY = ROOT / "deploy"
UNITS = {"web": "concord-web.service", "worker": "concord-worker@.service"}


def settings_of(unit: str) -> dict[str, str]:
    """Return the settings of a unit of systemd by name."""
    return dict(re.findall(r"^(\w+)=(.*)$", (DEPLOY / "systemd" / unit).read_text(), flags=re.M))


@pytest.mark.parametrize("unit", UNITS.values())
def test_units_are_valid(tmp_path: Path, unit: str) -> None:
    text, settings = (DEPLOY / "systemd" / unit).read_text(), settings_of(unit)
    assert settings["ExecStart"].startswith("/opt/concord/.venv/bin/python -m ")
    assert (settings["NoNewPrivileges"], settings["ProtectSystem"], settings["UMask"]) == (
        "true",
        "strict",
        "0077",
    )
    if shutil.which("systemd-analyze"):
        text = text.replace("/opt/concord/.venv/bin/python", sys.executable).replace(
            "/opt/concord", str(ROOT)
        )
        path = tmp_path / unit.replace("@", "@1")
        path.write_text(text.replace("User=concord\n", ""))
        said = run("systemd-analyze", "verify", str(path))
        assert (said.returncode, path.name in said.stderr) == (0, False), said.stderr


def run(*command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, capture_output=True, text=True, timeout=LONGEST)


@pytest.mark.parametrize("name", UNITS)
def test_containers_have_no_privileges_and_write_nowhere_else(name: str) -> None:
    composed = yaml.safe_load((DEPLOY / "compose.yaml").read_text())
    service, unit = composed["services"][name], settings_of(UNITS[name])
    command = unit["ExecStart"].removeprefix("/opt/concord/").partition(" --hostname")[0].split()
    assert service["command"][: len(command)] == command  # a container runs what a unit runs
    assert (service["read_only"], service["cap_drop"], service["user"]) == (True, ["ALL"], "10001:10001")
    assert service["security_opt"] == ["no-new-privileges:true"]
    assert (service["tmpfs"], service["volumes"]) == (["/tmp"], ["data:/data"])
    assert service["healthcheck"]["test"][0] in ("CMD", "CMD-SHELL")
    assert service["stop_grace_period"] == f"{unit['TimeoutStopSec']}s"
    assert set(service["depends_on"]) <= set(composed["services"])


def test_image_runs_as_an_unprivileged_user_and_omits_secrets() -> None:
    lines = (DEPLOY / "Containerfile").read_text().splitlines()
    last_stage = lines[max(n for n, line in enumerate(lines) if line.startswith("FROM")) :]
    assert "USER 10001:10001" in last_stage
    assert any(line.startswith("HEALTHCHECK") for line in last_stage)


@pytest.mark.parametrize(
    ("path", "is_left_out"),
    [
        ("deploy/concord.env", True),
        ("deploy/database.env", True),
        ("concord.env", True),
        (".env", True),
        ("annotate/core/__pycache__/access.cpython-312.pyc", True),
        ("manage.pyc", True),
        ("var/secret_key", True),
        (".git/config", True),
        (".venv/bin/python", True),
        ("concord/environment.py", False),
        ("deploy/concord.env.example", False),
        ("annotate/core/access.py", False),
        ("static/icon.svg", False),
    ],
)
def test_secrets_and_caches_stay_out_of_the_image(path: str, is_left_out: bool) -> None:
    patterns = (DEPLOY / "Containerfile.dockerignore").read_text().splitlines()
    assert any(ignored(pattern).fullmatch(path) for pattern in patterns) == is_left_out


def ignored(pattern: str) -> re.Pattern[str]:
    """Translate a pattern of Docker; it starts at the root, except after `**/`."""
    parts = re.split(r"(\*\*/|\*)", pattern.strip("/"))
    meaning = {"**/": "(?:.*/)?", "*": "[^/]*"}
    return re.compile("".join(meaning.get(part, re.escape(part)) for part in parts) + "(?:/.*)?")


def test_site_stays_up_while_it_is_not_ready() -> None:
    composed = yaml.safe_load((DEPLOY / "compose.yaml").read_text())["services"]
    container = (DEPLOY / "Containerfile").read_text()
    probes = [str(composed["web"]["healthcheck"]["test"]), (DEPLOY / "Caddyfile").read_text(), container]
    assert all("/health/live" in probe and "/health/ready" not in probe for probe in probes)


def test_database_container_gets_its_own_secrets_only() -> None:
    composed = yaml.safe_load((DEPLOY / "compose.yaml").read_text())["services"]
    named = {name: service.get("env_file") for name, service in composed.items()}
    own, others = "database.env", "concord.env"
    assert {name for name, file in named.items() if file == own} == {"database"}
    assert {name for name, file in named.items() if file == others} == {"prepare", "web", "worker"}
    assert "environment" not in composed["database"]
    read = {name: set(variables(DEPLOY / f"{name}.example")) for name in (own, others)}
    assert read[own] == {"POSTGRES_USER", "POSTGRES_PASSWORD", "POSTGRES_DB"}
    assert not any(name.startswith("POSTGRES") for name in read[others])


def variables(path: Path) -> list[str]:
    return re.findall(r"^(\w+)=", path.read_text(), flags=re.M)


def test_caddy_reads_its_file() -> None:
    text = (DEPLOY / "Caddyfile").read_text()
    assert text.count("{") == text.count("}")
    if shutil.which("caddy"):
        said = run("caddy", "adapt", "--config", str(DEPLOY / "Caddyfile"), "--adapter", "caddyfile")
        assert said.returncode == 0, said.stderr
        assert '"dial":"127.0.0.1:8000"' in said.stdout


class Upstream(BaseHTTPRequestHandler):
    """Answers with the headers that the proxy sent."""

    def do_GET(self) -> None:
        self.send_response(200)
        self.end_headers()
        self.wfile.write("".join(f"{name}: {value}\n" for name, value in self.headers.items()).encode())

    def log_message(self, *_arguments: object) -> None:
        """Say nothing."""


@pytest.fixture
def upstream() -> Iterator[int]:
    server = HTTPServer(("127.0.0.1", 0), Upstream)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield server.server_port
    server.shutdown()
    thread.join()
    server.server_close()


def test_nginx_passes_on_what_concord_believes(tmp_path: Path, upstream: int) -> None:
    site = (DEPLOY / "nginx.conf").read_text()
    assert site.count("{") == site.count("}")
    assert "proxy_set_header X-Forwarded-Proto $scheme;" in site
    assert "client_max_body_size 550m;" in site
    if not nginx_program():
        return
    plain, secure = free_port(), free_port()
    make_certificate(NAME, tmp_path / "concord.pem", tmp_path / "concord.key")
    site = site.replace("/etc/ssl", str(tmp_path)).replace("127.0.0.1:8000", f"127.0.0.1:{upstream}")
    site = site.replace("listen 80;", f"listen 127.0.0.1:{plain};")
    with nginx(tmp_path, site.replace("listen 443 ssl;", f"listen 127.0.0.1:{secure} ssl;")):
        assert eventually(lambda: ask(f"https://127.0.0.1:{secure}/")[0] == 200)
        _status, headers = ask(f"https://127.0.0.1:{secure}/")
        assert "X-Forwarded-Proto: https\n" in headers
        assert "X-Forwarded-For: 6.6.6.6, 127.0.0.1\n" in headers
        assert f"Host: {NAME}\n" in headers
        assert re.search(r"X-Request-ID: [0-9a-f]{32}\n", headers)
        assert ask(f"https://127.0.0.1:{secure}/metrics")[0] == 404
        assert ask(f"http://127.0.0.1:{plain}/projects/")[0] == 301


class Stay(urllib.request.HTTPRedirectHandler):
    """Follows no redirect."""

    def redirect_request(self, *_arguments: Any, **_options: Any) -> None:
        return None


def ask(url: str) -> tuple[int, str]:
    """Return status and text of an answer, as who claims to be HTTP, another address and another scheme."""
    trusting = ssl.create_default_context()
    trusting.check_hostname, trusting.verify_mode = False, ssl.CERT_NONE
    hostile = {"Host": NAME, "X-Forwarded-For": "6.6.6.6", "X-Forwarded-Proto": "http"}
    opener = urllib.request.build_opener(urllib.request.HTTPSHandler(context=trusting), Stay)
    try:
        with opener.open(urllib.request.Request(url, headers=hostile), timeout=LONGEST) as reply:
            return reply.status, reply.read().decode()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, ""
    except OSError:
        return 0, ""
