"""A receiver of OTLP/HTTP traces that keeps what it gets."""

import json
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self


@dataclass(frozen=True)
class Span:
    """A span with its process's name; attributes by key."""

    service: str
    trace_id: str
    span_id: str
    parent_id: str
    name: str
    kind: int
    attributes: dict[str, Any] = field(default_factory=dict)
    links: tuple[tuple[str, str], ...] = ()

    @classmethod
    def read(cls, service: str, given: dict[str, Any]) -> Self:
        """Reads a span from OTLP's JSON."""
        return cls(
            service=service,
            trace_id=given["traceId"],
            span_id=given["spanId"],
            parent_id=given.get("parentSpanId", ""),
            name=given["name"],
            kind=given["kind"],
            attributes=_attributes(given["attributes"]),
            links=tuple((link["traceId"], link["spanId"]) for link in given.get("links", [])),
        )


def _attributes(given: list[dict[str, Any]]) -> dict[str, Any]:
    return {one["key"]: next(iter(one["value"].values())) for one in given}


class OtlpSink:
    """Use as a context manager. `settings` are what sends a replica's traces here."""

    def __init__(self, host: str = "127.0.0.1", port: int = 0) -> None:
        self._spans: list[Span] = []
        self._arrived = threading.Condition()
        sink = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers.get("Content-Length", "0")))
                is_right = (
                    self.path == "/v1/traces" and self.headers["Content-Type"] == "application/json"
                )
                if is_right:
                    sink._keep(json.loads(body))
                answer = b"{}"
                self.send_response(200 if is_right else 400)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(answer)))
                self.end_headers()
                self.wfile.write(answer)

            def log_message(self, *_: object) -> None:
                pass

        self._server = ThreadingHTTPServer((host, port), Handler)
        self._server.daemon_threads = True
        self.settings = {"otel_exporter_otlp_endpoint": f"http://{host}:{self._server.server_port}"}

    def __enter__(self) -> Self:
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    def _keep(self, request: dict[str, Any]) -> None:
        with self._arrived:
            for resource in request["resourceSpans"]:
                service = _attributes(resource["resource"]["attributes"])["service.name"]
                for scope in resource["scopeSpans"]:
                    self._spans += [Span.read(service, span) for span in scope["spans"]]
            self._arrived.notify_all()

    @property
    def spans(self) -> list[Span]:
        """Everything so far."""
        with self._arrived:
            return list(self._spans)

    def wait_for(
        self, expected: Callable[[list[Span]], bool], what: str, seconds: float = 30.0
    ) -> list[Span]:
        """All spans, once they are as expected."""
        with self._arrived:
            is_there = self._arrived.wait_for(lambda: expected(self._spans), seconds)
            names = sorted({f"{span.service}: {span.name}" for span in self._spans})
            assert is_there, f"not within {seconds} s: {what}; got {names}"
            return list(self._spans)
