"""The Model Context Protocol at /mcp: what each tool does, and what it costs."""

import concurrent.futures
import json
import os
import signal
import time
from typing import Any

import pytest
import requests
from harness import (
    SENDER,
    Account,
    Api,
    Faults,
    SmtpSession,
    Suite,
    eventually,
    in_force,
    in_time,
    queued_id,
    send,
    send_raw,
)
from harness.mcp_endpoint import REVISIONS, STATELESS, WITH_HANDSHAKE, McpEndpoint, unfenced

_TOOLS = [
    "create_inbox",
    "list_inboxes",
    "wait_for_email",
    "get_code",
    "get_link",
    "read_email",
    "extend_inbox",
    "delete_inbox",
    "find_emails",
    "set_faults",
    "get_faults",
    "sender_report",
]
_NOBODY = "00000000-0000-7000-8000-000000000000"


@pytest.fixture
def mcp(suite: Suite, account: Account) -> McpEndpoint:
    """Makes an endpoint of the newest revision, with a key of the test's own account."""
    return McpEndpoint(suite["API"], account.key)


@pytest.fixture(params=REVISIONS)
def of_each_revision(request: pytest.FixtureRequest, suite: Suite) -> McpEndpoint:
    """The demo account's, by each revision in turn."""
    return McpEndpoint(suite["API"], suite["API_KEY"], request.param)


def _code(suite: Suite, inbox: dict[str, Any], code: str = "482913") -> Any:
    return send(
        suite,
        inbox["emailAddress"],
        subject="Your code",
        body=f"Your verification code is {code}.",
    )


def _html(subject: str, html: str) -> bytes:
    return (
        f"From: Shop <a@sender.example>\r\nSubject: {subject}\r\nMIME-Version: 1.0\r\n"
        f"Content-Type: text/html; charset=utf-8\r\n\r\n{html}\r\n"
    ).encode()


def test_a_sign_up_by_tools_alone(suite: Suite, of_each_revision: McpEndpoint) -> None:
    mcp = of_each_revision
    inbox = mcp.call("create_inbox", name="sign-up", tags=["mcp"])
    _code(suite, inbox)

    waited = mcp.call("wait_for_email", inboxId=inbox["inboxId"], subject="code")
    code = mcp.call("get_code", inboxId=inbox["inboxId"])
    read = mcp.call("read_email", emailId=waited["email"]["emailId"])
    listed = mcp.call("list_inboxes", tag="mcp", address=inbox["emailAddress"])
    found = mcp.call(
        "find_emails", inboxId=inbox["inboxId"], text="482913", headers={"Subject": "CODE"}
    )
    of_tag = mcp.call("find_emails", tag="mcp", subject="other")
    longer = mcp.call("extend_inbox", inboxId=inbox["inboxId"], ttlSeconds=90_000)
    gone = mcp.call("delete_inbox", inboxId=inbox["inboxId"])

    assert waited["outcome"] == "matched"
    assert waited["after"] == 1
    assert unfenced(waited, waited["email"]["subject"]) == "Your code"
    assert (code["outcome"], code["code"]) == ("found", "482913")
    assert code["emailId"] == waited["email"]["emailId"]
    assert "482913" in unfenced(read, read["text"])
    assert [each["inboxId"] for each in listed["inboxes"]] == [inbox["inboxId"]]
    assert [each["emailId"] for each in found["emails"]] == [code["emailId"]]
    assert unfenced(found, found["emails"][0]["subject"]) == "Your code"
    assert (found["nextCursor"], found["searched"]["emails"]) == (None, 1)
    assert of_tag["emails"] == []
    assert longer["expiresAt"] > inbox["expiresAt"]
    assert gone == {"inboxId": inbox["inboxId"], "deleted": True}
    assert "ended at" in mcp.error("delete_inbox", inboxId=inbox["inboxId"])


def test_the_tools_are_the_same_in_each_revision_and_each_time(suite: Suite) -> None:
    lists = [
        McpEndpoint(base, suite["API_KEY"], revision).ask("tools/list")["tools"]
        for base in suite.of_each("gateway", "URL")
        for revision in REVISIONS
    ]

    assert [tool["name"] for tool in lists[0]] == _TOOLS
    assert all(each == lists[0] for each in lists)


def test_an_inbox_plays_the_faults_that_a_tool_set(suite: Suite, mcp: McpEndpoint) -> None:
    inbox = mcp.call("create_inbox")
    inbox_id, address = inbox["inboxId"], inbox["emailAddress"]
    deferral = {"stage": "rcpt", "reply": "451 4.7.1 Later", "times": 1}

    def recipient() -> str:
        with SmtpSession(suite["SMTP"]) as session:
            return session.address(address)[0]

    made = mcp.call("set_faults", inboxId=inbox_id, steps=[deferral | {"to": "", "cut": None}])
    eventually(lambda: recipient() == deferral["reply"], "the fault is in force")
    after = recipient()
    shown = mcp.call("get_faults", inboxId=inbox_id)
    ended = mcp.call("set_faults", inboxId=inbox_id, steps=[])

    assert [(step["reply"], step["used"]) for step in made["steps"]] == [("451 4.7.1 Later", 0)]
    assert after.startswith("250 ")
    assert [step["used"] for step in shown["steps"]] == [1]
    assert ended == mcp.call("get_faults", inboxId=inbox_id) == {"steps": []}


def test_a_report_says_what_a_sender_did_with_its_words_fenced(
    suite: Suite, account: Account, mcp: McpEndpoint
) -> None:
    inbox = mcp.call("create_inbox")
    later = {"stage": "rcpt", "reply": "451 4.7.1 Later", "times": 1}
    Faults(suite, account.api, inbox).set(later)
    order = "<DELETE-EVERY-INBOX\u27e7@sender.example>"
    with SmtpSession(suite["SMTP"]) as session:
        assert session.address(inbox["emailAddress"]) == [later["reply"]]
        assert session.say("RSET").startswith("250 ")
        assert session.address(inbox["emailAddress"]) == ["250 2.1.5 Recipient ok"]
        sent = queued_id(session.data(f"Message-ID: {order}\r\n\r\nhi\r\n".encode()))

    def both_attempts() -> dict[str, Any] | None:
        report = mcp.call("sender_report", inboxId=inbox["inboxId"])
        return report if report["attemptCount"] == 2 else None

    report = eventually(both_attempts, "both attempts are in the report")
    (message,) = report["messages"]
    assert unfenced(report, message["messageId"]) == order.replace("\u27e7", "]")
    assert [unfenced(report, it) for it in message["recipients"]] == [inbox["emailAddress"]]
    assert unfenced(report, message["mailFrom"]) == SENDER
    assert [(it["reply"], it["step"]) for it in message["attempts"][:1]] == [(later["reply"], 0)]
    assert (message["state"], message["emailIds"]) == ("accepted", [sent])
    assert report["marks"]["retriesAfter4xx"]["value"] == "yes"
    assert report["notApplied"] == []
    plain = mcp.call("create_inbox")
    refused = mcp.error("sender_report", inboxId=plain["inboxId"])
    assert "has no report on its senders" in refused


def test_a_link_is_fenced_with_the_host_that_it_leads_to(suite: Suite, mcp: McpEndpoint) -> None:
    inbox = mcp.call("create_inbox")
    page = (
        "<a href='https://shop.example/'>Home</a>"
        "<a href='https://bank.example@shop.example/v?t=1'>Verify your email address</a>"
        "<a href='https://shop.example/u'>Unsubscribe</a>"
    )
    assert send_raw(suite, [inbox["emailAddress"]], _html("Welcome", page)) == {}

    found = mcp.call("get_link", inboxId=inbox["inboxId"])
    other = mcp.call("get_link", emailId=found["emailId"], kind="unsubscribe")
    none = mcp.call("get_link", emailId=found["emailId"], kind="reset")

    assert found["outcome"] == "found"
    assert found["link"]["kind"] == "verify"
    assert unfenced(found, found["link"]["url"]) == "https://bank.example@shop.example/v?t=1"
    assert unfenced(found, found["link"]["host"]) == "shop.example"
    assert unfenced(found, found["link"]["text"]) == "Verify your email address"
    assert unfenced(other, other["link"]["url"]) == "https://shop.example/u"
    assert (none["outcome"], none["link"]) == ("none", None)


def test_a_link_is_waited_for_past_mail_without_one(suite: Suite, mcp: McpEndpoint) -> None:
    inbox = mcp.call("create_inbox")
    _code(suite, inbox)
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(mcp.call, "get_link", inboxId=inbox["inboxId"], timeoutSeconds=20)
        page = "<a href='https://shop.example/v'>Confirm your address</a>"
        assert send_raw(suite, [inbox["emailAddress"]], _html("Second", page)) == {}
        found = waiting.result(timeout=30)

    assert (found["outcome"], found["after"]) == ("found", 2)


def test_not_yet_says_where_to_go_on_and_what_came_instead(suite: Suite, mcp: McpEndpoint) -> None:
    inbox = mcp.call("create_inbox")
    _code(suite, inbox)

    began = time.monotonic()
    early = mcp.call(
        "wait_for_email", inboxId=inbox["inboxId"], subject="invoice", timeoutSeconds=1
    )
    took = time.monotonic() - began
    _code(suite, inbox, "771204")
    late = mcp.call("get_code", inboxId=inbox["inboxId"], after=1)

    assert (early["outcome"], early["email"], early["after"]) == ("not_yet", None, 0)
    assert unfenced(early, early["nearMisses"][0]["actual"]) == "Your code"
    assert 0.9 < took < 10
    assert (late["code"], late["after"]) == ("771204", 2)


def test_progress_is_reported_where_a_token_was_sent(suite: Suite, mcp: McpEndpoint) -> None:
    inbox = mcp.call("create_inbox")
    message = mcp.message(
        "tools/call",
        {
            "name": "get_code",
            "arguments": {"inboxId": inbox["inboxId"], "timeoutSeconds": 30},
            "_meta": {"progressToken": "p-1"},
        },
    )
    answer = requests.post(
        mcp.url,
        json=message,
        headers=mcp.headers(message) | {"X-API-Key": _key(mcp)},
        stream=True,
        timeout=60,
    )
    lines = (line for line in answer.iter_lines(decode_unicode=True) if line.startswith("data:"))
    first = json.loads(next(lines).removeprefix("data:"))
    _code(suite, inbox)
    rest = [json.loads(line.removeprefix("data:")) for line in lines]

    assert answer.headers["Content-Type"] == "text/event-stream"
    assert int(answer.headers["X-RateLimit-Remaining"]) > 0
    assert first["method"] == "notifications/progress"
    assert first["params"]["progressToken"] == "p-1"
    assert 4 <= first["params"]["progress"] < first["params"]["total"] == 30
    assert rest[-1]["id"] == message["id"]
    assert rest[-1]["result"]["structuredContent"]["code"] == "482913"
    assert all(each["method"] == "notifications/progress" for each in rest[:-1])


def _key(mcp: McpEndpoint) -> str:
    return str(mcp._session.headers["X-API-Key"])  # noqa: SLF001 - the harness's own


def _answers(mcp: McpEndpoint) -> bool:
    message = mcp.message("tools/call", {"name": "list_inboxes", "arguments": {}})
    try:
        answer = mcp.post(message)
    except requests.RequestException:  # it starts
        return False
    return answer.status_code == 200 and not answer.json()["result"]["isError"]


def test_any_replica_answers_and_one_that_dies_in_between_is_not_missed(
    suite: Suite, account: Account
) -> None:
    first, second = (McpEndpoint(url, account.key) for url in suite.of_each("gateway", "URL"))
    inbox = first.call("create_inbox")

    os.kill(suite.pid("gateway", 1), signal.SIGKILL)
    _code(suite, inbox)
    code = second.call("get_code", inboxId=inbox["inboxId"])
    eventually(lambda: _answers(first), "the first is back", 60)
    again = first.call("get_code", inboxId=inbox["inboxId"])

    assert code["code"] == again["code"] == "482913"


def _usage(api: Api) -> int:
    used: int = api.get("/v1/account")["usage"]["requestsToday"]
    return used


def test_every_post_counts_as_one_request_and_nothing_else_does(
    suite: Suite, account: Account, mcp: McpEndpoint
) -> None:
    api = Api(suite["API"], account.key)
    inbox = mcp.call("create_inbox")
    _code(suite, inbox)

    def attempt() -> int:
        before = _usage(api)
        mcp.ask("tools/list")
        mcp.call("get_code", inboxId=inbox["inboxId"])  # a wait and a read
        assert mcp.post({"jsonrpc": "2.0", "method": "notifications/x"}).status_code == 202
        assert mcp.post("no JSON", content_type="application/json").status_code == 400
        for method in ("GET", "DELETE"):
            assert requests.request(method, mcp.url, timeout=10).status_code == 405
        return _usage(api) - before

    assert in_time(suite, attempt) == 4 + 1


def _eventually_waiting(suite: Suite, count: int) -> None:
    def is_so() -> bool:
        text = requests.get(f"http://{suite['GATEWAY_1_ADMIN']}/metrics", timeout=5).text
        return f"\ntempinbox_gateway_waiting_requests {count}\n" in text

    eventually(is_so, f"{count} requests wait", 40)


def test_a_waiting_call_counts_among_the_waits(suite: Suite, mcp: McpEndpoint) -> None:
    inbox = mcp.call("create_inbox")
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        call = pool.submit(mcp.call, "wait_for_email", inboxId=inbox["inboxId"], timeoutSeconds=20)
        _eventually_waiting(suite, 1)
        _code(suite, inbox)
        assert call.result(timeout=20)["outcome"] == "matched"
    _eventually_waiting(suite, 0)


def test_past_the_accounts_waits_a_call_says_so(
    suite: Suite, account: Account, mcp: McpEndpoint
) -> None:
    inbox = mcp.call("create_inbox")
    most = 10  # of waits, where the plan's burst is 1 a second
    suite.operate("plan", "set", "business", "--burst-per-second", "1")
    suite.operate("account", "set-plan", account.account_id, "--plan", "business")
    gateway = Api(suite["GATEWAY_1_URL"], account.key)
    try:
        in_force([gateway], lambda answer: answer.status_code == 429 or None, "the plan's burst")
        with concurrent.futures.ThreadPoolExecutor(most) as pool:
            wait = {"inboxId": inbox["inboxId"], "timeoutSeconds": 45}
            calls = [
                pool.submit(_past_the_burst, mcp, "wait_for_email", **wait) for _ in range(most)
            ]
            _eventually_waiting(suite, most)
            refused = _past_the_burst(mcp, "wait_for_email", inboxId=inbox["inboxId"])
            _code(suite, inbox)
            assert all(not call.result(timeout=50)["isError"] for call in calls)
    finally:
        suite.operate("plan", "set", "business", "--burst-per-second", "100")

    assert refused["isError"]
    assert "At most 10 requests of this account can wait" in refused["content"][0]["text"]


def _past_the_burst(mcp: McpEndpoint, tool: str, **arguments: Any) -> dict[str, Any]:
    """Calls until the burst of one request a second lets it through."""

    def call() -> dict[str, Any] | None:
        message = mcp.message("tools/call", {"name": tool, "arguments": arguments})
        answer = mcp.post(message)
        return None if answer.status_code == 429 else answer.json()["result"]

    result: dict[str, Any] = eventually(call, "the burst lets it through", 60)
    return result


def test_a_client_that_hangs_up_ends_its_wait(suite: Suite, mcp: McpEndpoint) -> None:
    inbox = mcp.call("create_inbox")
    for meta in ({}, {"progressToken": 1}):
        message = mcp.message(
            "tools/call",
            {"name": "get_code", "arguments": {"inboxId": inbox["inboxId"]}, "_meta": meta},
        )
        with pytest.raises(requests.exceptions.RequestException):
            requests.post(
                mcp.url,
                json=message,
                headers=mcp.headers(message) | {"X-API-Key": _key(mcp)},
                timeout=1,
            ).raise_for_status()
    _eventually_waiting(suite, 0)


def test_a_revoked_key_gets_no_mail_that_it_waited_for(
    suite: Suite, account: Account, mcp: McpEndpoint
) -> None:
    inbox = mcp.call("create_inbox")
    (key,) = suite.operate("key", "list", account.account_id)["keys"]
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        call = pool.submit(mcp.call_any, "get_code", inboxId=inbox["inboxId"], timeoutSeconds=30)
        _eventually_waiting(suite, 1)
        suite.operate("key", "revoke", account.account_id, key["keyId"])
        eventually(lambda: mcp.post("{}").status_code == 401, "it is revoked")
        _code(suite, inbox)
        refused = call.result(timeout=40)

    assert refused["isError"]
    assert "not a valid API key" in refused["content"][0]["text"]


@pytest.fixture
def without_api(suite: Suite) -> Account:
    """An account whose plan has no API."""
    return Account.make(suite, plan="free")


def test_wrong_keys_and_plans_are_refused_as_by_the_api(
    suite: Suite, mcp: McpEndpoint, without_api: Account
) -> None:
    ping = mcp.message("tools/list")
    nobody = McpEndpoint(suite["API"], None)

    none = nobody.post(ping)
    unknown = nobody.post(ping, authorization="Bearer ti_live_nonsense")
    in_address = requests.post(
        mcp.url + "?api_key=" + _key(mcp), json=ping, headers=mcp.headers(ping), timeout=10
    )
    by_bearer = nobody.post(ping, authorization="Bearer " + _key(mcp))
    free = McpEndpoint(suite["API"], without_api.key).post(ping)

    for refused, says in (
        (none, "X-API-Key is missing"),
        (unknown, "not a valid API key"),
        (in_address, "revoke"),
    ):
        assert refused.status_code == 401
        assert says in refused.json()["message"]
        assert refused.headers["X-RateLimit-Limit"] == "60"
    assert by_bearer.status_code == 200
    assert free.status_code == 403
    assert "plan free" in free.json()["message"]


def test_pages_of_other_sites_are_refused(mcp: McpEndpoint) -> None:
    ping = mcp.message("tools/list")
    own = mcp.url.removesuffix("/mcp")

    assert mcp.post(ping, origin=own).status_code == 200
    for origin in ("https://other.example", "null", "http://127.0.0.1.other.example"):
        refused = mcp.post(ping, origin=origin)
        assert refused.status_code == 403, origin
        assert "Access-Control-Allow-Origin" not in refused.headers
    rebound = mcp.post(ping, origin="http://other.example", host="other.example")
    assert rebound.status_code == 403


def test_a_body_past_64_kib_is_413(mcp: McpEndpoint) -> None:
    fits = mcp.message("tools/list", {"x": "y" * 60_000})

    assert mcp.post(fits).status_code == 200
    assert mcp.post("x" * 65_537, content_type="application/json").status_code == 413


@pytest.mark.parametrize("revision", WITH_HANDSHAKE)
def test_a_handshake_is_answered_without_a_session(suite: Suite, revision: str) -> None:
    mcp = McpEndpoint(suite["API"], suite["API_KEY"], revision)
    answer = mcp.post(
        mcp.message("initialize", {"protocolVersion": revision, "capabilities": {}}),
        mcp_protocol_version=None,
    )

    assert answer.json()["result"]["protocolVersion"] == revision
    assert answer.json()["result"]["capabilities"] == {"tools": {}}
    assert "Mcp-Session-Id" not in answer.headers
    assert mcp.ask("ping") == {}


def test_headers_must_agree_with_the_body(mcp: McpEndpoint) -> None:
    call = mcp.message("tools/call", {"name": "list_inboxes", "arguments": {}})

    for changed in (
        {"mcp_method": "tools/list"},
        {"mcp_method": None},
        {"mcp_name": "delete_inbox"},
        {"mcp_name": None},
        {"mcp_protocol_version": "2025-11-25"},
        {"mcp_protocol_version": None},
    ):
        refused = mcp.post(call, **changed)
        assert refused.status_code == 400, changed
        assert refused.json()["error"]["code"] == -32020, changed
        assert refused.json()["id"] == call["id"]
    assert mcp.post(call, mcp_name="=?base64?bGlzdF9pbmJveGVz?=").status_code == 200


def test_a_client_without_a_revision_is_served(suite: Suite) -> None:
    mcp = McpEndpoint(suite["API"], suite["API_KEY"], "2025-03-26")

    listed = mcp.post(mcp.message("tools/list"), mcp_protocol_version=None)
    called = mcp.post(
        mcp.message("tools/call", {"name": "list_inboxes", "arguments": None}),
        mcp_protocol_version=None,
    )

    assert len(listed.json()["result"]["tools"]) == len(_TOOLS)
    assert not called.json()["result"]["isError"]


def test_an_unknown_revision_is_told_which_are_known(mcp: McpEndpoint) -> None:
    unknown = McpEndpoint(mcp.url.removesuffix("/mcp"), _key(mcp), "2099-01-01")

    refused = unknown.post(unknown.message("tools/list"))

    assert refused.status_code == 400
    assert refused.json()["error"]["code"] == -32022
    assert refused.json()["error"]["data"]["supported"] == REVISIONS


@pytest.mark.parametrize(
    ("tool", "arguments", "says"),
    [
        ("create_inbox", {"ttlSeconds": 5}, "ttlSeconds must be an integer from 60"),
        ("create_inbox", {"colour": "red"}, "colour"),
        ("list_inboxes", {"limit": 500}, "limit must be"),
        ("list_inboxes", {"limit": 5.5}, "limit must be"),
        ("list_inboxes", {"tag": ["a"]}, "tag must be"),
        ("list_inboxes", {"order": "newest"}, "order must be one of desc, asc"),
        (
            "find_emails",
            {"inboxId": "01934f2f-0a4e-7c11-8a36-93d02c5b7e10", "tag": "a"},
            "tag is for all inboxes",
        ),
        ("find_emails", {"after": 1}, "after belongs to one inbox"),
        ("find_emails", {"text": "\u00ad"}, "text must have a character that is shown"),
        ("find_emails", {"headers": {"a b": "x"}}, "header.a b"),
        ("find_emails", {"headers": "x-run"}, "headers must be an object"),
        ("wait_for_email", {}, "inboxId is required"),
        ("wait_for_email", {"inboxId": "x/../.."}, "inboxId"),
        ("get_code", {"inboxId": "x", "emailId": "y"}, "either inboxId"),
        ("get_link", {"emailId": "0", "kind": "buy"}, "kind must be"),
        ("read_email", {"emailId": "%2e%2e"}, "emailId"),
        ("read_email", {"maxCharacters": 1}, "emailId is required"),
        ("read_email", {"emailId": ""}, "emailId is required"),
        ("extend_inbox", {"inboxId": "x"}, "inboxId"),
        ("delete_inbox", {}, "inboxId is required"),
        ("set_faults", {"inboxId": _NOBODY}, "steps is required"),
        ("set_faults", {"inboxId": _NOBODY, "steps": ["rcpt"]}, "steps"),
        ("set_faults", {"inboxId": _NOBODY, "steps": [{}]}, "steps[0].stage is required"),
        (
            "set_faults",
            {"inboxId": _NOBODY, "steps": [{"stage": "rcpt", "reply": "250 2.0.0 fine"}]},
            "reply",
        ),
        ("get_faults", {}, "inboxId is required"),
        ("sender_report", {"inboxId": _NOBODY, "limit": 1}, "limit"),
    ],
)
def test_wrong_arguments_are_named(
    suite: Suite, tool: str, arguments: dict[str, Any], says: str
) -> None:
    mcp = McpEndpoint(suite["API"], suite["API_KEY"])

    assert says in mcp.error(tool, **arguments)


def test_empty_arguments_and_whole_numbers_are_read(mcp: McpEndpoint) -> None:
    inbox = mcp.call("create_inbox", name="", tags=None, ttlSeconds=6e2)
    mcp.call("list_inboxes", limit=5.0, status="", cursor="", tag=None)
    waited = mcp.call("get_code", inboxId=inbox["inboxId"], emailId="", timeoutSeconds=1.0)

    assert inbox["name"] is None
    assert waited["outcome"] == "not_yet"


def test_inboxes_are_listed_from_either_end(mcp: McpEndpoint) -> None:
    made = [mcp.call("create_inbox", tags=["order"])["inboxId"] for _ in range(2)]

    first = mcp.call("list_inboxes", tag="order", order="asc", limit=1)
    second = mcp.call("list_inboxes", tag="order", order="asc", limit=1, cursor=first["nextCursor"])

    assert [page["inboxes"][0]["inboxId"] for page in (first, second)] == made
    assert "cursor" in mcp.error("list_inboxes", tag="order", cursor=first["nextCursor"])


def test_another_accounts_inbox_does_not_exist(
    mcp: McpEndpoint, other_account: Account, suite: Suite
) -> None:
    theirs = McpEndpoint(suite["API"], other_account.key).call("create_inbox")

    for tool, more in (
        ("wait_for_email", {}),
        ("get_code", {}),
        ("get_link", {}),
        ("extend_inbox", {"ttlSeconds": 600}),
        ("delete_inbox", {}),
        ("set_faults", {"steps": []}),
        ("get_faults", {}),
        ("sender_report", {}),
    ):
        assert "does not exist" in mcp.error(tool, inboxId=theirs["inboxId"], **more), tool
    assert theirs["inboxId"] not in json.dumps(mcp.call("list_inboxes", status="all"))


def test_an_idempotency_key_makes_one_inbox(mcp: McpEndpoint) -> None:
    call = mcp.message("tools/call", {"name": "create_inbox", "arguments": {"name": "once"}})

    answers = [mcp.post(call, idempotency_key="mcp-once").json() for _ in range(2)]

    first, second = (each["result"]["structuredContent"]["inboxId"] for each in answers)
    assert first == second


def test_only_the_newest_revision_says_what_a_result_is(of_each_revision: McpEndpoint) -> None:
    result = of_each_revision.ask("tools/list")

    is_stateless = of_each_revision.revision == STATELESS
    assert ("resultType" in result) == is_stateless
    assert ("ttlMs" in result) == is_stateless
