"""The quota has a database server of its own: requests go on when it is stopped under load, and all of them are counted in the end."""

import concurrent.futures
import contextlib
import itertools
import threading
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

import pytest
from harness import Account, Api, Cluster, Gateway, RateLimit, Suite, eventually

_CLIENTS = 4
_REQUESTS = 320
_A_SECOND = 20
_STOPPED_SECONDS = 10.0
_LONGEST_SECONDS = 5.0  # a request is let through after 0.25 s; the rest is for a busy machine


@dataclass(frozen=True)
class _Answered:
    status: int
    at: float
    took: float


class _SteadyLoad:
    """So many requests a second at alternating gateways, each client with connections of its own."""

    def __init__(self, gateways: list[Gateway], key: str) -> None:
        self._gateways = gateways
        self._key = key
        self._due = itertools.count()
        self._began = time.monotonic()
        self.answers: list[_Answered] = []

    def send_all(self) -> None:
        """Returns when the last request was answered; fails when one was not."""
        self._began = time.monotonic()
        with concurrent.futures.ThreadPoolExecutor(_CLIENTS) as pool:
            for done in [pool.submit(self._work) for _ in range(_CLIENTS)]:
                done.result()

    def _work(self) -> None:
        apis = [Api(f"http://{gateway.address}", self._key) for gateway in self._gateways]
        pause = threading.Event()
        while (number := next(self._due)) < _REQUESTS:
            pause.wait(max(0.0, self._began + number / _A_SECOND - time.monotonic()))
            sent = time.monotonic()
            status = apis[number % len(apis)].call("GET", "/v1/domains").status_code
            self.answers.append(_Answered(status, time.monotonic(), time.monotonic() - sent))


@dataclass(frozen=True)
class _Quota:
    """Gateways whose rate-limit replicas count in a cluster of their own."""

    database: Cluster
    gateways: list[Gateway]

    def let_through(self) -> float:
        """Requests that passed while nobody could count them."""
        return sum(gateway.metric("tempinbox_gateway_quota_let_through_total") for gateway in self.gateways)

    def owed(self) -> float:
        """Those of them that are not counted yet."""
        return sum(gateway.metric("tempinbox_gateway_quota_owed_requests") for gateway in self.gateways)

    def counted(self, account: Account) -> tuple[int, int]:
        """Units used, and units that replicas hold unspent, as stored."""
        which = f"FROM quota.days WHERE account_id = '{account.account_id}'"
        used, outstanding = self.database.query(f"SELECT coalesce(sum(used), 0), coalesce(sum(outstanding), 0) {which}").split("|")
        return int(used), int(outstanding)


@pytest.fixture
def quota(suite: Suite) -> Iterator[_Quota]:
    """Two replicas of each service."""
    with contextlib.ExitStack() as running:
        database = running.enter_context(Cluster(suite, "quota"))
        counting = [running.enter_context(RateLimit(suite, database=database.dsn)) for _ in range(2)]
        addresses = ",".join(each.address for each in counting)
        yield _Quota(database, [running.enter_context(Gateway(suite, rate_limit_rpc=addresses)) for _ in range(2)])


def test_ten_seconds_without_the_quota_database_refuse_nobody_and_every_request_is_counted_once(quota: _Quota, pro: Account) -> None:
    load = _SteadyLoad(quota.gateways, pro.key)
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        sending = pool.submit(load.send_all)
        eventually(lambda: len(load.answers) >= 2 * _A_SECOND, "requests flow")
        assert quota.let_through() == 0
        quota.database.crash()
        stopped = time.monotonic()
        eventually(lambda: time.monotonic() - stopped >= _STOPPED_SECONDS, "it was stopped for long enough")
        before = quota.let_through()
        started = time.monotonic()
        quota.database.start()
        sending.result(timeout=60)

    assert Counter(answer.status for answer in load.answers) == {200: _REQUESTS}
    assert max(answer.took for answer in load.answers) < _LONGEST_SECONDS
    assert sum(stopped < answer.at < started for answer in load.answers) >= _STOPPED_SECONDS * _A_SECOND / 2, "they flow meanwhile"
    assert before > 0, "blocks at hand were used up, so that requests were let through"
    eventually(lambda: quota.owed() == 0 and quota.counted(pro) == (_REQUESTS, 0), "all are counted, none twice", seconds=40)
    shown = [Api(f"http://{gateway.address}", pro.key).get("/v1/account")["usage"]["requestsToday"] for gateway in quota.gateways]
    assert shown == [_REQUESTS + 1, _REQUESTS + 2]
