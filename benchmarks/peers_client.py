"""People at work for benchmarks/peers.py: one at Concord's page, one at Potato's."""

import http.client
import json
import random
import re
import time
from typing import Any
from urllib.parse import urlencode

from benchmarks.annotators_client import Annotator, Told

QUESTIONS = ("coherence", "fluency", "consistency", "relevance", "aspects", "sentiment", "specificity")
POINTS = 5
INSTANCE = re.compile(r'<input[^>]*id="instance_id"[^>]*value="([^"]+)"')
PATIENCE = 60.0  # seconds that a server may take to answer


class ConcordPerson(Annotator):
    """An annotator at Concord's page: seven keys, then Enter, which sends the item's answers together."""

    def __init__(self, port: int, session: str, number: int, pause: float) -> None:
        super().__init__(port, session, number, bursts=True)
        self._seconds = pause

    def _save_together(
        self, address: str, rows: list[tuple[str, str]], annotator: str, assignment: str
    ) -> None:
        time.sleep(self._seconds * (len(rows) + 1))
        super()._save_together(address, rows, annotator, assignment)


class PotatoPerson:
    """An annotator at Potato's page, who sends what a browser sends for an item, without static files.

    Recorded from Chromium with version 2.12.1: at each answer a note of the change; at Next the item's
    answers, the request to go on and the page's events; then the next page with what its scripts fetch.
    """

    def __init__(self, port: int, number: int, pause: float) -> None:
        self.told = Told()
        self.stored: list[tuple[str, str, str, int]] = []  # person, item, question, value
        self.stopped = False
        self.pause = pause
        self._name = f"annotator{number}"
        self._chance = random.Random(number)
        self._connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
        self._cookie = ""

    def enter(self) -> str:
        form = urlencode({"action": "login", "email": self._name})
        self._ask("POST", "/auth", form, "application/x-www-form-urlencoded")
        return self._load()

    def rate(self, instance: str, until: float, least: int = 0) -> str:
        """Rate until this moment of time.monotonic(), so many items at least; return the next one."""
        while not self.stopped and (time.monotonic() < until or self.told.items < least):
            instance = self._rate_one(instance)
            self.told.items += 1
        return instance

    def close(self) -> None:
        self._connection.close()

    def _rate_one(self, instance: str) -> str:
        values, events = {}, [self._event("navigation", "instance_load", instance)]
        for question in QUESTIONS:
            time.sleep(self.pause)
            value = str(self._chance.randint(1, POINTS))
            values[question] = value
            change = {"label": value, "action": "select", "old_value": None, "new_value": value}
            events.append(self._event("click", f"label:{question}:{value}", instance))
            events.append(self._event("annotation_change", f"schema:{question}", instance, change))
            self._send(
                "/api/track_annotation_change",
                {
                    "instance_id": instance,
                    "schema_name": question,
                    "label_name": value,
                    "action": "select",
                    "old_label": None,
                    "old_value": None,
                    "new_value": value,
                    "source": "user",
                },
            )
        time.sleep(self.pause)
        events += [self._event(what, "next", instance) for what in ("click", "navigation")]
        begun = time.perf_counter()
        self._send(
            "/updateinstance",
            {
                "instance_id": instance,
                "annotations": {f"{question}:{value}": value for question, value in values.items()},
                "cleared_schemas": [],
                "span_annotations": [],
                "response_time_seconds": 2.4,
            },
        )
        self.told.saves.append(time.perf_counter() - begun)
        self._send("/annotate", {"action": "next_instance", "instance_id": instance})
        watched = {"instance_id": instance, "events": events, "focus_time": {}, "scroll_depth": 100}
        self._send("/api/track_interactions", watched)
        self.stored += [(self._name, instance, question, int(value)) for question, value in values.items()]
        begun = time.perf_counter()
        following = self._load()
        self.told.loads.append(time.perf_counter() - begun)
        return following

    def _load(self) -> str:
        page = self._ask("GET", "/annotate")
        found = INSTANCE.search(page)
        if found is None:
            raise RuntimeError(f"Potato shows no item: {page[:500]}")
        instance = found[1]
        for _ in range(2):
            self._ask("GET", "/api/colors")
            self._ask("GET", f"/api/spans/{instance}")
            self._ask("GET", f"/api/keyword_highlights/{instance}")
        self._ask("GET", f"/api/keyword_highlights/{instance}")
        self._ask("GET", "/pocket/api/routing")
        self._ask("GET", "/api/schemas")
        return instance

    def _event(
        self, what: str, target: str, instance: str, metadata: dict[str, Any] | None = None
    ) -> dict[str, Any]:
        now = time.time()
        return {
            "event_type": what,
            "timestamp": now,
            "client_timestamp": int(now * 1000),
            "target": target,
            "instance_id": instance,
            "metadata": metadata or {"x": 0, "y": 0},
        }

    def _send(self, address: str, body: dict[str, Any]) -> None:
        self._ask("POST", address, json.dumps(body), "application/json")

    def _ask(self, method: str, address: str, body: str = "", kind: str = "") -> str:
        headers = {"Cookie": self._cookie, **({"Content-Type": kind} if kind else {})}
        self._connection.request(method, address, body, headers)
        response = self._connection.getresponse()
        content = response.read().decode()
        self.told.received += len(content)
        for cookie in response.headers.get_all("Set-Cookie") or []:
            self._cookie = cookie.partition(";")[0]
        # A page that goes on by a redirect is loaded by its script.
        if response.status >= 400 or '"status": "error"' in content[:200]:
            raise RuntimeError(f"{method} {address} answered {response.status}: {content[:500]}")
        return content
