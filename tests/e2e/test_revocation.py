"""A revoked key, a smaller plan: in force at every gateway within a second, also when PostgreSQL
stands still.
"""

import contextlib
import os
import re
import signal
import smtplib
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from harness import Account, Api, Gateway, Relay, Suite, eventually, in_force, status_is

_AT_ONCE = 1.0


def _server(dsn: str) -> tuple[str, int]:
    address = urlsplit(dsn)
    return str(address.hostname), int(address.port or 5432)


def _through(dsn: str, relay: Relay) -> str:
    return re.sub(r"@[^@/]+/", f"@127.0.0.1:{relay.port}/", dsn)


def _answers(api: Api, status: int) -> bool:
    return api.call("GET", "/v1/domains").status_code == status


@pytest.fixture
def relay(suite: Suite) -> Iterator[Relay]:
    """Starts a relay in front of the suite's PostgreSQL."""
    with Relay(_server(Gateway.settings_of(suite)["TEMPINBOX_DATABASE"])) as running:
        yield running


@pytest.fixture
def gateway(suite: Suite, relay: Relay) -> Iterator[Gateway]:
    """Starts a gateway that reaches PostgreSQL through the relay."""
    with Gateway(
        suite, database=_through(Gateway.settings_of(suite)["TEMPINBOX_DATABASE"], relay)
    ) as running:
        yield running


def _statuses(api: Api, seconds: float) -> list[tuple[float, int]]:
    """Returns the statuses of requests one after the other, each with when it was sent."""
    began = time.monotonic()
    seen = []
    while (sent := time.monotonic() - began) < seconds:
        seen.append((sent, api.call("GET", "/v1/domains").status_code))
    return seen


def test_a_revoked_key_is_not_taken_behind_a_connection_that_stands_still(
    suite: Suite, account: Account, gateway: Gateway, relay: Relay
) -> None:
    api = Api(f"http://{gateway.address}", account.key)
    (key,) = suite.operate("key", "list", account.account_id)["keys"]
    assert api.call("GET", "/v1/domains").status_code == 200

    relay.freeze()
    suite.operate("key", "revoke", account.account_id, key["keyId"])
    while_frozen = _statuses(api, 4.0)
    relay.thaw()
    after = _statuses(api, 2.0)

    assert {status for sent, status in while_frozen if sent >= _AT_ONCE} == {503}
    assert {status for _, status in after} <= {
        401,
        429,
        503,
    }  # 429: too many failures from this address
    eventually(
        lambda: api.call("GET", "/v1/domains").status_code in (401, 429), "it is refused for good"
    )


def test_a_smaller_plan_is_not_passed_behind_a_connection_that_stands_still(
    suite: Suite, account: Account, gateway: Gateway, relay: Relay
) -> None:
    api = Api(f"http://{gateway.address}", account.key)
    assert api.call("GET", "/v1/domains").status_code == 200

    relay.freeze()
    suite.operate("account", "set-plan", account.account_id, "--plan", "free")
    while_frozen = _statuses(api, 4.0)
    relay.thaw()
    after = _statuses(api, 2.0)

    assert {status for sent, status in while_frozen if sent >= _AT_ONCE} == {503}
    assert {status for _, status in after} <= {403, 503}
    eventually(lambda: api.call("GET", "/v1/domains").status_code == 403, "the plan has no API")


def test_a_plan_change_is_in_force_at_every_gateway_within_a_second(
    suite: Suite, account: Account
) -> None:
    gateways = [Api(url, account.key) for url in suite.of_each("gateway", "URL")]
    assert [it.call("GET", "/v1/domains").status_code for it in gateways] == [200] * len(gateways)

    suite.operate("account", "set-plan", account.account_id, "--plan", "starter")
    in_force(gateways, status_is(403), "a plan without API")

    suite.operate("account", "set-plan", account.account_id, "--plan", "premium")
    in_force(gateways, status_is(200), "a plan with API")


def test_a_7_day_pass_ends_by_itself_at_every_gateway(suite: Suite, account: Account) -> None:
    gateways = [Api(url, account.key) for url in suite.of_each("gateway", "URL")]
    ends = datetime.now(UTC) + timedelta(seconds=15)
    suite.operate(
        "account",
        "set-plan",
        account.account_id,
        "--plan",
        "pass7",
        "--ends-at",
        ends.isoformat().replace("+00:00", "Z"),
    )
    eventually(
        lambda: all(it.call("GET", "/v1/account").json().get("plan") == "pass7" for it in gateways),
        "the pass is in force",
    )

    def left() -> float:
        return (ends - datetime.now(UTC)).total_seconds()

    ended = time.monotonic() + left()
    for it in gateways:
        in_force([it], status_is(403), "the pass has ended", since=ended)
        assert left() <= 0


@contextlib.contextmanager
def _postgres_stopped(suite: Suite) -> Iterator[None]:
    """The server and its children stand still."""
    server = int(suite["POSTGRES_PID"])
    family = {server} | {
        int(stat.parent.name)
        for stat in Path("/proc").glob("[0-9]*/stat")
        if _parent(stat) == server
    }
    try:
        for process in family:
            with contextlib.suppress(ProcessLookupError):  # one of a connection that was closed
                os.kill(process, signal.SIGSTOP)
        yield
    finally:
        for process in family:
            with contextlib.suppress(ProcessLookupError):
                os.kill(process, signal.SIGCONT)


def _greets(server: str) -> bool:
    host, _, port = server.rpartition(":")
    try:
        with smtplib.SMTP(host, int(port), timeout=10):
            return True
    except smtplib.SMTPException:
        return False


def _parent(stat: Path) -> int:
    try:
        return int(stat.read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()[1])
    except OSError:
        return 0


@pytest.mark.last
def test_with_postgresql_stopped_no_gateway_gives_an_old_yes(
    suite: Suite, account: Account
) -> None:
    gateways = [Api(url, account.key) for url in suite.of_each("gateway", "URL")]
    for gateway in gateways:
        assert gateway.call("GET", "/v1/domains").status_code == 200

    with _postgres_stopped(suite):
        began = time.monotonic()
        seen = []
        while time.monotonic() - began < 8.0:
            seen += [
                (time.monotonic() - began, gateway.call("GET", "/v1/account"))
                for gateway in gateways
            ]
    assert {answer.status_code for sent, answer in seen if sent >= _AT_ONCE} == {503}
    assert {answer.json()["statusCode"] for sent, answer in seen if sent >= _AT_ONCE} == {503}

    for gateway in gateways:
        eventually(partial(_answers, gateway, 200), "it recovers by itself", seconds=30)
    for server in (url.removeprefix("smtp://") for url in suite.of_each("mail-ingest", "URL")):
        eventually(partial(_greets, server), "mail servers too", seconds=30)
