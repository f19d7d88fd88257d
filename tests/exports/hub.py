"""A stand-in for the Hugging Face Hub: the routes that a push uses, with repositories in memory."""

import base64
import hashlib
import json
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass
class Repository:
    """Its files by name, what it was made as, and its commits."""

    private: bool
    files: dict[str, bytes] = field(default_factory=dict)
    commits: list[str] = field(default_factory=list)


@dataclass
class Hub:
    """Where it is, whose token it knows, its repositories, and the statuses that routes answer instead."""

    url: str = ""
    token: str = "hf_good"
    repositories: dict[str, Repository] = field(default_factory=dict)
    stored: dict[str, bytes] = field(default_factory=dict)
    refused: dict[str, int] = field(default_factory=dict)
    uploads: int = 0

    def answer(self, method: str, path: str, body: bytes, authorization: str) -> tuple[int, Any]:
        """Return status and content of an answer."""
        path = path.partition("?")[0]
        if method == "PUT":  # to where files are stored, without a token
            self.uploads += 1
            self.stored[path.rpartition("/")[2]] = body
            return 200, {}
        if authorization != f"Bearer {self.token}":
            return 401, {"error": "Invalid username or password."}
        for route, status in self.refused.items():
            if route in path:
                return status, {"error": "Refused."}
        if path == "/api/validate-yaml":
            return 200, {"errors": [], "warnings": []}
        if path == "/api/repos/create":
            return self.made(json.loads(body))
        found = re.match(r"(?:/api)?/datasets/([^/]+/[^/]+?)(?:\.git/info/lfs|/)(.*)", path)
        repository = self.repositories.get(found[1]) if found else None
        if found is None or repository is None:
            return 404, {"error": "Repository not found"}
        return self.of_repository(found[1], repository, found[2], body)

    def made(self, asked: dict[str, Any]) -> tuple[int, Any]:
        """Make a repository."""
        assert asked["type"] == "dataset"
        name = f"{asked['organization']}/{asked['name']}"
        url = f"{self.url}/datasets/{name}"
        if name in self.repositories:
            return 409, {"error": "You already created this dataset repo", "url": url}
        self.repositories[name] = Repository(private=asked["visibility"] == "private")
        return 200, {"url": url, "name": name}

    def of_repository(self, name: str, repository: Repository, rest: str, body: bytes) -> tuple[int, Any]:
        """Answer what is asked of one repository."""
        if rest.startswith("preupload/"):
            return 200, {"files": [self.mode(repository, file) for file in json.loads(body)["files"]]}
        if rest.startswith("/objects/batch"):
            return 200, {"transfer": "basic", "objects": [self.place(o) for o in json.loads(body)["objects"]]}
        if rest.startswith("tree/"):
            return 200, [
                {"type": "file", "path": path, "oid": git_oid(content), "size": len(content)}
                for path, content in repository.files.items()
            ]
        if rest.startswith("commit/"):
            return self.committed(name, repository, [json.loads(line) for line in body.splitlines()])
        assert rest.startswith("revision/") or not rest, rest
        return 200, {"id": name, "sha": repository.commits[-1], "siblings": [], "tags": []}

    def mode(self, repository: Repository, file: dict[str, Any]) -> dict[str, Any]:
        """Return how a file is to be sent: tables by way of LFS."""
        is_large = file["path"].endswith(".parquet")
        there = repository.files.get(file["path"])
        oid = None if there is None else hashlib.sha256(there).hexdigest() if is_large else git_oid(there)
        mode = "lfs" if is_large else "regular"
        return {"path": file["path"], "uploadMode": mode, "shouldIgnore": False, "oid": oid}

    def place(self, asked: dict[str, Any]) -> dict[str, Any]:
        """Return where a large file is to be stored, nothing if it is."""
        if asked["oid"] in self.stored:
            return asked
        return {**asked, "actions": {"upload": {"href": f"{self.url}/store/{asked['oid']}", "header": {}}}}

    def committed(self, name: str, repository: Repository, lines: list[dict[str, Any]]) -> tuple[int, Any]:
        """Keep a commit."""
        for line in lines:
            value = line["value"]
            if line["key"] == "file":
                repository.files[value["path"]] = base64.b64decode(value["content"])
            elif line["key"] == "lfsFile":
                repository.files[value["path"]] = self.stored[value["oid"]]
            elif line["key"] == "deletedFile":
                del repository.files[value["path"]]
            else:
                assert line["key"] == "header"
        oid = f"{len(repository.commits) + 1:040x}"
        repository.commits.append(oid)
        return 200, {
            "commitUrl": f"{self.url}/datasets/{name}/commit/{oid}",
            "commitOid": oid,
            "success": True,
        }


def git_oid(content: bytes) -> str:
    """Return what git calls a file."""
    return hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()


@contextmanager
def hub() -> Iterator[Hub]:
    """Run a stand-in on a port of its own."""
    told = Hub()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def handle_one(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0)) or self.chunks()
            status, content = told.answer(self.command, self.path, body, self.headers["Authorization"] or "")
            sent = json.dumps(content).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(sent)))
            self.end_headers()
            self.wfile.write(sent)

        do_GET = do_POST = do_PUT = handle_one  # noqa: N815

        def chunks(self) -> bytes:
            """Read a body whose length was not said."""
            body = b""
            while "chunked" in self.headers.get("Transfer-Encoding", ""):
                length = int(self.rfile.readline(), 16)
                body += self.rfile.read(length)
                self.rfile.readline()
                if not length:
                    break
            return body

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    told.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield told
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
