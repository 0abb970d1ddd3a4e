"""The quota has a database server of its own: requests go on when it is stopped under load, and all
of them are counted in the end.
"""

import concurrent.futures
import contextlib
import itertools
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

import pytest
from dev.waiting import delay_until
from harness import Account, Api, Cluster, Gateway, RateLimit, Suite, eventually, in_time

_CLIENTS = 4
_ACCOUNTS = 4
_OF_EACH = 80
_REQUESTS = _ACCOUNTS * _OF_EACH
_A_SECOND = 20
_STOPPED_SECONDS = 10.0
_MAX_SECONDS = 5.0  # a request is let through after 0.25 s; the rest is for a busy machine


@dataclass(frozen=True)
class _Answered:
    status: int
    at: float
    took: float


def _api(gateway: Gateway, account: Account) -> Api:
    return Api(f"http://{gateway.address}", account.key)


class _SteadyLoad:
    """Sends so many requests a second, of every account at every gateway in turn, each client with
    connections of its own.
    """

    def __init__(self, gateways: list[Gateway], accounts: list[Account]) -> None:
        self._gateways = gateways
        self._accounts = accounts
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
        # The request after one of the first account is of the second; a round later each comes to
        # the next gateway.
        apis = [_api(gateway, account) for gateway in self._gateways for account in self._accounts]
        while (number := next(self._due)) < _REQUESTS:
            delay_until(self._began + number / _A_SECOND)
            sent = time.monotonic()
            status = apis[number % len(apis)].call("GET", "/v1/domains").status_code
            self.answers.append(_Answered(status, time.monotonic(), time.monotonic() - sent))


@dataclass(frozen=True)
class _Quota:
    """Gateways whose rate-limit replicas count in a cluster of their own."""

    database: Cluster
    counting: list[RateLimit]
    gateways: list[Gateway]

    def let_through(self) -> float:
        """Requests that passed while nobody could count them."""
        return sum(
            gateway.metric("tempinbox_gateway_quota_fail_open_total") for gateway in self.gateways
        )

    def unreported(self) -> float:
        """Returns the number of them that are not counted yet."""
        return sum(
            gateway.metric("tempinbox_gateway_quota_unreported_requests")
            for gateway in self.gateways
        )

    def counted(self, account: Account) -> tuple[int, int]:
        """Units used, and units that replicas hold unspent, as stored."""
        which = f"FROM quota.days WHERE account_id = '{account.account_id}'"
        used, outstanding = self.database.query(
            f"SELECT coalesce(sum(used), 0), coalesce(sum(outstanding), 0) {which}"
        ).split("|")
        return int(used), int(outstanding)


@pytest.fixture
def accounts(suite: Suite, pro: Account) -> list[Account]:
    """Some, so that both replicas have their share; with a limit so low that a block at hand, 2 %
    of it, is used up in seconds.
    """
    suite.operate("plan", "set", "pro", "--requests-per-day", "1000")
    return [pro, *(Account.make(suite, plan="pro") for _ in range(_ACCOUNTS - 1))]


@pytest.fixture
def quota(suite: Suite) -> Iterator[_Quota]:
    """Two replicas of each service."""
    with contextlib.ExitStack() as running:
        database = running.enter_context(Cluster(suite, "quota"))
        counting = [
            running.enter_context(RateLimit(suite, database=database.dsn)) for _ in range(2)
        ]
        addresses = ",".join(each.address for each in counting)
        yield _Quota(
            database,
            counting,
            [running.enter_context(Gateway(suite, rate_limit_rpc=addresses)) for _ in range(2)],
        )


def test_ten_seconds_without_the_quota_database_refuse_nobody_and_every_request_is_counted_once(
    suite: Suite, accounts: list[Account], quota: _Quota
) -> None:
    load = _SteadyLoad(quota.gateways, accounts)
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        sending = pool.submit(load.send_all)
        eventually(lambda: len(load.answers) >= 2 * _A_SECOND, "requests flow")
        earlier = quota.let_through()
        quota.database.crash()
        stopped = time.monotonic()
        eventually(
            lambda: time.monotonic() - stopped >= _STOPPED_SECONDS, "it was stopped for long enough"
        )
        meanwhile = quota.let_through() - earlier
        started = time.monotonic()
        quota.database.start()
        sending.result(timeout=60)

    assert Counter(answer.status for answer in load.answers) == {200: _REQUESTS}
    assert max(answer.took for answer in load.answers) < _MAX_SECONDS
    assert (
        sum(stopped < answer.at < started for answer in load.answers)
        >= _STOPPED_SECONDS * _A_SECOND / 2
    ), "they flow meanwhile"
    assert meanwhile > 0, "what was at hand was used up, so that requests were let through"
    expected = [(_OF_EACH, 0)] * _ACCOUNTS
    eventually(
        lambda: [quota.counted(account) for account in accounts] == expected,
        "all are counted, none twice",
        seconds=40,
    )
    eventually(lambda: quota.unreported() == 0, "nothing is unreported")
    requests: Counter[str] = Counter()

    def usage(account: Account) -> list[tuple[int, int]]:
        """Requests as each gateway shows them, and as they are."""
        found = []
        for gateway in quota.gateways:
            requests[account.key] += 1
            shown = _api(gateway, account).get("/v1/account")["usage"]["requestsToday"]
            found.append((shown, _OF_EACH + requests[account.key]))
        return found

    for account in accounts:
        for shown, counted in in_time(suite, partial(usage, account), *quota.gateways):
            assert shown == counted


def test_what_was_let_through_outlives_the_replicas_it_was_told_to(
    suite: Suite, accounts: list[Account], quota: _Quota
) -> None:
    requests_of_each = 12
    quota.database.crash()
    for number in range(requests_of_each):
        for account in accounts:
            assert (
                _api(quota.gateways[number % 2], account).call("GET", "/v1/domains").status_code
                == 200
            )
    assert quota.let_through() == requests_of_each * len(accounts)
    for replica in quota.counting:
        replica.kill()
    quota.database.start()

    with contextlib.ExitStack() as running:
        for replica in quota.counting:
            running.enter_context(
                RateLimit(suite, database=quota.database.dsn, rpc_listen=replica.address)
            )
        expected = [(requests_of_each, 0)] * len(accounts)
        eventually(
            lambda: [quota.counted(account) for account in accounts] == expected,
            "all are counted, none twice",
            seconds=40,
        )
        eventually(lambda: quota.unreported() == 0, "nothing is unreported")
