"""The endpoint of a chaos run: keeps what it got, and fails now and then as receivers do."""

import asyncio
import contextlib
import threading
import zlib
from collections import Counter
from typing import Self

_HANG_SECONDS = 20.0  # longer than anybody waits for it
_ANSWERS = {
    204: b"HTTP/1.1 204 No Content\r\n\r\n",
    500: b"HTTP/1.1 500 Internal Server Error\r\nContent-Length: 0\r\n\r\n",
}
_OF = 1000
_FAILED, _CLOSED, _SILENT = (
    30,
    45,
    46,
)  # of so many: answered 500, cut off, never answered; each at its first attempt only


class Receiver:
    """Answers on loopback unless told where, in a thread of its own.

    Which deliveries fail at first depends on their id and the seed; without `fails` none does. Use
    as a context manager.
    """

    def __init__(
        self, seed: int, fails: bool = True, host: str = "127.0.0.1", port: int = 0
    ) -> None:
        self._seed = seed
        self._address = (host, port)
        self._fails = fails
        self._loop = asyncio.new_event_loop()
        self._end = asyncio.Event()
        self._started = threading.Event()
        self._lock = threading.Lock()
        self._tries: Counter[tuple[str, str]] = Counter()
        self._taken: Counter[tuple[str, str]] = Counter()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self.url = ""

    def __enter__(self) -> Self:
        self._thread.start()
        self._started.wait()
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._end.set)
        self._thread.join()

    def taken(self) -> Counter[tuple[str, str]]:
        """Counts how often each delivery, by path and `webhook-id`, was answered 204."""
        with self._lock:
            return self._taken.copy()

    def tries(self) -> int:
        """All requests, whatever was answered."""
        with self._lock:
            return self._tries.total()

    def _run(self) -> None:
        self._loop.run_until_complete(self._receive())

    async def _receive(self) -> None:
        host, port = self._address
        server = await asyncio.start_server(self._serve, host, port, backlog=1024)
        self.url = f"http://{host}:{server.sockets[0].getsockname()[1]}"
        self._started.set()
        await self._end.wait()
        server.close()
        serving = asyncio.all_tasks() - {asyncio.current_task()}
        for task in serving:
            task.cancel()
        await asyncio.gather(*serving, return_exceptions=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError, EOFError, asyncio.CancelledError):
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode("ascii").split("\r\n")
                headers = {
                    name.lower(): value.strip()
                    for name, _, value in (line.partition(":") for line in head[1:])
                }
                await reader.readexactly(int(headers["content-length"]))
                status = self._judge(head[0].split()[1], headers["webhook-id"])
                if status == 0:
                    await asyncio.sleep(_HANG_SECONDS)
                if status not in _ANSWERS:
                    break
                writer.write(_ANSWERS[status])
        writer.close()

    def _judge(self, path: str, event: str) -> int:
        """The status; 0 to be silent, 1 to close."""
        key = (path, event)
        luck = zlib.crc32(f"{self._seed} {event}".encode()) % _OF
        with self._lock:
            self._tries[key] += 1
            if self._fails and self._tries[key] == 1 and luck < _SILENT:
                return 500 if luck < _FAILED else 1 if luck < _CLOSED else 0
            self._taken[key] += 1
            return 204
