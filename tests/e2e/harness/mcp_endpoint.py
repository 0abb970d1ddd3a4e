"""The Model Context Protocol as the gateway speaks it, seen byte by byte."""

import contextlib
import http.client
import http.server
import itertools
import json
import threading
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

import requests

STATELESS = "2026-07-28"
WITH_HANDSHAKE = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05", "2024-10-07"]
REVISIONS = [STATELESS, *WITH_HANDSHAKE]

_SECONDS = 70.0
_PREFIX = "io.modelcontextprotocol/"


class McpEndpoint:
    """POSTs to /mcp of one gateway with one key, by one revision."""

    def __init__(self, base: str, key: str | None, revision: str = STATELESS) -> None:
        self.url = base + "/mcp"
        self.revision = revision
        self._ids = itertools.count(1)
        self._session = requests.Session()
        if key is not None:
            self._session.headers["X-API-Key"] = key

    def message(self, method: str, params: dict[str, Any] | None = None) -> dict[str, Any]:
        """A request with what the revision wants in its body."""
        params = dict(params or {})
        if self.revision == STATELESS:
            params["_meta"] = {
                _PREFIX + "protocolVersion": self.revision,
                _PREFIX + "clientCapabilities": {},
            } | params.get("_meta", {})
        return {"jsonrpc": "2.0", "id": next(self._ids), "method": method, "params": params}

    def headers(self, message: dict[str, Any]) -> dict[str, str]:
        """And in its headers."""
        headers = {
            "Content-Type": "application/json",
            "Accept": "application/json, text/event-stream",
            "MCP-Protocol-Version": self.revision,
        }
        if self.revision == STATELESS:
            headers["Mcp-Method"] = message["method"]
            if "name" in message.get("params", {}):
                headers["Mcp-Name"] = message["params"]["name"]
        return headers

    def post(self, body: Any, **headers: str | None) -> requests.Response:
        """Any body, with changed headers by name (`mcp_name`; None: without it)."""
        sent: dict[str, Any] = self.headers(body) if isinstance(body, dict) else {}
        for name, value in headers.items():
            sent = {key: kept for key, kept in sent.items() if key.lower() != _header(name)}
            sent[_header(name)] = value
        data = body if isinstance(body, (str, bytes)) else json.dumps(body)
        return self._session.post(self.url, data=data, headers=sent, timeout=_SECONDS)

    def ask(self, method: str, params: dict[str, Any] | None = None) -> dict[str, Any]:
        """The result of a request that succeeds."""
        answer = self.post(self.message(method, params))
        assert answer.status_code == 200, answer.text
        result: dict[str, Any] = answer.json()["result"]
        return result

    def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """The structured content of a tool that succeeds; `from_` for a name Python keeps."""
        result = self.call_any(tool, **arguments)
        assert not result["isError"], result
        assert json.loads(result["content"][0]["text"]) == result["structuredContent"]
        content: dict[str, Any] = result["structuredContent"]
        return content

    def call_any(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """The result of a tool, error or not."""
        arguments = {name.rstrip("_"): value for name, value in arguments.items()}
        return self.ask("tools/call", {"name": tool, "arguments": arguments})

    def error(self, tool: str, **arguments: Any) -> str:
        """Returns the error of a tool that fails."""
        result = self.call_any(tool, **arguments)
        assert result["isError"], result
        text: str = result["content"][0]["text"]
        return text


def _header(name: str) -> str:
    return name.replace("_", "-").lower()


def unfenced(content: dict[str, Any], text: str) -> str:
    """A text of a mail without the marks that must be around it."""
    begin, end = content["mailFence"]["open"], content["mailFence"]["close"]
    assert text.startswith(begin), text
    assert text.endswith(end), text
    inside = text[len(begin) : -len(end)]
    assert "\u27e6" not in inside
    assert "\u27e7" not in inside
    return inside


@contextlib.contextmanager
def key_adder(base: str, key: str) -> Iterator[str]:
    """A server that passes everything on to the gateway with a key, for clients that can send none;
    gives its address.
    """
    gateway = urlsplit(base)

    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.0"  # each answer ends with its connection

        def _pass_on(self) -> None:
            length = int(self.headers.get("Content-Length") or 0)
            body = self.rfile.read(length)
            connection = http.client.HTTPConnection(str(gateway.netloc), timeout=_SECONDS)
            headers = {
                name: value
                for name, value in self.headers.items()
                if name.lower() not in {"connection", "content-length"}
            }
            connection.request(self.command, self.path, body, headers | {"X-API-Key": key})
            answer = connection.getresponse()
            self.send_response(answer.status)
            for name, value in answer.getheaders():
                if name.lower() not in {"connection", "transfer-encoding"}:
                    self.send_header(name, value)
            self.end_headers()
            while piece := answer.read1(65536):
                self.wfile.write(piece)
                self.wfile.flush()
            connection.close()

        do_GET = do_POST = do_DELETE = _pass_on  # noqa: N815 - names of the standard library

        def log_message(self, *_: Any) -> None:
            """Silence."""

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
