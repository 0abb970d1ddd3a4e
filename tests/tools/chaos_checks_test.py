"""Tests what a chaos run counts as a violation."""

import unittest
from collections import Counter
from typing import Any

from chaos.checks import Mailboxes, Report, check, stored
from chaos.load import Inbox, Mail

_FIRST, _SECOND = Inbox("first", "first@inbox.example"), Inbox("second", "second@inbox.example")


def _mail(
    chaos_id: str, inboxes: list[Inbox], email_id: str | None = None, dot_was_sent: bool = True
) -> Mail:
    return Mail(
        chaos_id, inboxes, f"X-Chaos-Id: {chaos_id}\r\n\r\nhi\r\n".encode(), email_id, dot_was_sent
    )


class _Held(Mailboxes):
    """Emails by inbox id: email id and content."""

    def __init__(self, held: dict[str, list[tuple[str, bytes]]]) -> None:
        super().__init__("nowhere", "")
        self._held = held

    def list(self, inbox: Inbox) -> list[dict[str, Any]]:
        return [{"emailId": email_id} for email_id, _ in self._held.get(inbox.inbox_id, [])]

    def has_raw(self, _email_id: str) -> bool:
        return True

    def raw(self, email_id: str) -> bytes | None:
        return next(
            octets for emails in self._held.values() for held, octets in emails if held == email_id
        )


class ChaosChecks(unittest.TestCase):
    def _check(
        self, mails: list[Mail], held: dict[str, list[tuple[str, bytes]]], events: list[str]
    ) -> Report:
        mailboxes = _Held(held)
        return check(mails, stored(mails, mailboxes), mailboxes, Counter(events))

    def test_all_that_was_promised_and_was_kept_is_fine(self) -> None:
        mails = [
            _mail("a", [_FIRST, _SECOND], "1"),
            _mail("b", [_FIRST]),
            _mail("c", [_SECOND]),
            _mail("d", [_FIRST], dot_was_sent=False),
        ]
        held = {
            "first": [("1", mails[0].octets), ("3", mails[1].octets)],
            "second": [("2", mails[0].octets)],
        }
        self.assertEqual(self._check(mails, held, ["1", "2", "2", "3"]).violations, [])

    def test_a_lost_mail(self) -> None:
        found = self._check([_mail("a", [_FIRST], "1")], {}, ["1"]).violations
        self.assertIn("a: answered 250 as 1, not in first@inbox.example", found)

    def test_a_mail_under_another_id(self) -> None:
        mail = _mail("a", [_FIRST], "1")
        self.assertEqual(
            len(self._check([mail], {"first": [("2", mail.octets)]}, ["2"]).violations), 1
        )

    def test_a_mail_kept_twice(self) -> None:
        mail = _mail("a", [_FIRST])
        found = self._check(
            [mail], {"first": [("1", mail.octets), ("2", mail.octets)]}, ["1", "2"]
        ).violations
        self.assertEqual(found, ["a: 2 times in first@inbox.example"])

    def test_a_mail_cut_short(self) -> None:
        mail = _mail("a", [_FIRST], "1")
        self.assertEqual(
            self._check([mail], {"first": [("1", mail.octets[:-2])]}, ["1"]).violations,
            ["1: differs from what was sent"],
        )

    def test_a_mail_whose_end_was_never_sent(self) -> None:
        mail = _mail("a", [_FIRST], dot_was_sent=False)
        found = self._check([mail], {"first": [("1", mail.octets)]}, ["1"]).violations
        self.assertEqual(found, ["a: stored as 1 though its end was never sent"])

    def test_events_and_emails_belong_together(self) -> None:
        mail = _mail("a", [_FIRST], "1")
        found = self._check([mail], {"first": [("1", mail.octets)]}, ["9"]).violations
        self.assertEqual(
            found,
            ["1: is stored, but its event is not on Kafka", "9: has an event, but cannot be read"],
        )


if __name__ == "__main__":
    unittest.main()
