"""One annotator over HTTP for benchmarks/annotators.py, who does what the rating page does."""

import gzip
import http.client
import json
import random
import re
import time
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode

FOR = re.compile(r'data-annotator="(\w+)" data-assignment="(\w+)"')
TOGETHER = re.compile(r'data-together="([^"]+)"')
ROWS = re.compile(r'data-url="([^"]+)" data-key="([^"]+)"')
NEXT = re.compile(r'id="next"[^>]* href="([^"]+)"')
FRAGMENT = re.compile(r'(?=<main id="content"[^>]* data-address="([^"]+)")')
GUIDELINE = re.compile(r'data-guideline="(\d+)"')
TOGETHER_AHEAD = 4  # items that come with one request, see static/items.js
PATIENCE = 30.0  # seconds that a server may be away
BUSY = 503  # nothing was stored, as while SQLite belongs to another process


@dataclass
class Told:
    """What annotators did: seconds of requests, saved answers as (place, position, dimension, value)."""

    items: int = 0
    saves: list[float] = field(default_factory=list)
    loads: list[float] = field(default_factory=list)
    answers: list[tuple[int, int, str, int]] = field(default_factory=list)
    received: int = 0
    sent_again: list[str] = field(default_factory=list)  # why, for each request

    def add(self, other: "Told") -> None:
        for name, value in vars(other).items():
            setattr(self, name, getattr(self, name) + value)


class Annotator:
    """Loads an item, saves its ratings one after the other, or in one request, and goes on.

    bursts: ratings are given so quickly that the page sends them together.
    """

    def __init__(self, port: int, session: str, number: int, *, bursts: bool = False) -> None:
        self.told = Told()
        self.stopped = False
        self.pause = 0.0  # seconds of thought before each answer
        self._bursts = bursts
        self._ahead: dict[str, str] = {}
        self._guideline = ""
        self._connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
        self._cookies = {"sessionid": session}
        self._chance = random.Random(number)
        self._client, self._sequence = f"annotator-{number}", 0

    def rate(self, address: str, until: float, least: int = 0) -> None:
        while not self.stopped and (time.monotonic() < until or self.told.items < least):
            begun = time.perf_counter()
            status, page, address = self._load(address)
            if (made_for := FOR.search(page)) is None:
                if status == 200:
                    return
                raise RuntimeError(f"{address} answered {status}: {page[:500]}")
            self.told.loads.append(time.perf_counter() - begun)
            rows, together = ROWS.findall(page), TOGETHER.search(page)
            if self._bursts and together:
                self._save_together(together[1], rows, *made_for.groups())
            else:
                for url, key in rows:
                    self._save(url, key, *made_for.groups())
            self.told.items += 1
            address = next(iter(NEXT.findall(page)), address.rpartition("rate/")[0] + "rate/")

    def close(self) -> None:
        self._connection.close()

    def _load(self, address: str) -> tuple[int, str, str]:
        if kept := self._ahead.pop(address, None):
            return 200, kept, address
        status, page, location = self._ask("GET", address, "")
        if location:
            return self._load(location)
        self._guideline = next(iter(GUIDELINE.findall(page)), "")
        _, *found = FRAGMENT.split(page)  # addresses and fragments take turns
        if found:
            self._ahead = dict(zip(found[::2], found[1::2], strict=True))
            page = self._ahead.pop(address)
        return status, page, address

    def _save(self, url: str, key: str, annotator: str, assignment: str) -> None:
        answer = {"annotator": annotator, "assignment": assignment} | self._answer()
        begun = time.perf_counter()
        status, reply, _ = self._ask("POST", url, urlencode(answer))
        if status != 200 or json.loads(reply).get("revision") != 1:
            raise RuntimeError(f"{url} answered {status}: {reply[:500]}")
        self.told.saves.append(time.perf_counter() - begun)
        self.told.answers.append((int(annotator), int(url.split("/")[-3]), key, int(answer["value"])))

    def _save_together(
        self, address: str, rows: list[tuple[str, str]], annotator: str, assignment: str
    ) -> None:
        answers = [{"key": key} | self._answer() for _, key in rows]
        body = {"annotator": annotator, "assignment": assignment, "answers": json.dumps(answers)}
        begun = time.perf_counter()
        status, reply, _ = self._ask("POST", address, urlencode(body))
        if status != 200 or any(each.get("revision") != 1 for each in json.loads(reply)["answers"]):
            raise RuntimeError(f"{address} answered {status}: {reply[:500]}")
        self.told.saves.append(time.perf_counter() - begun)
        position = int(address.split("/")[-2])
        self.told.answers += [
            (int(annotator), position, str(each["key"]), int(each["value"])) for each in answers
        ]

    def _answer(self) -> dict[str, Any]:
        time.sleep(self.pause * self._chance.uniform(0.5, 1.5))
        self._sequence += 1
        value = {"value": self._chance.randint(1, 5), "comment": ""}
        how = {"revision": 0, "active_seconds": 2.5, "client": self._client, "sequence": self._sequence}
        return value | how

    def _ask(self, method: str, address: str, body: str) -> tuple[int, str, str]:
        """Send until the server answers, the same each time, as the page's queue does."""
        until = time.monotonic() + PATIENCE
        while True:
            try:
                begun = time.monotonic()
                answer = self._once(method, address, body)
                if answer[0] != BUSY or self.stopped or time.monotonic() > until:
                    return answer
                why = answer[1]
            except (http.client.HTTPException, OSError) as error:
                self._connection.close()
                if self.stopped or time.monotonic() > until:
                    raise
                why = repr(error)
            self.told.sent_again.append(
                f"{method} {address} after {time.monotonic() - begun:.2f} s: {why[:300]}"
            )
            time.sleep(0.1)

    def _once(self, method: str, address: str, body: str) -> tuple[int, str, str]:
        headers = {
            "Cookie": "; ".join(f"{name}={value}" for name, value in self._cookies.items()),
            "Accept-Encoding": "gzip",
        }
        if self.told.items:  # the page loads every item but the first ahead
            headers |= {"Concord-Ahead": str(TOGETHER_AHEAD), "Concord-Guideline": self._guideline}
        if method == "POST":
            headers |= {
                "X-CSRFToken": self._cookies.get("csrftoken", ""),
                "Content-Type": "application/x-www-form-urlencoded",
            }
        self._connection.request(method, address, body, headers)
        response = self._connection.getresponse()
        content = response.read()
        self.told.received += len(content) + sum(
            len(name) + len(value) + 4 for name, value in response.getheaders()
        )
        for cookie in response.headers.get_all("Set-Cookie") or []:
            name, _, value = cookie.partition(";")[0].partition("=")
            self._cookies[name] = value
        if response.getheader("Content-Encoding") == "gzip":
            content = gzip.decompress(content)
        return response.status, content.decode(), response.headers.get("Location", "")
