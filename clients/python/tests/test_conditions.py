"""Tests what lists and waits ask of the service, and what they make of its answers."""

from collections.abc import Callable, Iterator
from dataclasses import fields
from datetime import datetime, timedelta, timezone
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import pytest
from scripted_server import INBOX_ID, Answer, ScriptedServer

from tempinbox import InvalidArgument, Tempinbox, WaitTimeout
from tempinbox._answers import camel_case
from tempinbox.types import Email, EmailSummary

RECEIVED = "2026-11-21T10:00:00.123Z"
TIMEOUT: dict[str, Any] = {
    "outcome": "timeout",
    "email": None,
    "matched": 0,
    "emails": [],
    "lastSequence": 3,
    "waitedMs": 1000,
    "nearMisses": [],
}
SUMMARY: dict[str, Any] = {
    camel_case(one.name): None for one in fields(EmailSummary) if one.name != "extra"
}
SUMMARY |= {"emailId": INBOX_ID, "subject": "Your code", "receivedAt": RECEIVED}
EMPTY: dict[str, Any] = {"emails": [], "nextCursor": None}
# Each condition, and what the query says then.
CONDITIONS: list[tuple[dict[str, Any], dict[str, str]]] = [
    ({"from_": "robot@"}, {"from": "robot@"}),
    ({"to": "ann"}, {"to": "ann"}),
    ({"recipient": "+signup"}, {"recipient": "+signup"}),
    ({"subject": "code & more"}, {"subject": "code & more"}),
    ({"has_code": False}, {"hasCode": "false"}),
    ({"has_link": True}, {"hasLink": "true"}),
    ({"link_kind": "reset"}, {"linkKind": "reset"}),
    ({"has_attachment": True}, {"hasAttachment": "true"}),
    ({"is_read": False}, {"isRead": "false"}),
    ({"since": "2026-11-21T10:00:00Z"}, {"since": "2026-11-21T10:00:00Z"}),
    (
        {"until": datetime(2026, 11, 21, 12, tzinfo=timezone(timedelta(hours=2)))},
        {"until": "2026-11-21T12:00:00+02:00"},
    ),
    (
        {"headers": {"X-Run": "4711", "x-job": "a b"}},
        {"header.X-Run": "4711", "header.x-job": "a b"},
    ),
    ({"text": "Straße 7"}, {"text": "Straße 7"}),
    ({"subject": None, "has_code": None, "headers": {}}, {}),
]


def email(sequence: int, *links: tuple[str, str]) -> dict[str, Any]:
    """Makes an email of the API with these links, each a kind and an address."""
    found: dict[str, Any] = dict.fromkeys(camel_case(one.name) for one in fields(Email))
    found |= SUMMARY | {"sequence": sequence, "codes": []}
    return found | {"links": [{"kind": kind, "url": url, "text": ""} for kind, url in links]}


def matched(found: dict[str, Any], *emails: dict[str, Any]) -> Answer:
    """Makes the answer of a wait that found an email, or several."""
    more = {"outcome": "matched", "email": found, "emails": list(emails)}
    return Answer(200, TIMEOUT | more | {"matched": max(1, len(emails))})


def queries(server: ScriptedServer) -> Iterator[dict[str, str]]:
    """Yields the query of each request."""
    for _, path, _, _ in server.requests:
        yield dict(parse_qsl(urlsplit(path).query, keep_blank_values=True))


@pytest.mark.parametrize(("given", "sent"), CONDITIONS)
def test_lists_and_waits_ask_for_each_condition(
    server: ScriptedServer, scripted: Tempinbox, given: dict[str, Any], sent: dict[str, str]
) -> None:
    server.steps = [Answer(200, EMPTY), Answer(200, EMPTY), matched(email(4))]

    assert list(scripted.list_inbox_emails(INBOX_ID, **given)) == []
    assert list(scripted.list_emails(tag="run-4711", order="asc", **given)) == []
    assert scripted.wait_for_email(INBOX_ID, after=3, timeout=7, **given).sequence == 4

    of_inbox, of_all, wait = queries(server)
    assert of_inbox == sent
    assert of_all == sent | {"tag": "run-4711", "order": "asc"}
    held = {"after": "3", "expect": "one", "timeoutSeconds": "7"}
    assert wait == sent | held


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"subjekt": "a"}, "subjekt is unknown here; known are from_, to, recipient, subject"),
        ({"text": ""}, "text must be a string of 1 to 500 characters"),
        ({"link_kind": "login"}, "link_kind must be one of verify, reset, unsubscribe, other"),
        ({"is_read": "no"}, "is_read must be True or False"),
        ({"since": datetime(2026, 11, 21, 10)}, "since must be a time with a zone"),  # noqa: DTZ001
        ({"headers": "X-Run: 1"}, "headers must be a dict of at most 4 pairs of strings"),
        ({"headers": dict.fromkeys("abcde", "x")}, "headers must be a dict of at most 4 pairs"),
        ({"headers": {"X Run": "1"}}, "a name in headers must be a string of 1 to 100 characters"),
        ({"headers": {"": "1"}}, "a name in headers must be a string of 1 to 100 characters"),
        ({"headers": {"X-Run": ""}}, r"headers\['X-Run'\] must be a string of 1 to 500"),
        ({"headers": {"X-Run": 7}}, r"headers\['X-Run'\] must be a string of 1 to 500"),
    ],
)
def test_a_wrong_condition_is_refused_before_the_call(given: dict[str, Any], says: str) -> None:
    with Tempinbox(base_url="http://127.0.0.1:1", api_key="x") as client:
        calls: list[Callable[[], object]] = [
            lambda: client.wait_for_email(INBOX_ID, **given),
            lambda: client.wait_for_emails(INBOX_ID, 2, **given),
            lambda: client.expect_no_email(INBOX_ID, **given),
            lambda: next(client.list_emails(**given)),
            lambda: next(client.list_inbox_emails(INBOX_ID, **given)),
        ]
        for call in calls:
            with pytest.raises(InvalidArgument, match=says):
                call()


def test_what_a_wait_decides_by_itself_is_no_condition_of_it(scripted: Tempinbox) -> None:
    wrong: Any = {"has_code": True}
    with pytest.raises(InvalidArgument, match="has_code is unknown here"):
        scripted.wait_for_code(INBOX_ID, **wrong)
    wrong = {"link_kind": "reset"}
    with pytest.raises(InvalidArgument, match="link_kind is unknown here"):
        scripted.wait_for_link(INBOX_ID, **wrong)
    with pytest.raises(InvalidArgument, match="min_count must be an integer from 1 to 100, not 0"):
        scripted.wait_for_emails(INBOX_ID, 0)


def test_a_wait_for_a_link_asks_the_service_for_its_kind(
    server: ScriptedServer, scripted: Tempinbox
) -> None:
    server.steps = [
        matched(email(4, ("other", "https://a.example/"), ("reset", "https://a.example/r"))),
        matched(email(5, ("unsubscribe", "https://a.example/u"))),
        matched(email(6, ("other", "https://a.example/o"), ("verify", "https://a.example/v"))),
    ]

    assert scripted.wait_for_link(INBOX_ID, kind="reset", text="a") == "https://a.example/r"
    assert scripted.wait_for_link(INBOX_ID) == "https://a.example/v"

    reset, first, second = queries(server)
    assert (reset["linkKind"], reset["text"], "hasLink" in reset) == ("reset", "a", False)
    assert (first["hasLink"], first["after"], "linkKind" in first) == ("true", "0", False)
    assert (second["hasLink"], second["after"]) == ("true", "5")


def test_a_wait_for_a_part_of_an_address_passes_over_other_links(
    server: ScriptedServer, scripted: Tempinbox
) -> None:
    server.steps = [matched(email(4, ("verify", "https://a.example/"))), Answer(200, TIMEOUT)]

    with pytest.raises(WaitTimeout) as caught:
        scripted.wait_for_link(INBOX_ID, kind="verify", url="b.example", timeout=1)

    assert 'asked for: linkKind: "verify", url: "b.example", after: 0' in str(caught.value)
    [miss] = caught.value.near_misses
    assert (miss.field, miss.expected, miss.actual) == (
        "link",
        "verify with b.example",
        "1 other links",
    )


def test_a_wait_for_several_emails_answers_their_summaries(
    server: ScriptedServer, scripted: Tempinbox
) -> None:
    both = [SUMMARY | {"sequence": 4}, SUMMARY | {"sequence": 6}]
    draining = TIMEOUT | {"outcome": "draining", "emails": both[:1], "matched": 1}
    server.steps = [Answer(200, draining), matched(email(4), *both)]

    found = scripted.wait_for_emails(INBOX_ID, 2, from_="robot@", after=3)

    assert [one.sequence for one in found] == [4, 6]
    for query in queries(server):
        assert (query["minCount"], query["after"], query["from"]) == ("2", "3", "robot@")


def test_a_wait_for_one_email_answers_its_summary(
    server: ScriptedServer, scripted: Tempinbox
) -> None:
    server.steps = [matched(email(4))]

    [found] = scripted.wait_for_emails(INBOX_ID, 1)

    assert isinstance(found, EmailSummary)
    assert (found.sequence, found.subject, found.extra) == (4, "Your code", {})


def test_a_wait_for_several_emails_that_ends_too_soon_has_those_that_came(
    server: ScriptedServer, scripted: Tempinbox
) -> None:
    one = SUMMARY | {"sequence": 4, "from": "robot@a.example"}
    missed = {"emailId": INBOX_ID, "field": "text", "expected": "order", "actual": "Hello"}
    late = TIMEOUT | {"matched": 1, "emails": [one], "nearMisses": [missed]}
    server.steps = [Answer(200, late)]

    with pytest.raises(WaitTimeout) as caught:
        scripted.wait_for_emails(INBOX_ID, 2, text="order", headers={"X-Run": "7"}, timeout=1)

    assert [email.sequence for email in caught.value.emails] == [4]
    assert [miss.field for miss in caught.value.near_misses] == ["text"]
    said = str(caught.value)
    assert said.startswith("1 of 2 emails matched within 1 s.\n")
    assert 'asked for: text: "order", header.X-Run: "7", after: 0' in said
    assert 'matched: "Your code" from "robot@a.example"' in said
