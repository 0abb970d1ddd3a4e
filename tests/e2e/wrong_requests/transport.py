"""Requests that are no sound HTTP/1.1: the server itself answers them, before there is an
operation.
"""

from dataclasses import dataclass

_HOST = b"Host: api.example\r\n"


@dataclass(frozen=True)
class RawRow:
    """Bytes, and the status of the answer."""

    name: str
    request: bytes
    status: int


def _post(framing: bytes, body: bytes, path: bytes = b"/v1/inboxes") -> bytes:
    return b"POST " + path + b" HTTP/1.1\r\n" + _HOST + framing + b"\r\n\r\n" + body


def _post_chunks(chunks: bytes) -> bytes:
    """Sends chunks to a path that needs no key: without one a body would not be read."""
    return _post(b"Transfer-Encoding: chunked", chunks, path=b"/docs")


ROWS = [
    RawRow("garbage", b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n", 400),
    RawRow("no version", b"GET /v1/inboxes\r\n\r\n", 400),
    RawRow("an unknown version", b"GET /v1/inboxes HTTP/9.9\r\n" + _HOST + b"\r\n", 505),
    RawRow("two spaces", b"GET  /v1/inboxes HTTP/1.1\r\n" + _HOST + b"\r\n", 400),
    RawRow("a space in the target", b"GET /v1/in boxes HTTP/1.1\r\n" + _HOST + b"\r\n", 400),
    RawRow("a zero byte in the target", b"GET /v1/\x00 HTTP/1.1\r\n" + _HOST + b"\r\n", 400),
    RawRow("a relative target", b"GET v1/inboxes HTTP/1.1\r\n" + _HOST + b"\r\n", 400),
    RawRow(
        "another scheme", b"GET ftp://api.example/v1/inboxes HTTP/1.1\r\n" + _HOST + b"\r\n", 400
    ),
    RawRow("a bad method", b"G@T /v1/inboxes HTTP/1.1\r\n" + _HOST + b"\r\n", 400),
    RawRow("no host", b"GET /v1/inboxes HTTP/1.1\r\n\r\n", 400),
    RawRow(
        "two hosts", b"GET /v1/inboxes HTTP/1.1\r\n" + _HOST + b"Host: other.example\r\n\r\n", 400
    ),
    RawRow(
        "a header without a colon",
        b"GET /v1/inboxes HTTP/1.1\r\n" + _HOST + b"X-API-Key\r\n\r\n",
        400,
    ),
    RawRow(
        "a space before the colon",
        b"GET /v1/inboxes HTTP/1.1\r\n" + _HOST + b"X-API-Key : x\r\n\r\n",
        400,
    ),
    RawRow("an empty header name", b"GET /v1/inboxes HTTP/1.1\r\n" + _HOST + b": x\r\n\r\n", 400),
    RawRow(
        "a zero byte in a header",
        b"GET /v1/inboxes HTTP/1.1\r\n" + _HOST + b"X-A: a\x00b\r\n\r\n",
        400,
    ),
    RawRow(
        "a delete character in a header",
        b"GET /v1/inboxes HTTP/1.1\r\n" + _HOST + b"X-A: a\x7fb\r\n\r\n",
        400,
    ),
    RawRow("lines that end in LF", b"GET /v1/inboxes HTTP/1.1\nHost: api.example\n\n", 400),
    RawRow("a length that is no number", _post(b"Content-Length: two", b"{}"), 400),
    RawRow("a negative length", _post(b"Content-Length: -2", b"{}"), 400),
    RawRow("a length with a sign", _post(b"Content-Length: +2", b"{}"), 400),
    RawRow("a huge length", _post(b"Content-Length: 99999999999999999999", b"{}"), 400),
    RawRow("two lengths", _post(b"Content-Length: 2\r\nContent-Length: 3", b"{}"), 400),
    RawRow("a list of lengths", _post(b"Content-Length: 2, 3", b"{}"), 400),
    RawRow(
        "length and chunks",
        _post(b"Content-Length: 2\r\nTransfer-Encoding: chunked", b"2\r\n{}\r\n0\r\n\r\n"),
        400,
    ),
    RawRow("a bad chunk size", _post_chunks(b"zz\r\n{}\r\n0\r\n\r\n"), 400),
    RawRow("a chunk longer than it says", _post_chunks(b"1\r\n{}\r\n0\r\n\r\n"), 400),
    RawRow("a huge chunk size", _post_chunks(b"10000000000000000\r\n{}"), 400),
    RawRow("another transfer coding", _post(b"Transfer-Encoding: gzip", b"{}"), 501),
    RawRow("chunked twice", _post(b"Transfer-Encoding: chunked, chunked", b"0\r\n\r\n"), 501),
    RawRow(
        "chunks in HTTP/1.0",
        b"POST /v1/inboxes HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        400,
    ),
    RawRow(
        "a header over 16 KiB",
        b"GET /v1/inboxes HTTP/1.1\r\n" + _HOST + b"X-A: " + b"x" * 20_000 + b"\r\n\r\n",
        431,
    ),
    RawRow(
        "many headers",
        b"GET /v1/inboxes HTTP/1.1\r\n" + _HOST + b"X-A: b\r\n" * 3_000 + b"\r\n",
        431,
    ),
    RawRow(
        "a target over 16 KiB",
        b"GET /v1/" + b"x" * 20_000 + b" HTTP/1.1\r\n" + _HOST + b"\r\n",
        431,
    ),
]
