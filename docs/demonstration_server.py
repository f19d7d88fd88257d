"""Concord with its demonstration, started in a folder of its own, for those who take pictures of it."""

import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Browser, Page, sync_playwright

ROOT = Path(__file__).resolve().parent.parent
CHROMIUM = ("chromium-headless-shell", "chromium", "chromium-browser")


@contextmanager
def demonstration() -> Iterator[str]:
    """Start Concord, so that no one's data is touched; give its address; stop it."""
    with tempfile.TemporaryDirectory() as folder:
        port = _free_port()
        environment = {**os.environ, "CONCORD_DATA": folder, "XDG_STATE_HOME": folder}
        command = [sys.executable, str(ROOT / "manage.py"), "start", "--port", str(port)]
        server = subprocess.Popen(
            command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.STDOUT
        )
        try:
            _wait_for(f"http://127.0.0.1:{port}/accounts/login/")
            yield f"http://127.0.0.1:{port}"
        finally:
            server.send_signal(signal.SIGINT)
            server.wait(30)


@contextmanager
def browser() -> Iterator[Browser]:
    """Start a Chromium without a window."""
    with sync_playwright() as playwright:
        chromium = next(filter(None, map(shutil.which, CHROMIUM)), None)
        found = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-gpu"])
        yield found
        found.close()


def sign_in(page: Page, email: str) -> None:
    """Sign in as one of the people of the demonstration."""
    page.goto("/accounts/login/")
    page.get_by_label("Email").fill(email)
    page.get_by_label("Password").fill("demonstration")
    page.get_by_role("button", name="Sign in").click()


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _wait_for(address: str) -> None:
    for _ in range(360):
        try:
            urllib.request.urlopen(address, timeout=2)
        except OSError:
            time.sleep(0.5)
        else:
            return
    raise SystemExit(f"Concord did not answer at {address} within three minutes.")
