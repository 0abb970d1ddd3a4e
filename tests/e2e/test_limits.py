"""The plan's number of live inboxes, exact whoever asks at once; addresses and who may have them."""

import re
from concurrent.futures import ThreadPoolExecutor

from harness import Account, Api, Suite, eventually

PARALLEL = 100


def test_of_a_hundred_calls_for_the_last_place_one_passes(suite: Suite) -> None:
    account = Account.make(suite, "pass7")
    limit = account.api.get("/v1/account")["limits"]["liveInboxes"]
    made = [account.api.new_inbox()["inboxId"] for _ in range(limit - 1)]

    def ask(_number: int) -> int:
        return Api(suite["API"], account.key).call("POST", "/v1/inboxes").status_code

    with ThreadPoolExecutor(PARALLEL) as pool:
        statuses = eventually(lambda: list(pool.map(ask, range(PARALLEL))), "all are answered")

    # Past the plan's calls a second the answer is 429, which asks for nothing.
    assert statuses.count(201) <= 1
    assert set(statuses) <= {201, 403, 429}
    eventually(lambda: account.api.call("POST", "/v1/inboxes").status_code == 403, "the last place is taken")
    assert account.api.get("/v1/account")["usage"]["liveInboxes"] == limit
    refused = eventually(lambda: _refusal(account), "the refusal")
    assert f"All {limit} live inboxes" in refused
    assert "DELETE /v1/inboxes/{inboxId}" in refused
    account.api.delete("/v1/inboxes/" + made[0])
    assert eventually(lambda: account.api.call("POST", "/v1/inboxes").status_code == 201, "a place is free")


def _refusal(account: Account) -> str | None:
    answer = account.api.call("POST", "/v1/inboxes")
    return str(answer.json()["message"]) if answer.status_code == 403 else None


def test_random_addresses_read_well_and_do_not_repeat(account: Account) -> None:
    locals_ = [account.api.new_inbox()["emailAddress"].partition("@")[0] for _ in range(20)]

    assert len(set(locals_)) == 20
    for local in locals_:
        assert re.fullmatch(r"[a-z]{6}-[a-z]{6}-[a-z]{6}-\d\d", local), local


def test_taken_quarantined_and_reserved_addresses_have_one_text(account: Account, other_account: Account) -> None:
    inbox = account.api.new_inbox()
    local = inbox["emailAddress"].partition("@")[0]

    def text(who: Account, wanted: str) -> str:
        answer = who.api.call("POST", "/v1/inboxes", json={"localPart": wanted})
        assert answer.status_code == 409, answer.text
        return str(answer.json()["message"]).replace(wanted, "…")

    taken = text(other_account, local)
    account.api.delete("/v1/inboxes/" + inbox["inboxId"])

    assert taken == text(other_account, local) == text(account, local) == text(account, "abuse")
