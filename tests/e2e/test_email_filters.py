"""Filters of emails: lists of the API and of the dashboard, waits and MCP find the same ones.

`tests/email_filters.json` has the mails of an inbox and what filters find there, for the tests of
every door; numbers there are sequences, and stand in `since` and `until` for when that email was
received.
"""

import json
import smtplib
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from threading import Timer
from typing import Any

import pytest
import requests
from dev import paths
from harness import Account, Api, Dashboard, Suite, User, eventually, send, send_raw
from harness.mcp_endpoint import McpEndpoint

_TABLE = json.loads((paths.ROOT / "tests" / "email_filters.json").read_text(encoding="utf-8"))
_LAST = len(_TABLE["mails"])
_TIMES = ("since", "until")
_MAX_TEXTS = 500  # opened for a page
_MAX_MESSAGE = 26_214_400  # by the plan
_MAX_TEXT = 2 * 1024 * 1024  # of a message: the rest of it is cut
_LONG = 120.0  # for a search that a busy machine puts off


@pytest.fixture(scope="module")
def user(suite: Suite) -> User:
    """Somebody who is signed in to the account."""
    return User.make(suite)


@pytest.fixture(scope="module")
def mailed(suite: Suite, user: User) -> tuple[Account, dict[str, Any]]:
    """An account with one inbox, in which are the mails of the table."""
    key = suite.operate("key", "create", user.account_id, "--label", "test")["key"]
    account = Account(user.account_id, user.email, key, Api(suite["API"], key))
    inbox = account.api.new_inbox()
    local, _, domain = inbox["emailAddress"].partition("@")
    for mail in _TABLE["mails"]:
        tag = f"+{mail['plusTag']}" if "plusTag" in mail else ""
        message = "".join(f"{line}\r\n" for line in mail["lines"]).encode()
        assert send_raw(suite, [f"{local}{tag}@{domain}"], message) == {}
    listed = account.api.get("/v1/emails", order="asc")["emails"]
    for email, mail in zip(listed, _TABLE["mails"], strict=True):
        if mail.get("isRead"):
            account.api.patch("/v1/emails/" + email["emailId"], {"isRead": True})
    return account, inbox


def _time_of(account: Account, sequence: int) -> str:
    """Returns when the email of the account's only inbox was received."""
    rows = account.api.get("/v1/emails")["emails"]
    return str(next(row["receivedAt"] for row in rows if row["sequence"] == sequence))


def _with_times(account: Account, query: dict[str, Any]) -> dict[str, Any]:
    """Returns what the table asks for with times in place of the emails that were received then."""
    return {
        name: _time_of(account, value) if isinstance(value, int) and name in _TIMES else value
        for name, value in query.items()
    }


def _parameters(query: dict[str, Any]) -> dict[str, str]:
    """Returns the query as parameters of the API."""
    headers = query.get("headers", {}).items()
    return {
        name: str(value).lower() if isinstance(value, bool) else value
        for name, value in query.items()
        if name != "headers"
    } | {f"header.{name}": value for name, value in headers}


def _listed(get: Callable[..., Any], path: str, **query: Any) -> list[int]:
    """Returns the sequences of a list, read a page of two at a time."""
    found: list[int] = []
    cursor: dict[str, str] = {}
    while cursor.get("cursor", "") is not None:
        page = get(path, limit=2, **query, **cursor)
        found += [row["sequence"] for row in page["emails"]]
        cursor = {"cursor": page["nextCursor"]}
    return found


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


def _tool(suite: Suite, account: Account) -> Callable[..., Any]:
    """Returns MCP's find_emails, called as a list is: with an inbox's id as path, or with none."""
    mcp = McpEndpoint(suite["API"], account.key)

    def find_emails(inbox: str, **query: Any) -> Any:
        return mcp.call("find_emails", **({"inboxId": inbox} if inbox else {}), **query)

    return find_emails


@pytest.mark.parametrize(
    ("query", "expected"),
    [(row["query"], row["sequences"]) for row in _TABLE["found"]],
    ids=[json.dumps(row["query"]) for row in _TABLE["found"]],
)
def test_every_door_finds_the_same_emails(
    suite: Suite,
    user: User,
    mailed: tuple[Account, dict[str, Any]],
    query: dict[str, Any],
    expected: list[int],
) -> None:
    account, inbox = mailed
    query = _with_times(account, query)
    parameters = _parameters(query)
    of_inbox = f"/inboxes/{inbox['inboxId']}/emails"
    find_emails = _tool(suite, account)

    for order, sequences in (("asc", expected), ("desc", expected[::-1])):
        for path in (of_inbox, "/emails"):
            of_api = _listed(account.api.get, "/v1" + path, order=order, **parameters)
            of_dashboard = _listed(user.dashboard.get, path, order=order, **parameters)
            assert (of_api, of_dashboard) == (sequences, sequences), (path, order)
        assert _listed(find_emails, "", order=order, **query) == sequences, order
    assert _chain_of_waits(account, inbox, parameters) == expected
    assert _listed(find_emails, inbox["inboxId"], **query) == expected[::-1]


@pytest.mark.parametrize("query", _TABLE["refused"], ids=json.dumps)
def test_every_door_refuses_the_same_filters(
    suite: Suite,
    user: User,
    mailed: tuple[Account, dict[str, Any]],
    query: dict[str, Any],
) -> None:
    account, inbox = mailed
    query = _with_times(account, query)
    of_inbox = f"/inboxes/{inbox['inboxId']}/emails"

    for path in (of_inbox, of_inbox + "/wait", "/emails"):
        of_api = account.api.call("GET", "/v1" + path, params=_parameters(query))
        of_dashboard = user.dashboard.call("GET", path, params=_parameters(query))
        assert (of_api.status_code, of_dashboard.status_code) == (400, 400), path
    assert McpEndpoint(suite["API"], account.key).error("find_emails", **query)


def _pages_behind_the_first(get: Callable[..., Any], path: str) -> Iterator[Any]:
    """Yields what stands on the pages of two behind the first email, and the cursor of each."""
    cursor: dict[str, str] = {}
    while cursor.get("cursor", "") is not None:
        page = get(path, order="asc", after=1, limit=2, **cursor)
        yield [row["sequence"] for row in page["emails"]], page["nextCursor"]
        cursor = {"cursor": page["nextCursor"]}


def test_a_list_goes_on_behind_an_email_in_its_order(
    suite: Suite, user: User, mailed: tuple[Account, dict[str, Any]]
) -> None:
    account, inbox = mailed
    find_emails = _tool(suite, account)
    mcp = McpEndpoint(suite["API"], account.key)
    own = {"order": "asc", "after": 1, "limit": 2}
    others: list[dict[str, Any]] = [{"order": "desc"}, {"text": "e"}]

    doors: list[tuple[Api | Dashboard, str]] = [(account.api, "/v1"), (user.dashboard, "")]
    for door, root in doors:
        path = f"{root}/inboxes/{inbox['inboxId']}/emails"
        (first, cursor), *rest = _pages_behind_the_first(door.get, path)
        assert (first, rest) == ([2, 3], [([4], None)])
        for other in others:
            answer = door.call("GET", path, params={**own, "cursor": cursor, **other})
            assert (answer.status_code, answer.headers["X-Error-Code"]) == (400, "invalid_cursor")

    (first, cursor), *rest = _pages_behind_the_first(find_emails, inbox["inboxId"])
    assert (first, rest) == ([2, 3], [([4], None)])
    for other in others:
        query = {"inboxId": inbox["inboxId"], **own, "cursor": cursor, **other}
        assert "cursor" in mcp.error("find_emails", **query)


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


def test_a_text_at_the_end_of_the_largest_message_is_found(suite: Suite, account: Account) -> None:
    inbox = account.api.new_inbox()
    begin = (
        b"Subject: large\r\nMIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n"
        b"--b\r\nContent-Type: text/csv\r\nContent-Disposition: attachment\r\n\r\n"
    )
    end = b"\r\n--b\r\n\r\n" + b"x " * 200 + b"the needle\r\n--b--\r\n"
    filling = b"1,2,3,4,5,6,7,8,9,10\r\n" * (_MAX_MESSAGE // 22)
    large = begin + filling[: _MAX_MESSAGE - len(begin) - len(end)] + end
    plain = b"Subject: plain\r\n\r\nfirst words\r\n" + b"line of text\r\n" * (_MAX_TEXT // 14)
    assert send_raw(suite, [inbox["emailAddress"]], large) == {}
    assert send_raw(suite, [inbox["emailAddress"]], plain + b"last words\r\n") == {}
    send(suite, inbox["emailAddress"], body="neither")

    def found(text: str) -> tuple[list[int], int] | None:
        """Returns the sequences, and how many emails were looked at; None where a busy machine had
        no time for a message.
        """
        sequences: list[int] = []
        examined = 0
        cursor: dict[str, str] = {}
        while cursor.get("cursor", "") is not None:
            answer = account.api.call("GET", "/v1/emails", params={"text": text, **cursor})
            if answer.status_code == 503:
                return None
            page = answer.json()
            sequences += [row["sequence"] for row in page["emails"]]
            examined += page["searched"]["emails"]
            cursor = {"cursor": page["nextCursor"]}
        return sequences, examined

    def finds(text: str, sequences: list[int]) -> None:
        what = f"{text} is in {sequences}"
        eventually(lambda: found(text) == (sequences, 3), what, seconds=_LONG)

    finds("The NEEDLE", [1])
    finds("first words line", [2])
    finds("last words", [])  # behind what `text` shows
    path = f"/v1/inboxes/{inbox['inboxId']}/emails/wait"
    query = {"text": "needle", "timeoutSeconds": 20}

    def waited() -> Any:
        result = account.api.call("GET", path, params=query).json()
        return result if result.get("outcome") == "matched" else None

    assert eventually(waited, "a wait finds it, too", seconds=_LONG)["email"]["sequence"] == 1


def test_an_email_deleted_between_two_pages_is_passed_over(suite: Suite, account: Account) -> None:
    inbox = account.api.new_inbox()
    ids = [send(suite, inbox["emailAddress"], body="a needle").email_id for _ in range(4)]
    query = {"text": "needle", "order": "asc", "limit": 1}

    first = account.api.get("/v1/emails", **query)
    account.api.delete(f"/v1/emails/{ids[1]}")
    second = account.api.get("/v1/emails", cursor=first["nextCursor"], **query)
    account.api.delete(f"/v1/emails/{ids[3]}")
    third = account.api.get("/v1/emails", cursor=second["nextCursor"], **query)

    assert [row["emailId"] for row in first["emails"]] == [ids[0]]
    assert [row["emailId"] for row in second["emails"]] == [ids[2]]
    assert (third["emails"], third["nextCursor"]) == ([], None)


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
