"""Any replica of a service will do: what one has changed, the others know."""

import itertools
from collections.abc import Iterator

import pytest
import requests
from harness import Account, Api, Suite, in_force, in_time, send, status_is


def _at_each_gateway(suite: Suite, account: Account) -> list[Api]:
    return [Api(url, account.key) for url in suite.of_each("gateway", "URL")]


def _mail_servers(suite: Suite) -> list[str]:
    return [url.removeprefix("smtp://") for url in suite.of_each("mail-ingest", "URL")]


def test_what_one_gateway_made_all_show(suite: Suite, account: Account) -> None:
    gateways = _at_each_gateway(suite, account)

    made = [gateway.new_inbox() for gateway in gateways]

    for gateway, inbox in itertools.product(gateways, made):
        assert gateway.get("/v1/inboxes/" + inbox["inboxId"]) == inbox


def test_a_new_inbox_takes_mail_from_every_server_at_once(suite: Suite, api: Api) -> None:
    inbox = api.new_inbox()

    sent = [send(suite, inbox["emailAddress"], server=server) for server in _mail_servers(suite)]

    assert all(each.is_accepted for each in sent)
    emails = api.get(f"/v1/inboxes/{inbox['inboxId']}/emails")["emails"]
    assert [email["emailId"] for email in reversed(emails)] == [each.email_id for each in sent]


def test_an_ended_inbox_takes_mail_from_no_server(suite: Suite, api: Api) -> None:
    inbox = api.new_inbox()
    for server in _mail_servers(suite):
        assert send(
            suite, inbox["emailAddress"], server=server
        ).is_accepted  # now it is in each server's cache

    api.delete("/v1/inboxes/" + inbox["inboxId"])

    for server in _mail_servers(suite):
        sent = send(suite, inbox["emailAddress"], server=server)
        assert not sent.is_accepted
        assert "550 5.1.1" in sent.transcript


def test_a_revoked_key_is_refused_by_every_gateway_within_a_second(
    suite: Suite, account: Account
) -> None:
    gateways = _at_each_gateway(suite, account)
    for gateway in gateways:
        gateway.get("/v1/domains")
    (key,) = suite.operate("key", "list", account.account_id)["keys"]

    suite.operate("key", "revoke", account.account_id, key["keyId"])

    in_force(gateways, status_is(401), "the key is refused")


@pytest.fixture
def seven_a_day(suite: Suite) -> Iterator[str]:
    """A plan that allows seven requests a day."""
    (plan,) = (row for row in suite.operate("plan", "list")["plans"] if row["plan"] == "business")
    suite.operate("plan", "set", "business", "--requests-per-day", "7")
    yield "business"
    suite.operate("plan", "set", "business", "--requests-per-day", str(plan["requestsPerDay"]))


def test_the_daily_limit_is_exact_over_all_gateways(suite: Suite, seven_a_day: str) -> None:
    def attempt() -> list[requests.Response]:
        gateways = itertools.cycle(_at_each_gateway(suite, Account.make(suite, plan=seven_a_day)))
        return [gateway.call("GET", "/v1/domains") for gateway in itertools.islice(gateways, 9)]

    answers = in_time(suite, attempt)

    assert [answer.status_code for answer in answers] == [200] * 7 + [429] * 2
    assert [answer.headers["X-RateLimit-Remaining"] for answer in answers] == [
        "6",
        "5",
        "4",
        "3",
        "2",
        "1",
        "0",
        "0",
        "0",
    ]
    assert {answer.headers["X-RateLimit-Limit"] for answer in answers} == {"7"}
    assert answers[-1].json()["error"] == "Too Many Requests"


def test_the_daily_limit_is_exact_over_a_restart(suite: Suite, seven_a_day: str) -> None:
    def attempt() -> list[int]:
        api = Account.make(suite, plan=seven_a_day).api
        statuses = [api.call("GET", "/v1/domains").status_code for _ in range(4)]
        Suite.dev("restart", "rate-limit")
        return statuses + [api.call("GET", "/v1/domains").status_code for _ in range(5)]

    assert in_time(suite, attempt) == [200] * 7 + [429] * 2
