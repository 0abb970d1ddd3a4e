"""An HTTP server that answers as its steps say, or cuts the connection."""

import json
import threading
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

INBOX_ID = "01934f2e-7b1c-7d3a-9f00-5a1b2c3d4e5f"
INBOX: dict[str, Any] = {
    "inboxId": INBOX_ID,
    "emailAddress": "a@b.example",
    "name": None,
    "tags": [],
    "metadata": {},
    "status": "active",
    "emailCount": 0,
    "lastSequence": 0,
    "lastEmailAt": None,
    "createdAt": "2026-11-21T10:00:00.123Z",
    "expiresAt": "2026-11-21T11:00:00.123Z",
    "expiredAt": None,
    "renewOnUse": False,
    "retention": {"maxAgeSeconds": None, "whenFull": "refuse"},
    "capture": None,
}


class Cut:
    """The connection is closed without an answer."""


class Trickle:
    """200, and then a space now and again as long as there is somebody to read it."""


class Together:
    """200, once so many requests wait for it at a time; 500 where they do not come."""

    def __init__(self, count: int) -> None:
        self.barrier = threading.Barrier(count, timeout=60)


class Answer:
    """A status with a body of JSON."""

    def __init__(self, status: int, body: Any = None, **headers: str) -> None:
        self.status = status
        self.content = json.dumps({} if body is None else body).encode()
        self.headers = {name.replace("_", "-"): value for name, value in headers.items()}


def refusal(status: int, message: str = "", **headers: str) -> Answer:
    """An error of the API."""
    return Answer(status, {"statusCode": status, "error": "E", "message": message}, **headers)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    script: "ScriptedServer"

    def _answer(self) -> None:
        length = int(self.headers.get("Content-Length", "0"))
        body = self.rfile.read(length).decode()
        self.script.requests.append((self.command, self.path, dict(self.headers), body))
        step = self.script.next_step()
        self.close_connection = isinstance(step, Cut)
        if isinstance(step, Answer):
            self.send_response(step.status)
            for name, value in step.headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(step.content)))
            self.end_headers()
            self.wfile.write(step.content)
        elif isinstance(step, Together):
            try:
                step.barrier.wait()
            except threading.BrokenBarrierError:
                self.send_response(500)
            else:
                self.send_response(200)
            self.send_header("Content-Length", "2")
            self.end_headers()
            self.wfile.write(b"{}")
        elif isinstance(step, Trickle):
            self.send_response(200)
            self.send_header("Content-Length", "1000000")
            self.end_headers()
            with suppress(OSError):
                while not self.script.ended.wait(0.1):
                    self.wfile.write(b" ")

    do_GET = do_POST = do_PATCH = do_DELETE = _answer  # noqa: N815 - as the base class wants them

    def log_message(self, *_: object) -> None:
        """Nothing."""


class _Server(ThreadingHTTPServer):
    request_queue_size = 256  # or connections of many at a time are dropped, and tried again


class ScriptedServer:
    """Answers with its steps in turn, the last one again and again. Use as a context manager."""

    def __init__(self) -> None:
        self.steps: list[Answer | Cut | Together | Trickle] = []
        self.ended = threading.Event()
        self.requests: list[tuple[str, str, dict[str, str], str]] = []
        handler = type("Handler", (_Handler,), {"script": self})
        self._server = _Server(("127.0.0.1", 0), handler)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,))
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}/prefix"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.ended.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def next_step(self) -> Answer | Cut | Together | Trickle:
        """Returns the next step of the script."""
        return self.steps.pop(0) if len(self.steps) > 1 else self.steps[0]

    def headers(self, name: str) -> list[str | None]:
        """A header of each request."""
        return [headers.get(name) for _, _, headers, _ in self.requests]
