"""Prints the traces that it gets by OTLP/HTTP (JSON), each span indented below its parent.

A receiver to look at, not to keep: it forgets what it printed.
"""

import argparse
import json
from collections import defaultdict
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

_KINDS = ["", "INTERNAL", "SERVER", "CLIENT", "PRODUCER", "CONSUMER"]


def _service(resource: dict[str, Any]) -> str:
    for attribute in resource["resource"]["attributes"]:
        if attribute["key"] == "service.name":
            return str(attribute["value"]["stringValue"])
    return "unknown"


def lines(request: dict[str, Any]) -> list[str]:
    """The spans of one request."""
    spans = [
        (span, _service(resource))
        for resource in request["resourceSpans"]
        for scope in resource["scopeSpans"]
        for span in scope["spans"]
    ]
    known = {span["spanId"] for span, _ in spans}
    below: dict[str, list[tuple[dict[str, Any], str]]] = defaultdict(list)
    for span, service in sorted(spans, key=lambda it: int(it[0]["startTimeUnixNano"])):
        parent = span.get("parentSpanId", "")
        below[parent if parent in known else ""].append((span, service))
    out: list[str] = []

    def add(parent: str, depth: int) -> None:
        for span, service in below[parent]:
            took = int(span["endTimeUnixNano"]) - int(span["startTimeUnixNano"])
            name = "  " * depth + span["name"]
            out.append(
                f"{span['traceId'][:8]} {name:<48} {service:<28} {_KINDS[span['kind']]:<9}"
                f" {took / 1e6:.2f} ms"
            )
            add(span["spanId"], depth + 1)

    add("", 0)
    return out


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", "0")))
        print("\n".join(lines(json.loads(body))), flush=True)
        answer = b"{}"
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *_: object) -> None:
        pass


def main() -> None:
    """Serves until it is ended."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("port", type=int, help="of loopback, 4318 as a rule")
    ThreadingHTTPServer(("127.0.0.1", parser.parse_args().port), _Handler).serve_forever()


if __name__ == "__main__":
    main()
