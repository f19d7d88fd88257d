"""Take the picture in the README: the rating page of the demonstration project.

Run by `make screenshot`. Starts Concord with a folder of its own, so that no one's data is touched.
"""

import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

from playwright.sync_api import sync_playwright

ROOT = Path(__file__).resolve().parent.parent
PICTURE = ROOT / "docs" / "images" / "rating.png"
CHROMIUM = ("chromium-headless-shell", "chromium", "chromium-browser")
PAGE = "/projects/demonstration-opinions-about-three-products/rate/"


def main() -> None:
    """Start, sign in, rate two dimensions, take the picture, stop."""
    with tempfile.TemporaryDirectory() as folder:
        port = _free_port()
        environment = {**os.environ, "CONCORD_DATA": folder}
        command = [sys.executable, str(ROOT / "manage.py"), "start", "--port", str(port)]
        server = subprocess.Popen(
            command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.STDOUT
        )
        try:
            _wait_for(f"http://127.0.0.1:{port}/accounts/login/")
            _picture(f"http://127.0.0.1:{port}")
        finally:
            server.send_signal(signal.SIGINT)
            server.wait(30)


def _picture(base: str) -> None:
    with sync_playwright() as playwright:
        chromium = next(filter(None, map(shutil.which, CHROMIUM)), None)
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-gpu"])
        page = browser.new_page(base_url=base, viewport={"width": 1280, "height": 800})
        page.goto("/accounts/login/")
        page.get_by_label("Email").fill("cem@example.org")
        page.get_by_label("Password").fill("demonstration")
        page.get_by_role("button", name="Sign in").click()
        page.goto(PAGE)
        page.keyboard.press("5")
        page.keyboard.press("4")
        page.wait_for_selector("#save-mark[data-state=saved]")
        PICTURE.parent.mkdir(exist_ok=True)
        page.screenshot(path=PICTURE)
        browser.close()


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _wait_for(address: str) -> None:
    for _ in range(120):
        try:
            urllib.request.urlopen(address, timeout=2)
        except OSError:
            time.sleep(0.5)
        else:
            return
    raise SystemExit(f"Concord did not answer at {address} within a minute.")


if __name__ == "__main__":
    main()
