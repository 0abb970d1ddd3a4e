"""A webhook endpoint on loopback for the demo, and the judgement of its signature by the Standard
Webhooks library.
"""

import json
import subprocess
import threading
from dataclasses import asdict, dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Self

from dev import python_packages

_VERIFY = """
import json, sys
from standardwebhooks import Webhook
given = json.load(sys.stdin)
Webhook(given["secret"]).verify(given["body"], given["headers"])
"""


@dataclass(frozen=True)
class Received:
    """A request as it came."""

    headers: dict[str, str]
    body: str

    def is_signed_with(self, secret: str) -> bool:
        """Returns whether the library from PyPI takes the signature."""
        given = json.dumps({"secret": secret, **asdict(self)})
        return (
            subprocess.run(
                [str(python_packages.python()), "-c", _VERIFY],
                input=given,
                text=True,
                capture_output=True,
            ).returncode
            == 0
        )


class WebhookReceiver:
    """Answers 200 to everything and keeps it. Use as a context manager."""

    def __init__(self) -> None:
        self._received: list[Received] = []
        self._arrived = threading.Condition()
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers.get("Content-Length", "0"))).decode()
                receiver._keep(
                    Received({name.lower(): value for name, value in self.headers.items()}, body)
                )
                self.send_response(200)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}/webhook"

    def _keep(self, received: Received) -> None:
        with self._arrived:
            self._received.append(received)
            self._arrived.notify_all()

    def __enter__(self) -> Self:
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    def wait(self, seconds: float) -> Received | None:
        """The first request, if it comes in time."""
        with self._arrived:
            self._arrived.wait_for(lambda: self._received, seconds)
            return self._received[0] if self._received else None
