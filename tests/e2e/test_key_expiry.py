"""A key ends at its moment, exactly and at every gateway."""

import time
from datetime import UTC, datetime, timedelta

from harness import Account, Api, Suite, User, eventually, in_force, outcome, status_is

_LIFE = 10.0  # seconds: a busy machine takes some of them to make the key
_MORE = 15.0  # seconds for the last looks; each is judged by when it was sent


def _text(moment: datetime) -> str:
    return moment.isoformat().replace("+00:00", "Z")


def test_a_key_is_refused_by_every_gateway_from_its_end_on(suite: Suite, account: Account) -> None:
    ends = datetime.now(UTC) + timedelta(seconds=_LIFE)
    key = suite.operate(
        "key", "create", account.account_id, "--label", "short", "--expires-at", _text(ends)
    )["key"]
    gateways = [Api(url, key) for url in suite.of_each("gateway", "URL")]
    seen: list[tuple[float, float, int]] = []

    def refused_by_all() -> bool:
        statuses = []
        for gateway in gateways:
            sent = datetime.now(UTC)
            status = gateway.call("GET", "/v1/domains").status_code
            seen.append(
                (
                    (sent - ends).total_seconds(),
                    (datetime.now(UTC) - ends).total_seconds(),
                    status,
                )
            )
            statuses.append(status)
        return set(statuses) == {401}

    eventually(refused_by_all, "it has ended", seconds=_LIFE + _MORE)

    # 503: PostgreSQL was late.
    assert [status for sent, _, status in seen if sent >= 0 and status not in (401, 503)] == []
    assert [status for _, came, status in seen if came < 0 and status not in (200, 503)] == []
    assert any(status == 200 for _, _, status in seen)
    answer = gateways[0].call("GET", "/v1/domains")
    assert answer.json()["message"] == "X-API-Key is not a valid API key"


def test_an_expired_key_is_shown_and_leaves_its_place(suite: Suite) -> None:
    user = User.make(suite, plan="pro")  # one key
    ends = datetime.now(UTC) + timedelta(seconds=_LIFE)
    user.dashboard.post("/keys", {"label": "short", "expiresAt": _text(ends)})
    refused = user.dashboard.call("POST", "/keys", json={"label": "next"})
    assert outcome(refused) == (403, "key_limit")

    eventually(
        lambda: user.dashboard.get("/keys")["keys"][0]["isExpired"],
        "it has ended",
        seconds=_LIFE + _MORE,
    )
    made = user.dashboard.post("/keys", {"label": "next"})

    assert Api(suite["API"], made["key"]).call("GET", "/v1/domains").status_code == 200
    old, new = user.dashboard.get("/keys")["keys"]
    assert (old["isActive"], old["isExpired"]) == (False, True)
    assert (new["isActive"], new["isExpired"]) == (True, False)


def test_a_key_becomes_active_when_an_older_one_ends(suite: Suite, account: Account) -> None:
    """The plan shrank before; nothing is published when a key ends."""
    key = suite.operate("key", "list", account.account_id)["keys"][0]["keyId"]
    # Four commands come before the first look.
    ends = datetime.now(UTC) + timedelta(seconds=2 * _LIFE)
    suite.operate(
        "key", "create", account.account_id, "--label", "older", "--expires-at", _text(ends)
    )
    newer = suite.operate("key", "create", account.account_id, "--label", "newer")["key"]
    suite.operate("key", "revoke", account.account_id, key)
    suite.operate("account", "set-plan", account.account_id, "--plan", "pro")
    gateways = [Api(url, newer) for url in suite.of_each("gateway", "URL")]

    eventually(
        lambda: (
            {outcome(it.call("GET", "/v1/domains")) for it in gateways} == {(403, "key_inactive")}
        ),
        "the plan has room for the older one alone",
    )
    ended = time.monotonic() + (ends - datetime.now(UTC)).total_seconds()
    in_force(gateways, status_is(200), "the older one has ended", since=ended)
    assert datetime.now(UTC) >= ends
