"""Lists of emails: conditions, extras, pages, and all inboxes together."""

from typing import Any

import pytest
from harness import Account, Api, Suite, send, send_raw


@pytest.fixture(scope="module")
def mailed(suite: Suite) -> tuple[Account, dict[str, Any]]:
    """An account with three emails in one inbox."""
    account = Account.make(suite)
    inbox = account.api.new_inbox()
    local, _, domain = inbox["emailAddress"].partition("@")
    send_raw(
        suite,
        [f"{local}+news@{domain}"],
        b"From: =?utf-8?Q?J=C3=BCrgen_Stra=C3=9Fe?= <news@shop.example>\r\n"
        b"To: All <list@lists.example>\r\n"
        b"Cc: Team: Ann (at work) <ann@team.example>, bob@team.example;\r\n"
        b'Reply-To: "Hilfe, bitte" <help@shop.example>\r\n'
        b"Subject: =?utf-8?Q?Gr=C3=BC=C3=9Fe?=\r\n\r\nnothing here\r\n",
    )
    send(
        suite, inbox["emailAddress"], subject="Your code", body="Your verification code is 482913."
    )
    send(suite, inbox["emailAddress"], subject="Invoice 17", body="Please pay.")
    return account, inbox


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ({}, ["Invoice 17", "Your code", "Grüße"]),
        ({"subject": "GRÜSSE"}, ["Grüße"]),
        ({"from_": "jürgen STRASSE"}, ["Grüße"]),
        ({"from_": "NEWS@shop"}, ["Grüße"]),
        ({"to": "+NEWS@"}, ["Grüße"]),
        ({"to": "list@LISTS.example"}, ["Grüße"]),
        ({"to": "All"}, []),
        ({"from_": "robot@", "subject": "invoice"}, ["Invoice 17"]),
        ({"subject": "code", "after": 2}, []),
        ({"after": 1}, ["Invoice 17", "Your code"]),
        ({"subject": "nowhere"}, []),
    ],
)
def test_conditions_hold_together_whatever_the_case(
    mailed: tuple[Account, dict[str, Any]], query: dict[str, Any], expected: list[str]
) -> None:
    account, inbox = mailed

    of_inbox = account.api.get(f"/v1/inboxes/{inbox['inboxId']}/emails", **query)
    assert [row["subject"] for row in of_inbox["emails"]] == expected
    assert of_inbox["nextCursor"] is None
    if "after" not in query:
        assert [
            row["subject"] for row in account.api.get("/v1/emails", **query)["emails"]
        ] == expected


def test_the_header_names_whom_a_mail_is_to_and_the_envelope_who_got_it(
    mailed: tuple[Account, dict[str, Any]],
) -> None:
    account, inbox = mailed
    local, _, domain = inbox["emailAddress"].partition("@")
    path = f"/v1/inboxes/{inbox['inboxId']}/emails"

    (of_inbox,) = account.api.get(path, subject="GRÜSSE")["emails"]
    (of_account,) = account.api.get("/v1/emails", subject="GRÜSSE")["emails"]
    whole = account.api.get("/v1/emails/" + of_inbox["emailId"])
    marked = account.api.patch("/v1/emails/" + of_inbox["emailId"], {"isRead": False})
    waited = account.api.get(path + "/wait", subject="GRÜSSE")["email"]

    for email in (of_inbox, of_account, whole, marked, waited):
        assert (email["from"], email["fromName"]) == ("news@shop.example", "Jürgen Straße")
        assert email["to"] == [{"address": "list@lists.example", "name": "All"}]
        assert email["recipients"] == [f"{local}+news@{domain}"]
    assert whole["bcc"] == [{"address": f"{local}+news@{domain}", "name": ""}]
    assert (whole["cc"], whole["replyTo"]) == (
        [
            {"address": "ann@team.example", "name": "Ann (at work)"},
            {"address": "bob@team.example", "name": ""},
        ],
        [{"address": "help@shop.example", "name": "Hilfe, bitte"}],
    )


def test_addresses_are_bounded_whatever_a_header_holds(suite: Suite, account: Account) -> None:
    inbox = account.api.new_inbox()
    many = b",\r\n ".join(b'"n%d" <%d@many.example>' % (i, i) for i in range(300))
    hostile = b'=?utf-8?B?AP/+IQ==?= <a@x.example>, \xff\xfe <b\x80@x.example>, ((((<@,"'
    send_raw(
        suite,
        [inbox["emailAddress"]],
        b"From: a@sender.example\r\nTo: " + many + b"\r\nCc: " + hostile + b"\r\n"
        b"Reply-To: " + b"n" * 900 + b"\r\n <" + b"a" * 900 + b"@x.example>\r\n"
        b"Subject: many\r\n\r\nhi\r\n",
    )

    (summary,) = account.api.get(f"/v1/inboxes/{inbox['inboxId']}/emails")["emails"]
    email = account.api.get("/v1/emails/" + summary["emailId"])

    assert summary["to"] == [{"address": f"{i}@many.example", "name": f"n{i}"} for i in range(100)]
    assert email["to"] == summary["to"]
    assert email["cc"][0] == {"address": "a@x.example", "name": "\ufffd\ufffd\ufffd!"}
    assert email["replyTo"] == [{"address": "a" * 320, "name": "n" * 320}]
    to = next(field["value"] for field in email["headers"] if field["name"] == "To")
    assert "299@many.example" in to, "the header itself is whole"


def test_text_and_codes_come_when_they_are_asked_for(
    mailed: tuple[Account, dict[str, Any]],
) -> None:
    account, inbox = mailed
    path = f"/v1/inboxes/{inbox['inboxId']}/emails"

    (plain,) = account.api.get(path, subject="code")["emails"]
    (both,) = account.api.get(path, subject="code", include="text,codes")["emails"]
    (codes,) = account.api.get("/v1/emails", subject="code", include="codes")["emails"]

    assert set(both) - set(plain) == {"text", "codes"}
    assert both["codes"][0]["value"] == "482913"
    assert "482913" in both["text"]
    assert set(codes) - set(plain) == {"codes"}
    assert account.api.call("GET", path, params={"include": "html"}).status_code == 400


def test_links_come_when_they_are_asked_for(suite: Suite, account: Account) -> None:
    inbox = account.api.new_inbox()
    path = f"/v1/inboxes/{inbox['inboxId']}/emails"
    url = "https://shop.example/verify?t=ab12"
    send(suite, inbox["emailAddress"], subject="Welcome", body=f"Confirm your address: {url}")
    send(suite, inbox["emailAddress"], subject="Invoice", body="Please pay.")

    plain = account.api.get(path)["emails"]
    of_inbox = account.api.get(path, include="links")["emails"]
    of_account = account.api.get("/v1/emails", include="links,codes,text")["emails"]

    links = [account.api.get("/v1/emails/" + one["emailId"])["links"] for one in plain]
    assert of_inbox == [{**one, "links": its} for one, its in zip(plain, links, strict=True)]
    assert [one["links"] for one in of_account] == links
    assert set(of_account[0]) - set(plain[0]) == {"text", "codes", "links"}
    assert links[0] == []
    assert [(link["url"], link["kind"]) for link in links[1]] == [(url, "verify")]


def test_all_live_inboxes_are_one_list(suite: Suite, account: Account) -> None:
    inboxes = [account.api.new_inbox() for _ in range(3)]
    sent = [send(suite, inbox["emailAddress"]).email_id for inbox in inboxes for _ in range(2)]
    account.api.delete("/v1/inboxes/" + inboxes[1]["inboxId"])

    seen: list[str] = []
    cursor: dict[str, str] = {}
    while True:
        page = account.api.get("/v1/emails", limit=3, **cursor)
        seen += [row["emailId"] for row in page["emails"]]
        if page["nextCursor"] is None:
            break
        cursor = {"cursor": page["nextCursor"]}

    assert seen == [sent[5], sent[4], sent[1], sent[0]]
    assert account.api.call("GET", "/v1/emails", params={"after": 1}).status_code == 400


def test_new_mail_is_read_in_the_order_in_which_it_came(suite: Suite, account: Account) -> None:
    inbox = account.api.new_inbox()
    path = f"/v1/inboxes/{inbox['inboxId']}/emails"
    sent = [send(suite, inbox["emailAddress"]).email_id for _ in range(3)]
    last = 0
    read: list[str] = []
    for number in range(7):
        rows = account.api.get(path, order="asc", after=last, limit=2)["emails"]
        assert account.api.get(path, order="asc", after=last, limit=2)["emails"] == rows
        read += [row["emailId"] for row in rows]
        last = max([last, *(row["sequence"] for row in rows)])
        if number < 4:
            sent.append(send(suite, inbox["emailAddress"]).email_id)

    assert read == sent
    newest = [row["emailId"] for row in account.api.get(path)["emails"]]
    assert newest == sent[::-1], "the same list in the other order is another one"
    for where in (path, "/v1/emails"):
        first = account.api.get(where, order="asc", limit=4)
        rest = account.api.get(where, order="asc", limit=4, cursor=first["nextCursor"])
        assert [row["emailId"] for row in first["emails"] + rest["emails"]] == sent
        assert rest["nextCursor"] is None


def test_a_list_behind_a_sequence_is_followed_to_its_end(suite: Suite, account: Account) -> None:
    inbox = account.api.new_inbox()
    for _ in range(4):
        assert send_raw(suite, [inbox["emailAddress"]], b"Subject: next\r\n\r\nhi\r\n") == {}

    pages: list[list[int]] = []
    cursor: dict[str, str] = {}
    while cursor.get("cursor", "") is not None:
        page = account.api.get(
            f"/v1/inboxes/{inbox['inboxId']}/emails", order="asc", after=1, limit=2, **cursor
        )
        pages.append([row["sequence"] for row in page["emails"]])
        cursor = {"cursor": page["nextCursor"]}

    assert pages == [[2, 3], [4]]


def test_a_cursor_belongs_to_its_list(
    mailed: tuple[Account, dict[str, Any]], other_account: Account
) -> None:
    account, inbox = mailed
    path = f"/v1/inboxes/{inbox['inboxId']}/emails"
    cursor = account.api.get(path, limit=1)["nextCursor"]
    of_all = account.api.get("/v1/emails", limit=1)["nextCursor"]

    refused = [
        (account, path, {"cursor": cursor, "subject": "code"}),
        (account, path, {"cursor": cursor, "after": "1"}),
        (account, "/v1/emails", {"cursor": cursor}),
        (account, path, {"cursor": of_all}),
        (account, path, {"cursor": cursor, "order": "asc"}),
        (account, "/v1/emails", {"cursor": of_all, "order": "asc"}),
        (other_account, "/v1/emails", {"cursor": of_all}),
        (account, path, {"cursor": cursor[::-1]}),
    ]
    for who, where, query in refused:
        answer = who.api.call("GET", where, params=query)
        assert (answer.status_code, "cursor" in answer.json()["message"]) == (400, True), query
        assert answer.headers["X-Error-Code"] == "invalid_cursor", query
    assert len(account.api.get(path, cursor=cursor, limit=1)["emails"]) == 1
    assert len(account.api.get(path, cursor=cursor, limit=1, order="desc")["emails"]) == 1


def test_every_gateway_shows_every_change_at_once_however_often_it_was_asked(
    suite: Suite, account: Account
) -> None:
    gateways = [Api(url, account.key) for url in suite.of_each("gateway", "URL")]
    inbox = account.api.new_inbox()
    expected: dict[str, bool] = {}

    def check() -> None:
        for gateway in gateways * 2:
            rows = gateway.get(f"/v1/inboxes/{inbox['inboxId']}/emails")["emails"]
            assert {row["emailId"]: row["isRead"] for row in rows} == expected

    check()
    for number in range(12):
        gateway = gateways[number % len(gateways)]
        fresh = send(suite, inbox["emailAddress"]).email_id
        expected[fresh] = False
        check()
        gateway.patch(f"/v1/emails/{fresh}", {"isRead": True})
        expected[fresh] = True
        check()
        gateway.patch(f"/v1/emails/{fresh}", {"isRead": False})
        expected[fresh] = False
        check()
        if number % 3 == 2:
            gateway.delete(f"/v1/emails/{fresh}")
            del expected[fresh]
            check()
    account.api.delete(f"/v1/inboxes/{inbox['inboxId']}/emails")
    expected.clear()
    check()
    account.api.delete(f"/v1/inboxes/{inbox['inboxId']}")
    for gateway in gateways * 2:
        assert gateway.call("GET", f"/v1/inboxes/{inbox['inboxId']}/emails").status_code == 404
