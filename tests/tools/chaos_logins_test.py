"""Tests what a chaos run holds against the mail of senders that log in."""

import unittest
from typing import Any

from chaos import logins
from chaos.checks import Mailboxes
from chaos.load import Capture, Inbox, Mail, TurnedAway

_CAPTURE = Capture("capture", "capture@inbox.example", "cap_user", "tic_password")
_RECIPIENTS = ["user@shop.example", "other@shop.example"]


class _Held(Mailboxes):
    """The recipients that the emails of the capture name, by email id."""

    def __init__(self, held: dict[str, list[str]]) -> None:
        super().__init__("nowhere", "")
        self._held = held

    def list(self, inbox: Inbox) -> list[dict[str, Any]]:
        assert inbox == _CAPTURE
        return [{"emailId": each, "recipients": named} for each, named in self._held.items()]


def _check(*replies: str, email_id: str | None = "1", named: list[str] | None = None) -> list[str]:
    mail = Mail("a", [_CAPTURE], b"", email_id, recipients=_RECIPIENTS)
    failures: list[tuple[float, Exception]] = [(0.0, TurnedAway(reply)) for reply in replies]
    failures.append((1.0, ConnectionResetError(104, "Connection reset by peer")))
    return list(logins.check([mail], failures, _Held({"1": named or _RECIPIENTS})))


class ChaosLogins(unittest.TestCase):
    def test_what_dies_and_comes_back_is_fine(self) -> None:
        passing = ("454 4.7.0 Temporary authentication failure", "451 4.3.0 Try again later")
        self.assertEqual(_check(*passing, "421 4.3.2 Service is shutting down"), [])

    def test_a_good_login_is_refused_for_good(self) -> None:
        for reply in (
            "535 5.7.8 Authentication credentials invalid",
            "530 5.7.0 Authentication required",
            "421 4.7.0 Login is no longer valid",
        ):
            self.assertEqual(_check(reply), [f"a sender with a good login was answered {reply}"])

    def test_an_email_that_lacks_a_recipient(self) -> None:
        found = _check(named=_RECIPIENTS[:1])
        self.assertEqual(
            found,
            [f"a: was sent to {', '.join(_RECIPIENTS)}, its email names {_RECIPIENTS[0]}"],
        )

    def test_a_run_that_took_no_mail_by_login(self) -> None:
        self.assertEqual(_check(email_id=None), ["no mail by login was accepted"])
