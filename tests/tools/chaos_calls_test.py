"""Tests which answers of the API a chaos run counts as a violation."""

import unittest
from collections import Counter
from typing import Any

from chaos.calls import Calls, Inbox, check


def _calls(*inboxes: Inbox, unanswered: int = 0) -> Calls:
    calls = Calls(["nowhere"], "", 1.0, list)
    calls.inboxes = list(inboxes)
    calls.unanswered = unanswered
    return calls


def _shown(**status: str) -> list[dict[str, Any]]:
    return [{"inboxId": inbox, "status": is_so} for inbox, is_so in status.items()]


class ChaosCalls(unittest.TestCase):
    def _violations(
        self, calls: Calls, shown: list[dict[str, Any]], created: str = "", expired: str = ""
    ) -> list[str]:
        return check(calls, shown, Counter(created), Counter(expired))[1]

    def test_what_was_answered_and_is_so_is_fine(self) -> None:
        calls = _calls(Inbox("a"), Inbox("b", is_deleted=True), unanswered=1)
        shown = _shown(a="active", b="expired", c="active")
        self.assertEqual(self._violations(calls, shown, "abcc", "b"), [])

    def test_an_inbox_that_is_gone_or_not_deleted(self) -> None:
        calls = _calls(Inbox("a"), Inbox("b", is_deleted=True))
        found = self._violations(calls, _shown(b="active"), "ab", "b")
        self.assertEqual(
            found, ["inbox a: answered 201, not listed", "inbox b: is active, not expired"]
        )

    def test_an_inbox_that_ended_by_itself(self) -> None:
        [found] = self._violations(_calls(Inbox("a")), _shown(a="expired"), "a")
        self.assertEqual(found, "inbox a: is expired, not active")

    def test_a_deletion_that_nobody_answered_may_have_been_done(self) -> None:
        self.assertEqual(self._violations(_calls(Inbox("a")), _shown(a="expired"), "a", "a"), [])

    def test_events_that_are_missing(self) -> None:
        calls = _calls(Inbox("a", is_deleted=True))
        self.assertEqual(len(self._violations(calls, _shown(a="expired"))), 2)

    def test_a_key_that_made_two_inboxes(self) -> None:
        [found] = self._violations(_calls(Inbox("a")), _shown(a="active", b="active"), "ab")
        self.assertIn("1 inboxes more", found)

    def test_an_answer_that_was_wrong_while_it_ran(self) -> None:
        calls = _calls(Inbox("a"))
        calls.violations.append("GET /v1/emails/1 was answered 404: None")
        self.assertEqual(len(self._violations(calls, _shown(a="active"), "a")), 1)


if __name__ == "__main__":
    unittest.main()
