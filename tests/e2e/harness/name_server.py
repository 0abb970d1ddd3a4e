"""A name server that knows MX records alone (RFC 1035 4.1, RFC 4592)."""

import socketserver
import struct
import threading
from typing import Self

_LOOPBACK = "127.0.0.1"
_MX = 15
_IN = 1
_NO_ERROR = 0
_NO_SUCH_NAME = 3
_HEADER = struct.Struct("!6H")


def _name_at(message: bytes, at: int) -> tuple[str, int]:
    """The name of a question, which is never compressed, and where its type begins."""
    labels = []
    while message[at]:
        labels.append(message[at + 1 : at + 1 + message[at]].decode("ascii"))
        at += 1 + message[at]
    return ".".join(labels).lower(), at + 1


def _encoded(name: str) -> bytes:
    labels = (label.encode("ascii") for label in name.split("."))
    return b"".join(bytes([len(label)]) + label for label in labels) + b"\0"


def _record(host: str) -> bytes:
    exchanger = struct.pack("!H", 10) + _encoded(host)
    # The owner is the question's name, behind the header.
    return struct.pack("!HHHIH", 0xC000 | _HEADER.size, _MX, _IN, 60, len(exchanger)) + exchanger


class NameServer:
    """A context manager; `exchangers` are hosts by name, of all names below it with `*.` ahead."""

    def __init__(self, exchangers: dict[str, list[str]]) -> None:
        answer = self._answer
        self._exchangers = exchangers

        class Handler(socketserver.BaseRequestHandler):
            def handle(self) -> None:
                message, socket = self.request
                socket.sendto(answer(message), self.client_address)

        self._server = socketserver.UDPServer((_LOOPBACK, 0), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever)

    @property
    def address(self) -> str:
        return f"{_LOOPBACK}:{self._server.server_address[1]}"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def _answer(self, query: bytes) -> bytes:
        number = _HEADER.unpack_from(query)[0]
        name, at = _name_at(query, _HEADER.size)
        question = query[_HEADER.size : at + 4]
        wildcard = "*." + name.partition(".")[2]
        hosts = self._exchangers.get(name, self._exchangers.get(wildcard))
        code = _NO_SUCH_NAME if hosts is None else _NO_ERROR
        records = [_record(host) for host in hosts or []]
        header = _HEADER.pack(number, 0x8580 | code, 1, len(records), 0, 0)
        return header + question + b"".join(records)
