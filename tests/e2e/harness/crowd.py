"""Many clients at once, each with a connection of its own, for what only a crowd can break."""

import concurrent.futures
import http.client
import itertools
import threading
from collections.abc import Callable
from dataclasses import dataclass
from urllib.parse import urlsplit

_TRIES = 100


@dataclass(frozen=True)
class Answered:
    """The part of an answer that a client needs to know."""

    status: int
    remaining: int


class Crowd:
    """`clients` threads that send GETs to the given gateways in turn, until `count` were answered.

    A connection that a gateway closes on its way out is opened again, at the next one.
    """

    def __init__(
        self, gateways: list[str], key: str, path: str = "/v1/domains", clients: int = 64
    ) -> None:
        self._hosts = [urlsplit(gateway).netloc for gateway in gateways]
        self._key = key
        self._path = path
        self._clients = clients
        self._numbers = itertools.count()
        self._lock = threading.Lock()
        self._answers: list[Answered] = []
        self._milestones: dict[int, Callable[[], None]] = {}

    def at(self, answers: int, act: Callable[[], None]) -> None:
        """Runs `act` on a client's thread once so many were answered."""
        self._milestones[answers] = act

    def send(self, count: int) -> list[Answered]:
        """All answers, in the order they came."""
        with concurrent.futures.ThreadPoolExecutor(self._clients) as pool:
            for done in [pool.submit(self._work, client, count) for client in range(self._clients)]:
                done.result()
        return self._answers

    def _work(self, client: int, count: int) -> None:
        turns = itertools.cycle(
            self._hosts[client % len(self._hosts) :] + self._hosts[: client % len(self._hosts)]
        )
        connection = http.client.HTTPConnection(next(turns), timeout=30)
        while next(self._numbers) < count:
            for _ in range(_TRIES):
                try:
                    connection.request("GET", self._path, headers={"X-API-Key": self._key})
                    answer = connection.getresponse()
                    answer.read()
                    break
                except (ConnectionError, http.client.HTTPException):
                    connection.close()
                    connection = http.client.HTTPConnection(next(turns), timeout=30)
            else:
                raise AssertionError("no gateway answers")
            self._note(Answered(answer.status, int(answer.headers["X-RateLimit-Remaining"])))
        connection.close()

    def _note(self, answered: Answered) -> None:
        with self._lock:
            self._answers.append(answered)
            act = self._milestones.pop(len(self._answers), None)
        if act:
            act()
