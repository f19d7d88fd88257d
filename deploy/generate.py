"""Writes compose.yaml, the units of systemd and the files of proxies from one list of processes.

.venv/bin/python deploy/generate.py        (or make deploy-files)
"""

from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).parent
PORT = 8000
LARGEST_UPLOAD = 550  # MB, and room for the form around it
NAME = "concord.example.org"


@dataclass(frozen=True)
class Process:
    """A program to keep running."""

    name: str
    title: str
    command: str  # after `python -m`
    stop_seconds: int
    reason: str  # of stop_seconds
    container_options: str  # what the command takes in a container
    health: str  # a program that fails where the process is not well
    many: bool = False  # whether a host may run several, told apart by a name

    @property
    def unit(self) -> str:
        """The file of systemd."""
        return f"concord-{self.name}{'@' if self.many else ''}.service"


# Without its bucket, a web server is not ready but still serves most pages, and a restart does not help.
LIVE = "/health/live"
PROBE = f"import urllib.request; urllib.request.urlopen('http://127.0.0.1:{PORT}{LIVE}', timeout=5)"
PING = ".venv/bin/python -m celery -A concord inspect ping -t 10"
PREPARE = "concord manage migrate && concord manage collectstatic --no-input"
PROCESSES = (
    Process(
        name="web",
        title="web server",
        command="concord.web --workers 2 --blocking-threads 4",
        stop_seconds=30,
        reason="A killed worker process is replaced by the server, a killed server by what started it.",
        container_options=f" --host 0.0.0.0 --port {PORT}",
        health=f'["CMD", ".venv/bin/python", "-c", "{PROBE}"]',
    ),
    Process(
        name="worker",
        title="worker %i",
        command="celery -A concord worker --pool threads --concurrency 8",
        stop_seconds=660,
        reason="SIGTERM lets paid calls of judges end; an endpoint's timeout is at most ten minutes.",
        container_options=" --hostname worker@%h",
        health=f'["CMD-SHELL", "{PING} -d worker@$$HOSTNAME"]',
        many=True,
    ),
)


def unit_of(process: Process) -> str:
    """Return the unit of systemd that keeps a process running."""
    options = " --hostname %i@%%h" if process.many else ""
    return f"""\
# Written by deploy/generate.py.
[Unit]
Description=Concord: {process.title}
After=network-online.target
Wants=network-online.target

[Service]
User=concord
WorkingDirectory=/opt/concord
EnvironmentFile=/etc/concord.env
ExecStart=/opt/concord/.venv/bin/python -m {process.command}{options}
# {process.reason}
TimeoutStopSec={process.stop_seconds}
KillMode=mixed
Restart=always
RestartSec=1
UMask=0077
NoNewPrivileges=true
PrivateTmp=true
PrivateDevices=true
ProtectSystem=strict
ProtectHome=true
ProtectKernelTunables=true
ProtectControlGroups=true
RestrictSUIDSGID=true
RestrictAddressFamilies=AF_INET AF_INET6 AF_UNIX
ReadWritePaths=/var/lib/concord

[Install]
WantedBy=multi-user.target
"""


def service_of(process: Process) -> str:
    """Return a process as a service of compose."""
    return f"""
  {process.name}:
    <<: *concord
    command: [".venv/bin/python", "-m", {", ".join(f'"{each}"' for each in _words(process))}]
    # {process.reason}
    stop_grace_period: {process.stop_seconds}s
    restart: always
    depends_on:
      prepare: {{condition: service_completed_successfully}}
    healthcheck:
      test: {process.health}
      interval: 30s
      timeout: 20s
      start_period: 30s
"""


def _words(process: Process) -> list[str]:
    return f"{process.command}{process.container_options}".split()


def compose() -> str:
    """Return compose.yaml."""
    return f"""\
# Written by deploy/generate.py. Settings are in deploy/concord.env, PostgreSQL's in deploy/database.env:
# see docs/how-to/deployment.md.
x-concord: &concord
  image: concord
  build: {{context: .., dockerfile: deploy/Containerfile}}
  env_file: concord.env
  environment:
    CONCORD_DATA: /data
    CONCORD_PROXIES: "1"
    CONCORD_HTTPS: "1"
    CONCORD_BROKER_URL: redis://broker:6379/0
  user: "10001:10001"
  read_only: true
  tmpfs: [/tmp]
  cap_drop: [ALL]
  security_opt: ["no-new-privileges:true"]
  volumes: [data:/data]

services:
  prepare:
    <<: *concord
    command: ["sh", "-c", "{PREPARE}"]
    depends_on:
      database: {{condition: service_healthy}}
      broker: {{condition: service_healthy}}
{"".join(map(service_of, PROCESSES))}
  proxy:
    image: caddy:2
    restart: always
    read_only: true
    ports: ["80:80", "443:443"]
    environment: {{CONCORD_WEB: "web:{PORT}", SITE_NAME: "${{SITE_NAME:-{NAME}}}"}}
    volumes: ["./Caddyfile:/etc/caddy/Caddyfile:ro", "certificates:/data", "proxy:/config"]
    depends_on:
      web: {{condition: service_healthy}}

  database:
    image: postgres:16
    restart: always
    env_file: database.env
    volumes: [database:/var/lib/postgresql/data]
    healthcheck: {{test: ["CMD", "pg_isready", "-U", "concord"], interval: 5s, retries: 20}}

  broker:
    image: redis:7
    restart: always
    read_only: true
    command: [redis-server, --save, ""]
    healthcheck: {{test: ["CMD", "redis-cli", "ping"], interval: 5s, retries: 20}}

volumes: {{data: , database: , certificates: , proxy: }}
"""


def nginx() -> str:
    """Return a site of nginx."""
    return f"""\
# Written by deploy/generate.py. For /etc/nginx/conf.d/, with your names, certificates and web servers.
upstream concord {{
    # A line for each host. One that is being restarted refuses connections, and the next is asked.
    server 127.0.0.1:{PORT} max_fails=0;
}}

server {{
    listen 80;
    server_name {NAME};
    return 301 https://$host$request_uri;
}}

server {{
    listen 443 ssl;
    server_name {NAME};
    ssl_certificate /etc/ssl/concord.pem;
    ssl_certificate_key /etc/ssl/concord.key;
    ssl_protocols TLSv1.2 TLSv1.3;
    server_tokens off;
    client_max_body_size {LARGEST_UPLOAD}m;

    # Prometheus asks web servers themselves.
    location = /metrics {{
        return 404;
    }}

    proxy_connect_timeout 3s;
    proxy_set_header Host $host;
    proxy_set_header X-Forwarded-Proto $scheme;
    proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;
    proxy_set_header X-Request-ID $request_id;

    location / {{
        proxy_pass http://concord;
    }}

    # A save that arrives twice is stored once, so another web server gets it where one stops in between.
    location ~ ^/projects/[^/]+/rate/ {{
        proxy_pass http://concord;
        proxy_next_upstream error timeout non_idempotent;
    }}
}}
"""


def caddy() -> str:
    """Return a Caddyfile, which gets certificates by itself."""
    return f"""\
# Written by deploy/generate.py. Caddy tells the protocol and the address by itself.
{{$SITE_NAME:{NAME}}} {{
\trequest_body {{
\t\tmax_size {LARGEST_UPLOAD}MB
\t}}
\t# Prometheus asks web servers themselves.
\trespond /metrics 404
\treverse_proxy {{$CONCORD_WEB:127.0.0.1:{PORT}}} {{
\t\theader_up X-Request-ID {{http.request.uuid}}
\t\thealth_uri {LIVE}
\t}}
}}
"""


def files() -> dict[str, str]:
    """Return what is written, by its name in this folder."""
    units = {f"systemd/{process.unit}": unit_of(process) for process in PROCESSES}
    return {**units, "compose.yaml": compose(), "nginx.conf": nginx(), "Caddyfile": caddy()}


if __name__ == "__main__":
    for name, text in files().items():
        (FOLDER / name).write_text(text)
