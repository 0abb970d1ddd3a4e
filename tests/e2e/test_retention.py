"""How inboxes keep mail: how old it gets, and what goes before they are full."""

import base64
import subprocess
from typing import Any

import pytest
from dev.ports import free_port
from harness import Account, Inbox, MailIngest, SmtpSession, Suite, eventually, queued_id

_MESSAGE = b"Subject: hi\r\n\r\nhello\r\n"
_FULL_FOR_NOW = "452 4.2.2 Mailbox is full, try again later"
_BOUND = 20
_CAPTURED = {"maxAgeSeconds": 604_800, "whenFull": "dropOldest"}
_KEPT = {"maxAgeSeconds": None, "whenFull": "refuse"}


def _path(inbox: dict[str, Any], more: str = "") -> str:
    return f"/v1/inboxes/{inbox['inboxId']}{more}"


def _deliver(session: SmtpSession, address: str) -> str:
    """The reply to the message, or to the recipient where that is refused."""
    (answer,) = session.address(address)
    if answer.startswith("250 "):
        return session.data(_MESSAGE)
    session.say("RSET")
    return answer


def _log_in(session: SmtpSession, capture: dict[str, Any]) -> None:
    response = base64.b64encode(f"\0{capture['user']}\0{capture['password']}".encode()).decode()
    assert session.say(f"AUTH PLAIN {response}").startswith("235 ")


def test_a_capture_keeps_mail_for_a_week_and_another_inbox_all_of_it(account: Account) -> None:
    api = account.api
    plain, capture = api.new_inbox(), api.new_inbox(capture=True)
    chosen = api.new_inbox(capture=True, retention={"whenFull": "refuse"})
    later = api.new_inbox()
    api.post(_path(later, "/capture"))

    assert plain["retention"] == _KEPT
    assert capture["retention"] == _CAPTURED
    assert chosen["retention"] == _CAPTURED | {"whenFull": "refuse"}
    assert api.get(_path(later))["retention"] == _CAPTURED


def test_retention_is_changed_in_part_and_brought_back(account: Account) -> None:
    api = account.api
    inbox = api.new_inbox(retention={"maxAgeSeconds": 60})

    drops = api.patch(_path(inbox), {"retention": {"whenFull": "dropOldest"}})
    ageless = api.patch(_path(inbox), {"retention": {"maxAgeSeconds": None}})
    default = api.patch(_path(inbox), {"retention": None})

    assert drops["retention"] == {"maxAgeSeconds": 60, "whenFull": "dropOldest"}
    assert ageless["retention"] == {"maxAgeSeconds": None, "whenFull": "dropOldest"}
    assert default["retention"] == _KEPT
    assert api.get(_path(inbox))["retention"] == _KEPT
    assert default["expiresAt"] == inbox["expiresAt"]


@pytest.mark.parametrize(
    ("retention", "error"),
    [
        ("week", 'retention must be an object, not "week"'),
        ({"maxAgeSeconds": 59}, "retention.maxAgeSeconds must be an integer from 60 to 31622400"),
        ({"whenFull": "drop"}, "retention.whenFull must be one of refuse, dropOldest"),
        ({"age": 60}, "retention.age is unknown here"),
    ],
)
def test_a_wrong_retention_is_refused_with_what_is_allowed(
    account: Account, retention: Any, error: str
) -> None:
    inbox = account.api.new_inbox()

    for method, path in (("POST", "/v1/inboxes"), ("PATCH", _path(inbox))):
        refused = account.api.call(method, path, json={"retention": retention})
        assert refused.status_code == 400
        assert error in refused.json()["message"]
    batch = {"inboxes": [{}, {"retention": retention}]}
    refused = account.api.call("POST", "/v1/inboxes:batch", json=batch)
    assert refused.status_code == 400
    assert "inboxes[1].retention" in refused.json()["message"]


@pytest.mark.parametrize("is_capture", [True, False])
def test_the_oldest_mail_goes_before_the_inbox_is_full(
    suite: Suite, account: Account, is_capture: bool
) -> None:
    api = account.api
    inbox = api.new_inbox(capture=is_capture, retention={"whenFull": "dropOldest"})
    port = free_port()
    counts: list[int] = []
    refused: list[str] = []

    with (
        Inbox(suite, inbox_max_emails=str(_BOUND), purge_interval="100ms"),
        MailIngest(
            suite, inbox_max_emails=str(_BOUND), submission_clear_listen=f"127.0.0.1:{port}"
        ) as mail,
        SmtpSession(f"127.0.0.1:{port}" if is_capture else mail.address) as session,
    ):
        address = inbox["emailAddress"]
        if is_capture:
            _log_in(session, inbox["capture"])
            address = "anybody@shop.example"
        cursors: list[str] = []
        taken = 0

        def is_all_taken() -> bool:
            nonlocal taken
            answer = _deliver(session, address)
            if answer.startswith("250 "):
                queued_id(answer)
                taken += 1
            else:
                refused.append(answer)
            counts.append(api.get(_path(inbox))["emailCount"])
            if taken == _BOUND // 2 and not cursors:
                cursors.append(api.get(_path(inbox, "/emails"), limit=5)["nextCursor"])
            return taken == 3 * _BOUND

        eventually(is_all_taken, "sending goes on", seconds=60)
        eventually(
            lambda: api.get(_path(inbox))["emailCount"] <= _BOUND * 9 // 10,
            "the inbox is trimmed",
            seconds=30,
        )

    assert set(refused) <= {_FULL_FOR_NOW}
    assert max(counts) <= _BOUND
    shown = api.get(_path(inbox))
    assert shown["lastSequence"] == 3 * _BOUND
    emails = api.get(_path(inbox, "/emails"), limit=100)["emails"]
    sequences = [email["sequence"] for email in emails]
    assert sequences == list(range(3 * _BOUND, 3 * _BOUND - len(sequences), -1))
    assert len(sequences) == shown["emailCount"] >= _BOUND * 8 // 10 - 1
    gone = api.get(_path(inbox, "/emails"), limit=5, cursor=cursors[0])
    assert gone == gone | {"emails": [], "nextCursor": None}, "the page's mail was dropped"


def test_an_inbox_that_refuses_stays_full(suite: Suite, account: Account) -> None:
    inbox = account.api.new_inbox()

    with (
        Inbox(suite, inbox_max_emails="2", purge_interval="100ms"),
        MailIngest(suite, inbox_max_emails="2") as mail,
        SmtpSession(mail.address) as session,
    ):
        for _ in range(2):
            queued_id(_deliver(session, inbox["emailAddress"]))
        for _ in range(2):
            assert _deliver(session, inbox["emailAddress"]) == "550 5.2.2 Mailbox is full"
    assert account.api.get(_path(inbox))["emailCount"] == 2


def test_mail_that_is_too_old_goes(suite: Suite, account: Account) -> None:
    api = account.api
    inbox = api.new_inbox()
    with SmtpSession(suite["SMTP"]) as session:
        ids = [queued_id(_deliver(session, inbox["emailAddress"])) for _ in range(3)]
    statement = (
        "UPDATE mailbox.emails SET received_at = received_at - interval '2 hours'"
        f" WHERE inbox_id = '{inbox['inboxId']}' AND sequence < 3"
    )
    command = ["psql", "-XAtq", "-v", "ON_ERROR_STOP=1", "-d", suite["DATABASE"], "-c", statement]
    subprocess.run(command, check=True, timeout=30)

    api.patch(_path(inbox), {"retention": {"maxAgeSeconds": 3600}})

    eventually(lambda: api.get(_path(inbox))["emailCount"] == 1, "the old mail is gone", seconds=30)
    emails = api.get(_path(inbox, "/emails"))["emails"]
    assert [email["emailId"] for email in emails] == [ids[2]]
    assert api.call("GET", f"/v1/emails/{ids[0]}").status_code == 404
    assert api.get(_path(inbox))["lastSequence"] == 3
