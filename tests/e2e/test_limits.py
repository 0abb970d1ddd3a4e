"""The plan's number of live inboxes, exact whoever asks at once; addresses and who may have
them.
"""

import re
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import requests
from harness import Account, Api, Suite, eventually, outcome

PARALLEL = 100


def _call(account: Account, method: str, path: str) -> requests.Response:
    """Past the plan's calls a second the answer is 429, which decides nothing: once more."""
    return eventually(
        lambda: [answer] if (answer := account.api.call(method, path)).status_code != 429 else None,
        f"{method} {path} is answered",
    )[0]


def test_of_a_hundred_calls_for_the_last_place_one_passes(suite: Suite) -> None:
    account = Account.make(suite, "pass7")
    limit = _call(account, "GET", "/v1/account").json()["limits"]["liveInboxes"]
    made = [_call(account, "POST", "/v1/inboxes").json()["inboxId"] for _ in range(limit - 1)]

    def ask(_number: int) -> int:
        return _call(
            replace(account, api=Api(suite["API"], account.key)), "POST", "/v1/inboxes"
        ).status_code

    with ThreadPoolExecutor(PARALLEL) as pool:
        statuses = list(pool.map(ask, range(PARALLEL)))

    assert (statuses.count(201), statuses.count(403)) == (1, PARALLEL - 1)
    assert _call(account, "GET", "/v1/account").json()["usage"]["liveInboxes"] == limit
    refused = _call(account, "POST", "/v1/inboxes").json()["message"]
    assert f"All {limit} live inboxes" in refused
    assert "DELETE /v1/inboxes/{inboxId}" in refused
    _call(account, "DELETE", "/v1/inboxes/" + made[0])
    assert _call(account, "POST", "/v1/inboxes").status_code == 201


def test_a_plan_has_its_number_of_webhooks(suite: Suite) -> None:
    account = Account.make(suite, "pass7")
    hook = {"url": "http://127.0.0.1:49151/hook"}

    answers = [account.api.call("POST", "/v1/webhooks", json=hook) for _ in range(2)]

    assert [outcome(answer) for answer in answers] == [(201, ""), (403, "webhook_limit")]


def test_random_addresses_read_well_and_do_not_repeat(account: Account) -> None:
    locals_ = [account.api.new_inbox()["emailAddress"].partition("@")[0] for _ in range(20)]

    assert len(set(locals_)) == 20
    for local in locals_:
        assert re.fullmatch(r"[a-z]{6}-[a-z]{6}-[a-z]{6}-\d\d", local), local


def test_taken_quarantined_and_reserved_addresses_have_one_text(
    account: Account, other_account: Account
) -> None:
    inbox = account.api.new_inbox()
    local = inbox["emailAddress"].partition("@")[0]

    def text(who: Account, local_part: str) -> str:
        answer = who.api.call("POST", "/v1/inboxes", json={"localPart": local_part})
        assert answer.status_code == 409, answer.text
        return str(answer.json()["message"]).replace(local_part, "…")

    taken = text(other_account, local)
    account.api.delete("/v1/inboxes/" + inbox["inboxId"])

    assert taken == text(other_account, local) == text(account, local) == text(account, "abuse")
