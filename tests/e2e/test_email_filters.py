"""Filters of emails: an inbox's list, the account's list and a wait find the same ones."""

import smtplib
from concurrent.futures import ThreadPoolExecutor
from threading import Timer
from typing import Any

import pytest
import requests
from harness import Account, Suite, send, send_raw
from harness.mcp_endpoint import McpEndpoint

_LAST = 4
_TIMES = ("since", "until")
_MAX_TEXTS = 500  # opened for a page
_WELCOME = b"From: Ann <a@x.example>\r\nSubject: Welcome\r\n\r\nHello\r\n"
_CODE = b"From: B@Y.example\r\nSubject: Your code\r\n\r\nDein Code ist\r\n482913\r\n"
_LINK = (
    b"From: c@z.example\r\nSubject: Link\r\nX-Run: R-7\r\nMIME-Version: 1.0\r\n"
    b"Content-Type: text/html; charset=utf-8\r\n\r\n<p>Stra&szlig;e&nbsp;&zwnj;7</p>"
    b'<a href="https://z.example/verify?t=ab12cd34">Verify your address</a>\r\n'
)
_ATTACHMENT = (
    b"From: d@z.example\r\nTo: list@x.example\r\nSubject: Bill\r\nMIME-Version: 1.0\r\n"
    b"Content-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\n\r\nPlease pay.\r\n--b\r\n"
    b"Content-Type: text/csv\r\nContent-Disposition: attachment; filename=bill.csv\r\n\r\n"
    b"a,b\r\n--b--\r\n"
)


@pytest.fixture(scope="module")
def mailed(suite: Suite) -> tuple[Account, dict[str, Any]]:
    """An account with one inbox and four emails in it, the first of them read."""
    account = Account.make(suite)
    inbox = account.api.new_inbox()
    local, _, domain = inbox["emailAddress"].partition("@")
    address = inbox["emailAddress"]
    for recipient, message in (
        (address, _WELCOME),
        (address, _CODE),
        (address, _LINK),
        (f"{local}+s@{domain}", _ATTACHMENT),
    ):
        assert send_raw(suite, [recipient], message) == {}
    path = f"/v1/inboxes/{inbox['inboxId']}/emails"
    (first,) = account.api.get(path, until=_time_of(account, 2))["emails"]
    account.api.patch("/v1/emails/" + first["emailId"], {"isRead": True})
    return account, inbox


def _time_of(account: Account, sequence: int) -> str:
    """Returns when the email of the account's only inbox was received."""
    rows = account.api.get("/v1/emails")["emails"]
    return str(next(row["receivedAt"] for row in rows if row["sequence"] == sequence))


def _chain_of_waits(account: Account, inbox: dict[str, Any], query: dict[str, Any]) -> list[int]:
    """Returns the sequences that waits find, each behind the one before."""
    found: list[int] = []
    while True:
        result = account.api.get(
            f"/v1/inboxes/{inbox['inboxId']}/emails/wait",
            after=found[-1] if found else 0,
            timeoutSeconds=1,
            **query,
        )
        if result["outcome"] == "timeout":
            return found
        found.append(result["email"]["sequence"])
        if found[-1] == _LAST:
            return found


def _found_by_tool(suite: Suite, account: Account, query: dict[str, Any], **more: Any) -> list[int]:
    """Returns the sequences that MCP's find_emails finds, a page at a time."""
    flags = {"true": True, "false": False}
    headers = {
        name.partition(".")[2]: value for name, value in query.items() if name.startswith("header.")
    }
    arguments = {
        name: flags.get(value, value)
        for name, value in query.items()
        if not name.startswith("header.")
    }
    mcp = McpEndpoint(suite["API"], account.key)
    found: list[int] = []
    cursor: dict[str, str] = {}
    while cursor.get("cursor", "") is not None:
        page = mcp.call(
            "find_emails",
            limit=3,
            **arguments,
            **({"headers": headers} if headers else {}),
            **more,
            **cursor,
        )
        found += [email["sequence"] for email in page["emails"]]
        cursor = {"cursor": page["nextCursor"]}
    return found


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ({}, [1, 2, 3, 4]),
        ({"from_": "b@y"}, [2]),
        ({"from_": "ann"}, [1]),
        ({"to": "list@"}, [4]),
        ({"recipient": "list@"}, []),
        ({"recipient": "+S@"}, [4]),
        ({"hasCode": "true"}, [2]),
        ({"hasCode": "false"}, [1, 3, 4]),
        ({"hasLink": "true"}, [3]),
        ({"hasLink": "false"}, [1, 2, 4]),
        ({"linkKind": "verify"}, [3]),
        ({"linkKind": "reset"}, []),
        ({"hasAttachment": "true"}, [4]),
        ({"hasAttachment": "false", "hasCode": "false"}, [1, 3]),
        ({"isRead": "true"}, [1]),
        ({"isRead": "false", "from_": "z.example"}, [3, 4]),
        ({"since": "2"}, [2, 3, 4]),
        ({"until": "2"}, [1]),
        ({"since": "2", "until": "4"}, [2, 3]),
        ({"since": "2099-01-01T00:00:00Z"}, []),
        ({"until": "0001-01-01T00:00:00Z"}, []),
        ({"text": "code ist 482913"}, [2]),
        ({"text": "STRASSE 7"}, [3]),
        ({"text": "stra\u00dfe 7", "hasLink": "true"}, [3]),
        ({"text": "e7"}, []),
        ({"text": "482%13"}, []),
        ({"text": ".*"}, []),
        ({"header.x-run": "r-7"}, [3]),
        ({"header.X-RUN": "R-7", "text": "7"}, [3]),
        ({"header.x-run": "r-8"}, []),
        ({"until": "9999-12-31T00:00:00Z", "since": "0001-01-01T00:00:00Z"}, [1, 2, 3, 4]),
    ],
)
def test_every_door_finds_the_same_emails(
    suite: Suite,
    mailed: tuple[Account, dict[str, Any]],
    query: dict[str, Any],
    expected: list[int],
) -> None:
    account, inbox = mailed
    query = {
        name: _time_of(account, int(value)) if name in _TIMES and value.isdecimal() else value
        for name, value in query.items()
    }

    for path in (f"/v1/inboxes/{inbox['inboxId']}/emails", "/v1/emails"):
        for order, sequences in (("asc", expected), ("desc", expected[::-1])):
            found: list[int] = []
            cursor: dict[str, str] = {}
            while cursor.get("cursor", "") is not None:
                page = account.api.get(path, order=order, limit=2, **query, **cursor)
                found += [row["sequence"] for row in page["emails"]]
                cursor = {"cursor": page["nextCursor"]}
            assert found == sequences, (path, order)
    assert _chain_of_waits(account, inbox, query) == expected
    assert _found_by_tool(suite, account, query) == expected[::-1]
    of_inbox = _found_by_tool(suite, account, query, inboxId=inbox["inboxId"], order="asc")
    assert of_inbox == expected


@pytest.mark.parametrize(
    ("query", "misses"),
    [
        ({"linkKind": "reset"}, ["none", "verify 1", "none", "none"]),
        ({"hasAttachment": "true", "since": "2020-01-01T00:00:00Z"}, ["0", "0", "0"]),
        ({"isRead": "true", "after": "1"}, ["false", "false", "false"]),
        ({"header.x-run": "r-8"}, ["", "R-7", "", ""]),
        ({"text": "nothing", "subject": "Welcome"}, ["Hello"]),
        ({"text": "nothing", "after": "2"}, ["Please pay.", "Stra\u00dfe"]),
        ({"text": "x", "subject": "code"}, ["Dein Code ist 482913"]),
        ({"subject": "code", "text": "x"}, ["Bill", "Link", "Welcome"]),
        ({"from_": "nobody"}, ["d@z.example", "c@z.example", "B@Y.example", "Ann <a@x.example>"]),
    ],
)
def test_a_near_miss_shows_what_the_email_has(
    mailed: tuple[Account, dict[str, Any]], query: dict[str, str], misses: list[str]
) -> None:
    account, inbox = mailed
    field, expected = next(iter(query.items()))
    field = field.rstrip("_")

    result = account.api.get(
        f"/v1/inboxes/{inbox['inboxId']}/emails/wait", timeoutSeconds=1, expect="none", **query
    )
    found = [miss for miss in result["nearMisses"] if miss["field"] == field]

    assert found, result
    assert {miss["expected"] for miss in found} == {expected}
    assert len(found) == len(misses)
    for miss, begin in zip(found, misses, strict=True):
        assert miss["actual"] == begin or (field == "text" and miss["actual"].startswith(begin))


def test_a_near_miss_of_a_recipient_is_who_the_email_was_for(
    mailed: tuple[Account, dict[str, Any]],
) -> None:
    account, inbox = mailed
    path = f"/v1/inboxes/{inbox['inboxId']}/emails/wait"
    own = inbox["emailAddress"]
    with_tag = own.replace("@", "+s@")

    to = account.api.get(path, timeoutSeconds=1, to="nobody@")["nearMisses"]
    recipient = account.api.get(path, timeoutSeconds=1, recipient="list@")["nearMisses"]

    assert [(miss["field"], miss["expected"]) for miss in to] == [("to", "nobody@")] * _LAST
    assert [miss["actual"] for miss in to] == [f"{with_tag}, list@x.example", own, own, own]
    assert {(miss["field"], miss["expected"]) for miss in recipient} == {("recipient", "list@")}
    assert [miss["actual"] for miss in recipient] == [with_tag, own, own, own]


def test_a_wait_for_a_text_that_none_has_ends_with_how_each_begins(
    mailed: tuple[Account, dict[str, Any]],
) -> None:
    account, inbox = mailed

    result = account.api.get(
        f"/v1/inboxes/{inbox['inboxId']}/emails/wait", text="nothing", timeoutSeconds=1
    )

    assert (result["outcome"], result["email"], result["matched"]) == ("timeout", None, 0)
    assert result["lastSequence"] == _LAST
    misses = [(miss["field"], miss["expected"]) for miss in result["nearMisses"]]
    assert misses == [("text", "nothing")] * _LAST
    begins = ("Please pay.", "Stra\u00dfe", "Dein Code ist 482913", "Hello")
    for miss, begin in zip(result["nearMisses"], begins, strict=True):
        assert miss["actual"].startswith(begin)


def test_a_near_miss_of_a_time_is_when_the_email_was_received(
    mailed: tuple[Account, dict[str, Any]],
) -> None:
    account, inbox = mailed
    path = f"/v1/inboxes/{inbox['inboxId']}/emails/wait"
    since, until = "2099-01-01T00:00:00+01:00", "2000-01-01T00:00:00Z"

    late = account.api.get(path, timeoutSeconds=1, since=since)["nearMisses"]
    early = account.api.get(path, timeoutSeconds=1, until=until)["nearMisses"]

    times = [_time_of(account, sequence) for sequence in (4, 3, 2, 1)]
    assert [(miss["field"], miss["expected"]) for miss in late] == [("since", since)] * _LAST
    assert [(miss["field"], miss["expected"]) for miss in early] == [("until", until)] * _LAST
    assert [miss["actual"] for miss in late] == [miss["actual"] for miss in early] == times


def test_a_cursor_belongs_to_its_filters(mailed: tuple[Account, dict[str, Any]]) -> None:
    account, inbox = mailed
    path = f"/v1/inboxes/{inbox['inboxId']}/emails"
    own = {"hasAttachment": "false", "isRead": "false"}
    cursor = account.api.get(path, limit=1, **own)["nextCursor"]

    for other in (
        {"hasAttachment": "false"},
        {"hasAttachment": "true", "isRead": "false"},
        {**own, "since": "2020-01-01T00:00:00Z"},
        {**own, "recipient": "a"},
    ):
        answer = account.api.call("GET", path, params={"limit": 1, "cursor": cursor, **other})
        assert (answer.status_code, answer.headers["X-Error-Code"]) == (400, "invalid_cursor")
    assert account.api.get(path, limit=1, cursor=cursor, **own)["emails"][0]["sequence"] == 2


def test_the_mail_of_a_tag_is_one_list(suite: Suite, account: Account) -> None:
    tagged = [account.api.new_inbox(tags=["run", f"part-{number}"]) for number in range(3)]
    other = account.api.new_inbox(tags=["runs"])
    sent = [
        send(suite, inbox["emailAddress"], subject=f"mail {number}").email_id
        for number in range(2)
        for inbox in (*tagged, other)
    ]
    expected = [email for number, email in enumerate(sent) if number % 4 != 3]

    def listed(**query: Any) -> list[str]:
        return [row["emailId"] for row in account.api.get("/v1/emails", **query)["emails"]]

    assert listed(tag="run") == expected[::-1]
    assert listed(tag="run", order="asc", subject="mail 1") == expected[3:]
    assert listed(tag="part-1") == [expected[4], expected[1]]
    assert listed(tag="RUN") == listed(tag="ru") == []
    first = account.api.get("/v1/emails", tag="run", limit=4, order="asc")
    cursor = first["nextCursor"]
    rest = account.api.get("/v1/emails", tag="run", limit=4, order="asc", cursor=cursor)
    assert [row["emailId"] for row in first["emails"] + rest["emails"]] == expected
    assert rest["nextCursor"] is None
    refused = account.api.call(
        "GET", "/v1/emails", params={"tag": "part-1", "order": "asc", "cursor": cursor}
    )
    assert refused.headers["X-Error-Code"] == "invalid_cursor"
    account.api.patch("/v1/inboxes/" + tagged[0]["inboxId"], {"tags": []})
    account.api.delete("/v1/inboxes/" + tagged[1]["inboxId"])
    assert listed(tag="run") == [expected[5], expected[2]]


def test_a_search_of_text_says_how_far_it_looked(mailed: tuple[Account, dict[str, Any]]) -> None:
    account, inbox = mailed
    path = f"/v1/inboxes/{inbox['inboxId']}/emails"

    page = account.api.get(path, text="absent")
    columns = account.api.get(path, hasCode="true")

    assert page["emails"] == []
    assert page["nextCursor"] is None
    last = _time_of(account, 1)
    assert page["searched"] == {"emails": _LAST, "texts": _LAST, "backTo": last}
    assert columns["searched"] == {"emails": _LAST, "texts": 0, "backTo": last}
    assert "searched" not in account.api.get(path)
    cursor = account.api.get(path, text="e", limit=1)["nextCursor"]
    refused = account.api.call("GET", path, params={"text": "i", "cursor": cursor})
    assert refused.headers["X-Error-Code"] == "invalid_cursor"


def test_a_wait_for_several_emails_ends_with_the_last_of_them(
    suite: Suite, account: Account
) -> None:
    inbox = account.api.new_inbox()
    path = f"/v1/inboxes/{inbox['inboxId']}/emails/wait"
    first = send(suite, inbox["emailAddress"], subject="yes").email_id
    send(suite, inbox["emailAddress"], subject="no")
    fewer = account.api.get(path, subject="yes", minCount=2, timeoutSeconds=1)
    timer = Timer(1, send, args=(suite, inbox["emailAddress"]), kwargs={"subject": "yes"})
    timer.start()
    both = account.api.get(path, subject="yes", minCount=2, timeoutSeconds=30)
    timer.join()

    assert (fewer["outcome"], fewer["email"], fewer["matched"]) == ("timeout", None, 1)
    assert [email["emailId"] for email in fewer["emails"]] == [first]
    assert (both["outcome"], both["matched"]) == ("matched", 2)
    assert both["email"]["emailId"] == first
    assert [email["sequence"] for email in both["emails"]] == [1, 3]
    assert [miss["field"] for miss in both["nearMisses"]] == ["subject"]


def test_a_search_of_much_mail_ends_its_pages_and_finds_what_is_far_back(
    suite: Suite, account: Account
) -> None:
    inbox = account.api.new_inbox()
    address = inbox["emailAddress"]
    filling = b"Subject: much\r\n\r\n" + b"x" * 300
    host, _, port = suite["SMTP"].rpartition(":")
    with smtplib.SMTP(host, int(port), local_hostname="sender.example", timeout=30) as server:
        assert server.sendmail("a@sender.example", [address], filling + b" the needle") == {}
        for _ in range(_MAX_TEXTS + 20):
            assert server.sendmail("a@sender.example", [address], filling) == {}

    pages: list[dict[str, Any]] = []
    cursor: dict[str, Any] = {}
    while cursor.get("cursor", "") is not None:
        pages.append(account.api.get("/v1/emails", text="The NEEDLE", **cursor))
        cursor = {"cursor": pages[-1]["nextCursor"]}
    waited = account.api.get(
        f"/v1/inboxes/{inbox['inboxId']}/emails/wait", text="needle", timeoutSeconds=20
    )
    absent = account.api.get(
        f"/v1/inboxes/{inbox['inboxId']}/emails/wait", text="absent", timeoutSeconds=5
    )

    assert pages[0]["emails"] == []
    assert len(pages) > 1
    assert all(page["searched"]["texts"] <= _MAX_TEXTS for page in pages)
    assert sum(page["searched"]["emails"] for page in pages) == _MAX_TEXTS + 21
    backs = [page["searched"]["backTo"] for page in pages]
    assert backs == sorted(backs, reverse=True)
    assert [row["sequence"] for page in pages for row in page["emails"]] == [1]
    assert (waited["outcome"], waited["email"]["sequence"]) == ("matched", 1)
    assert (absent["outcome"], absent["lastSequence"]) == ("timeout", _MAX_TEXTS + 21)


def test_searches_at_once_are_answered_or_put_off(
    mailed: tuple[Account, dict[str, Any]],
) -> None:
    account, _ = mailed

    def search(number: int) -> requests.Response:
        return account.api.call("GET", "/v1/emails", params={"text": f"absent {number}"})

    with ThreadPoolExecutor(10) as threads:
        answers = list(threads.map(search, range(40)))

    for answer in answers:
        assert answer.status_code in (200, 503)
        if answer.status_code == 503:
            assert answer.headers["X-Error-Code"] == "search_busy"
            assert answer.headers["Retry-After"] == "1"
    assert any(answer.status_code == 200 for answer in answers)
