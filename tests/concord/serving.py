"""What stands around Concord where it is in use: a bucket, and nginx with its site from deploy/."""

import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

import boto3
import pytest
from moto.server import ThreadedMotoServer

KEY, SECRET = "a key", "with/slashes+and spaces"


@contextmanager
def s3_server() -> Iterator[str]:
    """Run a server that speaks S3; give its host and port."""
    running = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    running.start()
    host, port = running.get_host_and_port()
    try:
        yield f"{host}:{port}"
    finally:
        running.stop()


def make_bucket(server: str, name: str) -> str:
    """Make a bucket; return what CONCORD_FILES_URL says of a folder in it."""
    boto3.client(
        "s3",
        endpoint_url=f"http://{server}",
        aws_access_key_id=KEY,
        aws_secret_access_key=SECRET,
        region_name="us-east-1",
    ).create_bucket(Bucket=name)
    return f"s3+http://{quote(KEY)}:{quote(SECRET, safe='')}@{server}/{name}/concord?region=us-east-1"


def nginx_program() -> str | None:
    """Return where nginx is on this machine, if it is."""
    return shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin")


@contextmanager
def nginx(folder: Path, site: str) -> Iterator[None]:
    """Run nginx with a site, once it finds nothing wrong with it; skips the test where there is none."""
    if (program := nginx_program()) is None:
        pytest.skip("no nginx on this machine")
    (folder / "site.conf").write_text(site)
    temporary = "".join(
        f"{kind}_temp_path {folder}/{kind};" for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    (folder / "nginx.conf").write_text(
        f"daemon off; pid {folder}/pid; error_log {folder}/errors; events {{}}\n"
        f"http {{ access_log off; {temporary} include {folder}/site.conf; }}\n"
    )
    command = [program, "-e", "stderr", "-p", str(folder), "-c", str(folder / "nginx.conf")]
    checked = subprocess.run([*command, "-t"], capture_output=True, text=True, check=False)
    assert checked.returncode == 0, checked.stderr
    with subprocess.Popen(command, stderr=subprocess.DEVNULL) as server:
        try:
            yield
        finally:
            server.terminate()
