"""A webhook endpoint on loopback that keeps what it gets and answers as told."""

import json
import ssl
import threading
from collections.abc import Callable
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Self

from standardwebhooks import Webhook


@dataclass(frozen=True)
class Request:
    """A delivery attempt as it arrived."""

    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> dict[str, Any]:
        """Its payload."""
        payload: dict[str, Any] = json.loads(self.body)
        return payload

    @property
    def webhook_id(self) -> str:
        """The id of the event."""
        return self.headers["webhook-id"]

    def verify(self, secret: str) -> None:
        """Fails unless the Standard Webhooks library takes the signature."""
        Webhook(secret).verify(self.body, self.headers)


class Receiver:
    """Use as a context manager. `answer` gives the status for the nth request, counted from 0.

    With a folder it speaks TLS with the certificate there, each request over a connection of its
    own. Once it has a `secret`, it verifies each request as it comes and keeps only those that are
    signed: five minutes later the signature is too old.
    """

    secret: str | None = None

    def __init__(
        self, answer: Callable[[int], int] = lambda _number: 200, folder: Path | None = None
    ) -> None:
        self._answer = answer
        self._requests: list[Request] = []
        self._arrived = threading.Condition()
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers.get("Content-Length", "0")))
                status = receiver._keep(
                    Request({name.lower(): value for name, value in self.headers.items()}, body)
                )
                self.send_response(status)
                self.send_header("Content-Length", "0")
                if folder:
                    self.send_header("Connection", "close")
                self.end_headers()

            def log_message(self, *_: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.url = f"http{'s' if folder else ''}://127.0.0.1:{self._server.server_port}/hook"
        self._tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        if folder:
            self.use_certificate(folder)
            self._server.socket = self._tls.wrap_socket(self._server.socket, server_side=True)

    def __enter__(self) -> Self:
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    def use_certificate(self, folder: Path) -> None:
        """Shows another certificate on connections from now on."""
        self._tls.load_cert_chain(folder / "certificate.pem", folder / "key.pem")

    def _keep(self, request: Request) -> int:
        if self.secret:
            request.verify(self.secret)
        with self._arrived:
            self._requests.append(request)
            self._arrived.notify_all()
            return self._answer(len(self._requests) - 1)

    @property
    def requests(self) -> list[Request]:
        """Everything so far."""
        with self._arrived:
            return list(self._requests)

    def wait_for(
        self, expected: Callable[[Request], bool], what: str, seconds: float = 60.0
    ) -> Request:
        """The first request that is expected, whether it is there already or comes in time."""
        with self._arrived:
            self._arrived.wait_for(lambda: any(map(expected, self._requests)), seconds)
            for request in self._requests:
                if expected(request):
                    return request
        raise AssertionError(
            f"no request within {seconds} s: {what}; got "
            f"{[request.json for request in self.requests]}"
        )

    def wait_for_count(self, count: int, seconds: float = 60.0) -> list[Request]:
        """All requests, once there are that many."""
        with self._arrived:
            self._arrived.wait_for(lambda: len(self._requests) >= count, seconds)
        assert len(self.requests) >= count, (
            f"{len(self.requests)} of {count} requests within {seconds} s"
        )
        return self.requests
