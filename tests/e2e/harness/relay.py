"""A TCP relay that can stand still (connections stay open and nothing passes) and be away
(connections are refused).
"""

import contextlib
import socket
import threading
from typing import Self


class Relay:
    """A relay in front of a server on loopback.

    Use as a context manager; one that is closed at first refuses connections until it is opened.
    """

    def __init__(self, target: tuple[str, int], *, is_closed: bool = False) -> None:
        self._target = target
        self._is_closed = is_closed
        self._listener = self._bind(0)
        self._flows = threading.Event()
        self._flows.set()
        self._open: list[socket.socket] = []
        self.port: int = self._listener.getsockname()[1]

    def __enter__(self) -> Self:
        if not self._is_closed:
            self.open()
        return self

    def __exit__(self, *_: object) -> None:
        self.cut()
        self._listener.close()

    def open(self) -> None:
        """Takes connections from now on."""
        self._listener.listen()
        threading.Thread(target=self._accept, daemon=True).start()

    def cut(self) -> None:
        """Ends every connection and takes no more until it is opened again."""
        self._flows.set()
        for each in [self._listener, *self._open]:
            with contextlib.suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
            each.close()
        self._open = []
        self._listener = self._bind(self.port)

    def freeze(self) -> None:
        """Lets nothing pass from now on, in neither direction; what was under way stays there."""
        self._flows.clear()

    def thaw(self) -> None:
        """Everything held back goes on its way."""
        self._flows.set()

    def _bind(self, port: int) -> socket.socket:
        """A socket that is bound and does not listen keeps its port and refuses connections."""
        bound = socket.socket()
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.bind(("127.0.0.1", port))
        return bound

    def _accept(self) -> None:
        listener = self._listener
        with contextlib.suppress(OSError):
            while True:
                near, _ = listener.accept()
                far = socket.create_connection(self._target)
                self._open += [near, far]
                for source, sink in ((near, far), (far, near)):
                    threading.Thread(target=self._pass, args=(source, sink), daemon=True).start()

    def _pass(self, source: socket.socket, sink: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while data := source.recv(65536):
                self._flows.wait()
                sink.sendall(data)
        with contextlib.suppress(OSError):
            sink.shutdown(socket.SHUT_WR)
