"""Wrong requests, mail and settings are answered with what is wrong, where, and what is allowed."""

import re
import subprocess
import time
import uuid
from typing import Any

import pytest
import requests
from harness import Account, Api, Suite, in_force, in_time, send, status_is
from harness.suite import ROOT

SERVICES = ["gateway", "inbox", "mail-ingest", "rate-limit", "webhook-dispatcher"]


def _assert_error(answer: requests.Response, status: int, name: str, *mentions: str) -> None:
    """The one error body, with everything mentioned in its message."""
    assert answer.status_code == status, answer.text
    body: dict[str, Any] = answer.json()
    assert set(body) == {"statusCode", "error", "message"}
    assert (body["statusCode"], body["error"]) == (status, name)
    for mention in mentions:
        assert mention in body["message"]


@pytest.mark.parametrize("key", [None, "", "nonsense", "ti_live_" + "0" * 38])
def test_a_missing_or_wrong_key_is_401(suite: Suite, key: str | None) -> None:
    _assert_error(Api(suite["API"], key).call("GET", "/v1/inboxes"), 401, "Unauthorized")


def test_a_plan_without_api_access_is_403(suite: Suite) -> None:
    account = Account.make(suite, plan="pro")
    account.api.get("/v1/account")

    suite.operate("account", "set-plan", account.account_id, "--plan", "free")

    in_force([account.api], status_is(403), "the plan is refused")
    _assert_error(account.api.call("GET", "/v1/inboxes"), 403, "Forbidden")


@pytest.mark.parametrize(
    "path", ["/v1/inboxes/{id}", "/v1/inboxes/{id}/emails", "/v1/emails/{id}", "/v1/webhooks/{id}"]
)
def test_an_unknown_id_is_404_and_named(api: Api, path: str) -> None:
    unknown = str(uuid.uuid4())

    _assert_error(api.call("GET", path.format(id=unknown)), 404, "Not Found", unknown)


def test_an_unknown_path_is_404(api: Api, suite: Suite) -> None:
    _assert_error(api.call("GET", "/v1/nothing"), 404, "Not Found")
    _assert_error(Api(suite["API"], None).call("GET", "/nothing"), 404, "Not Found")


@pytest.mark.parametrize(
    ("method", "path", "allowed"),
    [
        ("DELETE", "/v1/account", "GET"),
        ("PUT", "/v1/inboxes", "POST"),
        ("POST", "/v1/domains", "GET"),
    ],
)
def test_a_wrong_method_is_405_with_what_is_allowed(
    api: Api, method: str, path: str, allowed: str
) -> None:
    answer = api.call(method, path)

    _assert_error(answer, 405, "Method Not Allowed")
    assert allowed in answer.headers["Allow"].split(", ")


def test_broken_json_is_400_with_its_place(api: Api) -> None:
    answer = api.call(
        "POST", "/v1/inboxes", data='{"name": "x",, }', headers={"Content-Type": "application/json"}
    )

    _assert_error(answer, 400, "Bad Request")
    assert re.search(r"\b13\b|\b14\b", answer.json()["message"]), "where the second comma stands"


@pytest.mark.parametrize(
    ("body", "mentions"),
    [
        ({"nmae": "x"}, ["nmae"]),
        ({"ttlSeconds": 59}, ["ttlSeconds", "59", "60"]),
        ({"ttlSeconds": "long"}, ["ttlSeconds"]),
        ({"localPart": "with space"}, ["localPart"]),
        ({"domain": "elsewhere.example"}, ["domain", "elsewhere.example"]),
        ({"tags": ["a"] * 11}, ["tags", "10"]),
        ({"metadata": {"a": 1}}, ["metadata"]),
        ([], []),
    ],
)
def test_a_wrong_field_is_400_and_named(api: Api, body: Any, mentions: list[str]) -> None:
    _assert_error(api.call("POST", "/v1/inboxes", json=body), 400, "Bad Request", *mentions)


@pytest.mark.parametrize(
    ("query", "mention"),
    [
        ("limit=0", "limit"),
        ("limit=101", "100"),
        ("limt=5", "limt"),
        ("status=dead", "status"),
        ("cursor=x", "cursor"),
    ],
)
def test_a_wrong_query_parameter_is_400_and_named(api: Api, query: str, mention: str) -> None:
    _assert_error(api.call("GET", "/v1/inboxes?" + query), 400, "Bad Request", mention)


def test_a_body_of_another_type_is_415_and_a_large_one_413(api: Api) -> None:
    _assert_error(
        api.call("POST", "/v1/inboxes", data="name=x", headers={"Content-Type": "text/plain"}),
        415,
        "Unsupported Media Type",
    )
    answer = api.call("POST", "/v1/inboxes", json={"name": "x" * 70_000})
    assert answer.status_code == 413, answer.text


def test_every_answer_tells_the_allowance(api: Api, suite: Suite) -> None:
    before = int(time.time())
    answers = in_time(
        suite,
        lambda: [
            api.call("GET", "/v1/account"),
            api.call("GET", "/v1/nothing"),
            Api(suite["API"], None).call("GET", "/v1/account"),
        ],
    )

    for answer in answers:
        limit, remaining, reset = (
            int(answer.headers[f"X-RateLimit-{name}"]) for name in ("Limit", "Remaining", "Reset")
        )
        assert 0 <= remaining <= limit
        assert reset > before
        assert answer.headers["X-Request-Id"]
    first, second = (int(answer.headers["X-RateLimit-Remaining"]) for answer in answers[:2])
    assert second == first - 1
    assert int(answers[0].headers["X-RateLimit-Reset"]) % 86_400 == 0, "the next midnight, UTC"


def test_mail_to_nobody_is_550(suite: Suite) -> None:
    sent = send(suite, f"nobody-{uuid.uuid4().hex[:8]}@{suite['DOMAIN']}")

    assert not sent.is_accepted
    assert "550 5.1.1" in sent.transcript


def test_mail_to_another_domain_is_refused(suite: Suite) -> None:
    sent = send(suite, "somebody@elsewhere.example")

    assert not sent.is_accepted
    assert re.search(r"<\*\*\s+55\d 5\.", sent.transcript), sent.transcript


def test_no_plan_allows_mail_that_could_not_be_read_back() -> None:
    command = [
        str(ROOT / "dev"),
        "ctl",
        "plan",
        "set",
        "business",
        "--max-message-bytes",
        str(60 * 1024 * 1024 + 1),
    ]

    done = subprocess.run(command, capture_output=True, text=True, timeout=60)

    assert done.returncode != 0
    assert "max-message-bytes" in done.stdout + done.stderr


@pytest.mark.parametrize("service", SERVICES)
def test_bad_settings_are_all_named_and_end_with_2(suite: Suite, service: str) -> None:
    command = [
        str(suite.program(f"tempinbox-{service}")),
        "--admin-listen",
        "nonsense",
        "--log-level",
        "loud",
        "--drain-timeout",
        "soon",
        "--no-such-flag",
        "1",
    ]

    done = subprocess.run(command, capture_output=True, text=True, timeout=10)

    assert done.returncode == 2
    for name in ("admin-listen", "log-level", "drain-timeout", "no-such-flag"):
        assert name in done.stderr
