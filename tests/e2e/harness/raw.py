"""Requests byte by byte: what no HTTP client would send."""

import contextlib
import http.client
import io
import socket
from urllib.parse import urlsplit

from harness.contract import Answer

_SECONDS = 15.0


def exchange(base: str, request: bytes) -> Answer:
    """Sends the bytes on a connection of their own and reads one answer."""
    address = urlsplit(base)
    assert address.hostname
    assert address.port
    with socket.create_connection((address.hostname, address.port), timeout=_SECONDS) as connection:
        with contextlib.suppress(
            ConnectionError
        ):  # who refuses early may close before all is sent; the answer is there all the same
            connection.sendall(request)
        first_line = request.split(b"\r\n", 1)[0].decode("latin-1").split(" ")
        method = first_line[0]
        answer = http.client.HTTPResponse(connection, method=method)
        answer.begin()
        headers = {name.lower(): value for name, value in answer.getheaders()}
        path = urlsplit(first_line[1]).path if len(first_line) > 1 else ""
        return Answer(method, path, answer.status, headers, answer.read())


def request_bytes(
    method: str, target: str | bytes, headers: dict[str, str | bytes], body: bytes
) -> bytes:
    """HTTP/1.1 with Host, Content-Length where there is a body, and nothing else of its own."""
    out = io.BytesIO()
    out.write(
        method.encode()
        + b" "
        + (target if isinstance(target, bytes) else target.encode())
        + b" HTTP/1.1\r\nHost: api.example\r\n"
    )
    for name, value in headers.items():
        out.write(
            name.encode()
            + b": "
            + (value if isinstance(value, bytes) else value.encode())
            + b"\r\n"
        )
    if body:
        out.write(b"Content-Length: " + str(len(body)).encode() + b"\r\n")
    out.write(b"Connection: close\r\n\r\n" + body)
    return out.getvalue()
