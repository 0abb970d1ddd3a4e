"""Sign-up and forgotten passwords by mail, through a relay that the operator set: here the suite's
own mail server.
"""

import re
import secrets
import subprocess
import uuid
from collections.abc import Iterator
from typing import Any

import pytest
from harness import (
    Account,
    Dashboard,
    Gateway,
    Receiver,
    SmtpSession,
    Suite,
    eventually,
    plain_response,
    send,
)

_FROM = "noreply@mail.example"
_PAGE = "https://mail.example/dashboard"


@pytest.fixture(scope="module")
def gateway(suite: Suite) -> Iterator[Gateway]:
    """Starts a gateway with a relay."""
    settings = {
        "mail_relay": suite["SMTP"],
        "mail_relay_tls": "none",
        "mail_relay_from": _FROM,
        "dashboard_url": _PAGE + "/",
    }
    with Gateway(suite, **settings) as running:
        yield running


@pytest.fixture
def visitor(gateway: Gateway) -> Dashboard:
    """A browser at that gateway."""
    return Dashboard(f"http://{gateway.address}")


class Mailbox:
    """An address that really gets mail."""

    def __init__(self, suite: Suite) -> None:
        self._api = Account.make(suite).api
        inbox = self._api.new_inbox()
        self.address: str = inbox["emailAddress"]
        self._id = inbox["inboxId"]
        self._seen = 0

    def next(self) -> Any:
        """The next letter, once it is there."""
        answer = self._api.get(
            f"/v1/inboxes/{self._id}/emails/wait", after=self._seen, timeoutSeconds=30
        )
        assert answer["outcome"] == "matched"
        self._seen = answer["email"]["sequence"]
        return answer["email"]

    def count(self) -> int:
        """Returns how many mails came."""
        return int(self._api.get(f"/v1/inboxes/{self._id}")["emailCount"])


@pytest.fixture
def mailbox(suite: Suite) -> Mailbox:
    """A fresh one."""
    return Mailbox(suite)


def _run_sql(suite: Suite, statement: str) -> str:
    command = ["psql", "-XAtq", "-v", "ON_ERROR_STOP=1", "-d", suite["DATABASE"], "-c", statement]
    done = subprocess.run(command, check=True, timeout=30, capture_output=True, text=True)
    shown: str = done.stdout
    return shown.strip()


def _sign_up(visitor: Dashboard, mailbox: Mailbox, password: str) -> str:
    answer = visitor.call(
        "POST", "/accounts", json={"email": mailbox.address, "password": password}
    )
    assert answer.status_code == 202
    assert answer.json() == {"email": mailbox.address, "codeSent": True}
    letter = mailbox.next()
    assert letter["from"] == _FROM
    code = re.search(r"^ {4}(\d{8})$", letter["text"].replace("\r", ""), re.MULTILINE)
    assert code, letter["text"]
    return code[1]


def test_an_account_is_made_with_the_code_that_was_mailed(
    visitor: Dashboard, mailbox: Mailbox
) -> None:
    assert visitor.get("/settings") == {"signUp": "open", "mailRelay": True}
    code = _sign_up(visitor, mailbox, "a good password")
    body = {"email": mailbox.address, "password": "a good password"}

    wrong = visitor.call("POST", "/accounts/confirm", json=body | {"code": "00000000"})
    right = visitor.enter("POST", "/accounts/confirm", body | {"code": code})
    again = visitor.call("POST", "/accounts/confirm", json=body | {"code": code})

    assert (wrong.status_code, right.status_code, again.status_code) == (400, 201, 400)
    assert right.json()["emailAddress"] == mailbox.address
    assert visitor.get("/session")["plan"] == "free"
    assert visitor.sign_in(mailbox.address, "a good password").status_code == 200


def test_a_known_address_is_answered_alike_and_told_by_mail_alone(
    visitor: Dashboard, mailbox: Mailbox
) -> None:
    code = _sign_up(visitor, mailbox, "a good password")
    visitor.enter(
        "POST",
        "/accounts/confirm",
        {"email": mailbox.address, "password": "a good password", "code": code},
    )

    answer = visitor.call(
        "POST", "/accounts", json={"email": mailbox.address, "password": "another password"}
    )

    assert (answer.status_code, answer.json()) == (
        202,
        {"email": mailbox.address, "codeSent": True},
    )
    letter = mailbox.next()
    assert letter["subject"] == "You have an account already"
    assert _PAGE in letter["text"]
    assert Dashboard(visitor.base).sign_in(mailbox.address, "another password").status_code == 401


def test_a_forgotten_password_is_set_by_a_link_that_is_good_once(
    visitor: Dashboard, mailbox: Mailbox
) -> None:
    code = _sign_up(visitor, mailbox, "a good password")
    visitor.enter(
        "POST",
        "/accounts/confirm",
        {"email": mailbox.address, "password": "a good password", "code": code},
    )

    answer = visitor.call("POST", "/password-resets", json={"email": mailbox.address})
    assert (answer.status_code, answer.json()) == (
        202,
        {"email": mailbox.address, "linkSent": True},
    )
    found = re.search(re.escape(_PAGE) + r"/reset-password#(\S+)", mailbox.next()["text"])
    assert found, "the letter has the link"
    token = found[1]
    first = visitor.call(
        "POST", "/password-resets/confirm", json={"token": token, "newPassword": "a new password"}
    )
    second = visitor.call(
        "POST", "/password-resets/confirm", json={"token": token, "newPassword": "a new password"}
    )

    assert (first.status_code, second.status_code) == (200, 400)
    assert visitor.call("GET", "/session").status_code == 401
    assert visitor.sign_in(mailbox.address, "a new password").status_code == 200


def test_an_unknown_address_is_answered_alike_and_gets_no_mail(
    visitor: Dashboard, mailbox: Mailbox
) -> None:
    answer = visitor.call("POST", "/password-resets", json={"email": mailbox.address})
    assert (answer.status_code, answer.json()) == (
        202,
        {"email": mailbox.address, "linkSent": True},
    )

    _sign_up(
        visitor, mailbox, "a good password"
    )  # letters go out in order: the link would have come first
    assert mailbox.count() == 1


def test_an_address_is_mailed_five_times_and_the_sixth_is_answered_alike(
    visitor: Dashboard, mailbox: Mailbox
) -> None:
    for _ in range(6):
        answer = visitor.call(
            "POST", "/accounts", json={"email": mailbox.address, "password": "a good password"}
        )
        assert answer.status_code == 202
    eventually(lambda: mailbox.count() == 5, "five letters came")

    other = Mailbox(Suite())
    _sign_up(visitor, other, "a good password")  # letters go out in order

    assert mailbox.count() == 5


@pytest.mark.usefixtures("gateway")
def test_an_account_is_told_that_its_webhook_was_switched_off(
    suite: Suite, mailbox: Mailbox
) -> None:
    account = Account.make(suite, email=mailbox.address)
    with Receiver(answer=lambda _: 410) as receiver:
        webhook = account.api.post(
            "/v1/webhooks", {"url": receiver.url + "?token=secret", "events": ["email.received"]}
        )
        send(suite, account.api.new_inbox()["emailAddress"])

        letter = mailbox.next()

    assert letter["subject"] == "A webhook of yours was switched off"
    text = letter["text"].replace("\r", "")
    assert f"\n    {receiver.url}\n" in text
    assert "it answered 410 Gone" in text
    assert f"{_PAGE}/settings/webhooks/{webhook['webhookId']}" in text


def test_an_account_is_told_once_that_a_capture_in_use_ends(suite: Suite, mailbox: Mailbox) -> None:
    account = Account.make(suite, email=mailbox.address)
    inbox = account.api.new_inbox(capture=True, ttlSeconds=7 * 86_400)
    path = f"/v1/inboxes/{inbox['inboxId']}"
    capture = inbox["capture"]
    auth = plain_response(capture["user"], capture["password"])
    with SmtpSession(f"{suite['SUBMISSION_HOST']}:{suite['SUBMISSION_PORT']}") as session:
        assert session.say(f"AUTH PLAIN {auth}").startswith("235 ")
    eventually(
        lambda: account.api.get(path)["capture"]["lastUsedAt"] is not None,
        "the login is noted as used",
        seconds=30,
    )
    of_inbox = f"WHERE inbox_id = '{inbox['inboxId']}'"
    _run_sql(
        suite,
        f"UPDATE mailbox.inboxes SET expires_at = now() + interval '70 hours' {of_inbox}",
    )

    # Each claims notices at its start.
    settings = {
        "mail_relay": suite["SMTP"],
        "mail_relay_tls": "none",
        "mail_relay_from": _FROM,
        "dashboard_url": _PAGE,
    }
    with Gateway(suite, **settings), Gateway(suite, **settings):
        letter = mailbox.next()
        eventually(
            lambda: (
                _run_sql(suite, f"SELECT due_at FROM mailbox.end_notices {of_inbox}") == "infinity"
            ),
            "the notice is settled",
        )

    assert letter["subject"] == "An inbox of yours ends within 3 days"
    text = letter["text"].replace("\r", "")
    assert f"\n    {inbox['emailAddress']}\n" in text
    assert f"{_PAGE}/inboxes/{inbox['inboxId']}" in text
    assert mailbox.count() == 1


@pytest.mark.parametrize(
    "address",
    [
        "a@example.com\r\nBcc: b@example.com",
        "a@example.com>",
        "<a@example.com",
        '"a b"@example.com',
        "a,b@example.com",
    ],
)
def test_an_address_that_would_end_a_header_is_refused(visitor: Dashboard, address: str) -> None:
    for path, more in (("/accounts", {"password": "a good password"}), ("/password-resets", {})):
        answer = visitor.call("POST", path, json={"email": address} | more)
        assert answer.status_code == 400
        assert "email must be" in answer.json()["message"]


def test_without_a_relay_nothing_is_mailed(suite: Suite) -> None:
    visitor = Dashboard(suite["API"])

    reset = visitor.call(
        "POST", "/password-resets", json={"email": f"{uuid.uuid4().hex}@example.com"}
    )
    confirm = visitor.call(
        "POST",
        "/accounts/confirm",
        json={"email": "a@example.com", "password": secrets.token_urlsafe(9), "code": "12345678"},
    )

    assert reset.status_code == confirm.status_code == 403
    assert "operator" in reset.json()["message"]
