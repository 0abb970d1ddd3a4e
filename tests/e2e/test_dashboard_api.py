"""Tests what a session opens: operations of the API, keys, events; for its own account alone."""

import itertools
import threading
import uuid
from collections.abc import Callable
from typing import Any

import pytest
import requests
from harness import (
    Api,
    Dashboard,
    Gateway,
    Suite,
    User,
    eventually,
    in_force,
    outcome,
    send,
    status_is,
)
from harness.dashboard import ROOT

_NOBODY = "01934f2e-7b1c-7d3a-9f00-5a1b2c3d4e5f"


@pytest.fixture(scope="module")
def user(suite: Suite) -> User:
    """Makes a user on Premium."""
    return User.make(suite)


@pytest.fixture(scope="module")
def free(suite: Suite) -> User:
    """Makes a user on Free."""
    return User.make(suite, plan="free")


def test_inboxes_and_mail_work_without_api_access(suite: Suite, free: User) -> None:
    dashboard = free.dashboard
    answer = dashboard.call("POST", "/inboxes", json={"name": "first"})
    assert answer.status_code == 201
    inbox = answer.json()
    assert answer.headers["Location"] == f"{ROOT}/inboxes/{inbox['inboxId']}"

    send(suite, inbox["emailAddress"], subject="hello", body="Your code is 481516")
    (summary,) = eventually(
        lambda: dashboard.get(f"/inboxes/{inbox['inboxId']}/emails")["emails"], "the mail is listed"
    )

    email = dashboard.get(f"/emails/{summary['emailId']}")
    assert email["codes"][0]["value"] == "481516"
    assert dashboard.patch(f"/emails/{summary['emailId']}", {"isRead": True})["isRead"] is True
    full = dashboard.call("POST", "/inboxes", json={})
    assert outcome(full) == (403, "inbox_limit")
    assert dashboard.delete(f"/inboxes/{inbox['inboxId']}") == {
        "inboxId": inbox["inboxId"],
        "deleted": True,
    }


def test_lists_are_read_from_either_end(suite: Suite, user: User) -> None:
    inbox = user.dashboard.post("/inboxes", {"tags": ["order"]})
    sent = [send(suite, inbox["emailAddress"]).email_id for _ in range(2)]
    newer = user.dashboard.post("/inboxes", {"tags": ["order"]})

    emails = user.dashboard.get(f"/inboxes/{inbox['inboxId']}/emails", order="asc")["emails"]
    inboxes = user.dashboard.get("/inboxes", tag="order", order="asc")["inboxes"]

    assert [row["emailId"] for row in emails] == sent
    assert [row["inboxId"] for row in inboxes] == [inbox["inboxId"], newer["inboxId"]]


def test_the_plans_are_listed_with_their_prices(suite: Suite, free: User) -> None:
    offered = {plan.pop("plan"): plan for plan in free.dashboard.get("/plans")["plans"]}

    assert {name: plan["price"] for name, plan in offered.items()} == {
        "free": {"amount": "0", "period": "none"},
        "starter": {"amount": "3", "period": "month"},
        "pass7": {"amount": "2", "period": "once"},
        "pro": {"amount": "7", "period": "month"},
        "business": {"amount": "15", "period": "month"},
        "premium": {"amount": "29", "period": "month"},
    }
    assert offered["free"]["limits"] == free.dashboard.get("/session")["limits"]
    listed = {plan["plan"]: plan for plan in suite.operate("plan", "list")["plans"]}
    assert {
        name: {"amount": plan["priceAmount"], "period": plan["pricePeriod"]}
        for name, plan in listed.items()
    } == {name: plan["price"] for name, plan in offered.items()}


def test_the_operator_changes_a_price(suite: Suite, free: User) -> None:
    changed = suite.operate("plan", "set", "starter", "--price-amount", "4.90")
    try:
        assert (changed["priceAmount"], changed["pricePeriod"]) == ("4.9", "month")
        prices = {plan["plan"]: plan["price"] for plan in free.dashboard.get("/plans")["plans"]}
        assert prices["starter"] == {"amount": "4.9", "period": "month"}
    finally:
        suite.operate("plan", "set", "starter", "--price-amount", "3")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("amount", "-1"),
        ("amount", "4.999"),
        ("amount", "4."),
        ("amount", "four"),
        ("amount", "123456789"),
        ("period", "year"),
    ],
)
def test_a_price_that_is_none_is_refused(suite: Suite, name: str, value: str) -> None:
    with pytest.raises(AssertionError, match=f"--price-{name} must be"):
        suite.operate("plan", "set", "starter", f"--price-{name}={value}")


def test_nothing_here_counts_against_the_day(user: User) -> None:
    before = user.dashboard.get("/account")["usage"]["requestsToday"]
    for _ in range(5):
        user.dashboard.get("/inboxes")

    assert user.dashboard.get("/account")["usage"]["requestsToday"] == before


def test_the_day_s_use_is_what_the_keys_used(suite: Suite, user: User) -> None:
    key = user.dashboard.post("/keys", {"label": "counted"})
    before = user.dashboard.get("/account")["usage"]["requestsToday"]
    api = Api(suite["API"], key["key"])
    for _ in range(3):
        api.get("/v1/domains")

    eventually(
        lambda: user.dashboard.get("/account")["usage"]["requestsToday"] == before + 3,
        "three requests are shown",
    )
    days = user.dashboard.get("/account/usage")["days"]
    assert len(days) == 30
    assert days[0]["requests"] == before + 3
    user.dashboard.delete(f"/keys/{key['keyId']}")


def test_a_key_is_shown_once_works_and_is_refused_everywhere_when_revoked(
    suite: Suite, user: User
) -> None:
    made = user.dashboard.post("/keys", {"label": "CI <b>"})
    shown = {"keyId", "label", "prefix", "createdAt", "lastUsedAt", "isActive", "isSuspended"}
    shown |= {"scopes", "tag", "expiresAt", "isExpired"}
    assert set(made) == shown | {"key"}
    assert made["key"].startswith(made["prefix"])
    (listed,) = (
        key for key in user.dashboard.get("/keys")["keys"] if key["keyId"] == made["keyId"]
    )
    assert listed == {name: value for name, value in made.items() if name != "key"}

    with Gateway(suite) as second:
        everywhere = [Api(suite["API"], made["key"]), Api(f"http://{second.address}", made["key"])]
        assert [api.call("GET", "/v1/domains").status_code for api in everywhere] == [200, 200]
        assert user.dashboard.delete(f"/keys/{made['keyId']}") == {
            "keyId": made["keyId"],
            "deleted": True,
        }
        in_force(everywhere, status_is(401), "the key is refused")
    assert user.dashboard.call("DELETE", f"/keys/{made['keyId']}").status_code == 404


def test_the_plan_says_how_many_keys_there_are(suite: Suite, free: User) -> None:
    none = free.dashboard.call("POST", "/keys", json={"label": "x"})
    assert none.status_code == 403
    assert "free" in none.json()["message"]

    pro = User.make(suite, plan="pro")
    pro.dashboard.post("/keys", {"label": "one"})
    two = pro.dashboard.call("POST", "/keys", json={"label": "two"})
    assert outcome(two) == (403, "key_limit")


def test_a_key_says_when_it_was_last_used(suite: Suite, user: User) -> None:
    made = user.dashboard.post("/keys", {"label": "used"})
    Api(suite["API"], made["key"]).get("/v1/domains")

    def last_used() -> Any:
        return next(
            key["lastUsedAt"]
            for key in user.dashboard.get("/keys")["keys"]
            if key["keyId"] == made["keyId"]
        )

    eventually(last_used, "its last use is shown", seconds=20)
    user.dashboard.delete(f"/keys/{made['keyId']}")


def test_the_same_idempotency_key_makes_the_same_inbox(user: User) -> None:
    headers: dict[str, str | None] = {"Idempotency-Key": uuid.uuid4().hex}

    first = user.dashboard.call("POST", "/inboxes", headers=headers, json={})
    again = user.dashboard.call("POST", "/inboxes", headers=headers, json={})

    assert first.json() == again.json()
    assert again.headers["Idempotency-Replayed"] == "true"


def test_a_pass_that_ended_is_free(suite: Suite) -> None:
    someone = User.make(suite, plan="pass7")
    key = someone.dashboard.post("/keys", {"label": "for a week"})
    api = Api(suite["API"], key["key"])
    assert someone.dashboard.get("/session")["planEndsAt"] is not None
    assert api.call("GET", "/v1/domains").status_code == 200

    suite.operate(
        "account",
        "set-plan",
        someone.account_id,
        "--plan",
        "pass7",
        "--ends-at",
        "2026-01-01T00:00:00Z",
    )

    session = eventually(
        lambda: (it := someone.dashboard.get("/session"))["plan"] == "free" and it,
        "the pass has ended",
    )
    assert session["limits"]["apiKeys"] == 0
    in_force([api], status_is(403), "its key waits for another plan")
    assert someone.dashboard.get("/keys")["keys"][0]["isActive"] is False


def test_mail_is_announced_to_its_account_alone(suite: Suite, user: User, free: User) -> None:
    mine = user.dashboard.post("/inboxes", {})
    with user.dashboard.events() as own, free.dashboard.events() as other:
        assert next(own).name == next(other).name == "ready"
        send(suite, mine["emailAddress"], subject="news")

        event = next(event for event in own if event.data.get("inboxId") == mine["inboxId"])
        assert event.name == "email.received"
        assert (event.data["subject"], event.data["sequence"]) == ("news", 1)
        assert event.identity == event.data["emailId"]

        theirs = free.dashboard.post("/inboxes", {})
        send(suite, theirs["emailAddress"], subject="for free")
        seen = next(event for event in other if event.name == "email.received")
        assert seen.data["subject"] == "for free"
        free.dashboard.delete(f"/inboxes/{theirs['inboxId']}")


def test_a_stream_needs_a_session_and_there_are_eight(suite: Suite) -> None:
    someone = User.make(suite, plan="free")
    assert Dashboard(suite["API"]).call("GET", "/events").status_code == 401
    streams = [someone.dashboard.events() for _ in range(8)]
    for stream in streams:
        stream.__enter__()

    assert outcome(someone.dashboard.call("GET", "/events")) == (429, "stream_limit")

    for stream in streams:
        stream.__exit__(None, None, None)
    eventually(lambda: _opens(someone.dashboard), "streams that were left can be opened again")


def _opens(dashboard: Dashboard) -> bool:
    with dashboard.browser.get(
        dashboard.base + ROOT + "/events", stream=True, timeout=30
    ) as answer:
        return answer.status_code == 200


def test_a_stream_ends_when_its_gateway_drains(suite: Suite, free: User) -> None:
    with Gateway(suite) as gateway:
        visitor = Dashboard(f"http://{gateway.address}")
        visitor.sign_in(free.email, free.password)
        with visitor.events() as events:
            assert next(events).name == "ready"
            gateway.terminate()
            assert list(itertools.islice(events, 5)) == []


def _reset_password(suite: Suite, user: User) -> None:
    link = suite.operate(
        "account", "reset-password", user.email, "--dashboard", "https://mail.example/dashboard/"
    )
    body = {"token": link["token"], "newPassword": "a new password"}
    Dashboard(suite["API"]).post("/password-resets/confirm", body)


def _change_password(_suite: Suite, user: User) -> None:
    body = {"currentPassword": user.password, "newPassword": "a new password"}
    user.dashboard.post("/account/password", body)


_ENDS_OF_A_SESSION = {
    "sign-out": lambda _suite, user: user.dashboard.delete("/session"),
    "sign-out everywhere": lambda _suite, user: user.dashboard.delete("/sessions"),
    "a new password": _change_password,
    "a reset of the password": _reset_password,
}


@pytest.mark.parametrize("end", _ENDS_OF_A_SESSION.values(), ids=_ENDS_OF_A_SESSION.keys())
def test_a_stream_tells_nothing_more_once_its_session_ended_at_its_gateway(
    suite: Suite, end: Callable[[Suite, User], None]
) -> None:
    someone = User.make(suite, plan="free")
    inbox = someone.dashboard.post("/inboxes", {})
    with someone.dashboard.events() as events:
        assert next(events).name == "ready"
        end(suite, someone)

        send(suite, inbox["emailAddress"], subject="not for whoever was signed out")

        assert list(itertools.islice(events, 5)) == []


def test_a_stream_ends_soon_after_its_session_ended_elsewhere_whatever_mail_comes(
    suite: Suite,
) -> None:
    someone = User.make(suite, plan="premium")
    inbox = someone.dashboard.post("/inboxes", {})
    elsewhere = Dashboard(suite.of_each("gateway", "URL")[1])
    elsewhere.sign_in(someone.email, someone.password)
    with someone.dashboard.events() as events:
        assert next(events).name == "ready"
        reader = threading.Thread(target=list, args=(events,))
        reader.start()
        elsewhere.delete("/sessions")

        def has_ended_though_mail_comes() -> bool:
            send(suite, inbox["emailAddress"], subject="more")
            return not reader.is_alive()

        eventually(has_ended_though_mail_comes, "the stream has ended", seconds=25.0)


def test_a_stream_ends_soon_after_its_account_was_deleted(suite: Suite) -> None:
    someone = User.make(suite, plan="free")
    with someone.dashboard.events() as events:
        assert next(events).name == "ready"
        seen: list[Any] = []
        reader = threading.Thread(target=lambda: seen.extend(events))
        reader.start()

        suite.operate("account", "delete", someone.account_id)

        # The gateway asks for the session every 15 s; a second time would be too late.
        eventually(lambda: not reader.is_alive(), "the stream has ended", seconds=20.0)
        assert seen == []
    assert someone.dashboard.call("GET", "/events").status_code == 401


@pytest.mark.parametrize("token", [None, "", "wrong", "A" * 43])
@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("POST", "/inboxes"),
        ("DELETE", "/inboxes?tag=x"),
        ("POST", "/keys"),
        ("DELETE", "/session"),
        ("PATCH", f"/emails/{_NOBODY}"),
    ],
)
def test_no_change_without_the_session_s_csrf_token(
    user: User, method: str, path: str, token: str | None
) -> None:
    answer = user.dashboard.call(method, path, headers={"X-CSRF-Token": token}, json={})

    assert answer.status_code == 403
    assert answer.json()["code"] == (
        "csrf_token_missing" if token is None else "csrf_token_mismatch"
    )


def test_another_session_s_csrf_token_is_wrong(user: User, free: User) -> None:
    answer = user.dashboard.call(
        "POST", "/inboxes", headers={"X-CSRF-Token": free.dashboard.csrf}, json={}
    )

    assert (answer.status_code, answer.json()["code"]) == (403, "csrf_token_mismatch")


@pytest.mark.parametrize(
    "headers",
    [
        {"Sec-Fetch-Site": None},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
        {"Sec-Fetch-Site": "none"},
        {"Sec-Fetch-Site": None, "Origin": "https://evil.example"},
        {"Sec-Fetch-Site": None, "Origin": "null"},
        {"Sec-Fetch-Site": "cross-site", "Origin": "https://evil.example"},
    ],
    ids=str,
)
@pytest.mark.parametrize("path", ["/session", "/accounts", "/password-resets/confirm"])
def test_nobody_is_signed_in_from_another_site(
    suite: Suite, path: str, headers: dict[str, str | None]
) -> None:
    answer = Dashboard(suite["API"]).call(
        "POST",
        path,
        headers=headers,
        json={"email": "a@example.com", "password": "a good password"},
    )

    assert answer.status_code == 403
    assert "Set-Cookie" not in answer.headers


def test_an_old_browser_says_by_its_origin_where_it_is(suite: Suite, free: User) -> None:
    answer = Dashboard(suite["API"]).call(
        "POST",
        "/session",
        headers={"Sec-Fetch-Site": None, "Origin": suite["API"]},
        json={"email": free.email, "password": free.password},
    )

    assert answer.status_code == 200


def test_no_other_origin_may_read_an_answer(suite: Suite, user: User) -> None:
    answer = user.dashboard.call("GET", "/inboxes", headers={"Origin": "https://evil.example"})

    assert not [name for name in answer.headers if name.lower().startswith("access-control-")]
    assert answer.headers["Cross-Origin-Resource-Policy"] == "same-origin"
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    preflight = {"Origin": "https://evil.example", "Access-Control-Request-Method": "POST"}
    assert (
        requests.options(
            suite["API"] + ROOT + "/inboxes", headers=preflight, timeout=30
        ).status_code
        == 401
    )
