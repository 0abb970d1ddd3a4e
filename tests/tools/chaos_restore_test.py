"""Tests what `./dev chaos restore` counts as a violation."""

import unittest

from chaos import restore, restored_feed
from chaos.load import Inbox, Mail

_FIRST, _SECOND = "1" * 32, "2" * 32
_ID, _OTHER = "01934f2f-0a4e-7c11-8a36-93d02c5b7e10", "01934f2f-0a4e-7c11-8a36-93d02c5b7e11"
_INBOX = "01934f2f-0000-7c11-8a36-93d02c5b7e10"


class Feed(unittest.TestCase):
    """Who reads the feed misses nothing, whether it was past the moment or before it."""

    def _violations(self, everything: str) -> list[str]:
        return list(restored_feed.check(list(everything), set("134")))

    def _missed(self, known: str, read: str) -> list[str]:
        everything, expected = list("12345"), set("1345")
        return list(
            restored_feed.check_reader("past", set(known), list(read), everything, expected)
        )

    def test_each_event_once_and_ends_of_the_feed_are_fine(self) -> None:
        self.assertEqual(self._violations("1234"), [])
        self.assertEqual(self._missed("12", "345"), [])
        self.assertEqual(self._missed("1", "2345"), [])

    def test_what_a_reader_had_before_it_need_not_come_again(self) -> None:
        self.assertEqual(self._missed("123", "45"), [])

    def test_events_that_are_missing_or_there_twice_are_named(self) -> None:
        self.assertEqual(self._violations("134"), [])
        self.assertIn("lacks 1 events, such as 1", self._violations("234")[0])
        self.assertIn("has twice 1 events, such as 4", self._violations("12344")[0])

    def test_a_reader_that_skips_or_gets_nothing_is_named(self) -> None:
        self.assertIn("from past the moment did not", self._missed("1", "235")[0])
        self.assertIn("from past the moment got nothing", self._missed("12345", "")[0])

    def test_a_reader_that_goes_on_too_far_on_is_named(self) -> None:
        (violation,) = self._missed("12", "45")

        self.assertIn("misses 1 events, such as 3", violation)


class EventIds(unittest.TestCase):
    """One mail has one id in one inbox."""

    def test_a_repeated_event_is_one_id(self) -> None:
        events = [(_FIRST, _INBOX, _ID), (_FIRST, _INBOX, _ID), (_FIRST, "another", _OTHER)]

        self.assertEqual(restore.second_ids(events), [])

    def test_two_ids_of_a_mail_in_an_inbox_are_a_violation(self) -> None:
        events = [(_FIRST, _INBOX, _ID), (_SECOND, _INBOX, _ID), (_FIRST, _INBOX, _OTHER)]

        (violation,) = restore.second_ids(events)

        self.assertIn(f"{_ID}, {_OTHER}", violation)

    def test_no_event_at_all_is_a_violation(self) -> None:
        self.assertEqual(len(restore.second_ids([])), 1)

    def test_records_are_read_whatever_bytes_their_values_have(self) -> None:
        record = (
            f"ce_specversion=1.0,ce_id={_ID},ce_type=email.received KEY={_INBOX} VALUE=".encode()
        )
        printed = record + b"\x0a$\n\xff32\x0cchaos " + _FIRST.encode() + b":\x00\n\nEND\n"
        printed += record + b"no mail of the run\nEND\n"

        self.assertEqual(restore.parse_subjects(printed), [(_FIRST, _INBOX, _ID)])


class Promises(unittest.TestCase):
    """An answer after the moment is no promise."""

    def test_a_mail_answered_after_the_moment_may_be_lost(self) -> None:
        mail = Mail(_FIRST, [Inbox(_INBOX, "a@b")], b"", email_id=_ID, dot_was_sent=True)

        self.assertIs(restore.as_promised(mail, {_ID}), mail)
        self.assertTrue(restore.as_promised(mail, set()).may_be_stored)


if __name__ == "__main__":
    unittest.main()
