"""Tests what `./dev chaos api` counts as a violation, by made-up histories."""

import unittest
from collections import Counter
from collections.abc import Callable
from typing import Any

from chaos.api import Caller
from chaos.api_history import NEVER, Creation, check, check_limit


def _made(inbox: str, began: float = 0, **more: Any) -> Creation:
    """Answered 201 at once."""
    values: dict[str, Any] = {
        "inbox_ids": [inbox],
        "answered_at": began,
        "address": f"{inbox}@x",
    } | more
    return Creation(f"name {inbox}", True, began, **values)


def _deleted(inbox: str, began: float = 0, ended: float = 1) -> Creation:
    return _made(inbox, began, delete_began_at=ended, deleted_at=ended)


def _silent(name: str, began: float = 0) -> Creation:
    """Answered with an error, or not at all."""
    return Creation(f"name {name}", False, began)


def _refused(name: str, began: float, answered: float) -> Creation:
    return Creation(f"name {name}", True, began, answered_at=answered, was_refused=True)


def _shown(inbox: str, status: str = "active", name: str = "") -> dict[str, Any]:
    return {
        "inboxId": inbox,
        "name": f"name {name or inbox}",
        "status": status,
        "emailAddress": f"{inbox}@x",
    }


class Histories(unittest.TestCase):
    def _violations(
        self,
        creations: list[Creation],
        shown: list[dict[str, Any]],
        created: str | None = None,
        expired: str | None = None,
    ) -> list[str]:
        """Events of what is shown, unless said otherwise."""
        there = [it["inboxId"] for it in shown]
        ended = [it["inboxId"] for it in shown if it["status"] == "expired"]
        return check(
            creations,
            shown,
            Counter(there if created is None else created),
            Counter(ended if expired is None else expired),
        )

    def test_what_was_answered_and_is_so_is_fine(self) -> None:
        creations = [
            _made("a", inbox_ids=["a", "a"]),
            _deleted("b"),
            _silent("c"),
            _silent("d"),
            _refused("e", 0, 1),
            _made("f", delete_began_at=1),
            _made("g", delete_began_at=1),
        ]
        shown = [
            _shown("a"),
            _shown("b", "expired"),
            _shown("c"),
            _shown("f"),
            _shown("g", "expired"),
        ]
        self.assertEqual(self._violations(creations, shown, created="aabcfg"), [])

    def test_one_that_is_gone(self) -> None:
        [found] = self._violations([_made("a")], [])
        self.assertEqual(found, "inbox a: answered 201, not listed")

    def test_one_that_exists_twice(self) -> None:
        shown = [_shown("a"), _shown("b", name="a")]
        [found] = self._violations([_made("a")], shown)
        self.assertEqual(found, "inbox a: exists 2 times")

    def test_an_error_whose_inbox_exists_twice(self) -> None:
        shown = [_shown("a"), _shown("b", name="a")]
        [found] = self._violations([_silent("a")], shown)
        self.assertEqual(found, "inbox name a: exists 2 times")

    def test_a_repeat_that_is_another_inbox(self) -> None:
        [found] = self._violations([_made("a", inbox_ids=["a", "b"])], [_shown("a")])
        self.assertIn("['a', 'b']", found)

    def test_one_that_was_refused_and_exists(self) -> None:
        [found] = self._violations([_refused("a", 0, 1)], [_shown("a")])
        self.assertEqual(found, "inbox name a: answered 403, exists")

    def test_another_address_than_was_answered(self) -> None:
        [found] = self._violations([_made("a", address="b@x")], [_shown("a")])
        self.assertEqual(found, "inbox a: answered as b@x, listed as a@x")

    def test_a_deletion_that_did_not_last(self) -> None:
        [found] = self._violations([_deleted("a")], [_shown("a")])
        self.assertEqual(found, "inbox a: its deletion was answered, it is active")

    def test_one_that_ended_by_itself(self) -> None:
        [found] = self._violations([_made("a")], [_shown("a", "expired")])
        self.assertEqual(found, "inbox a: nobody deleted it, it is expired")

    def test_one_that_nobody_asked_for(self) -> None:
        [found] = self._violations([], [_shown("a")])
        self.assertEqual(found, "inbox a: exists, nobody asked for it")

    def test_events_that_are_missing(self) -> None:
        shown = [_shown("a"), _shown("b", "expired")]
        found = self._violations([_made("a"), _deleted("b")], shown, created="b", expired="")
        self.assertEqual(
            found,
            [
                "inbox a: inbox.created is not on Kafka",
                "inbox b: inbox.expired is not on Kafka",
            ],
        )

    def test_an_event_of_an_inbox_that_was_answered_with_an_error_and_is_missing(self) -> None:
        [found] = self._violations([_silent("a")], [_shown("a")], created="")
        self.assertEqual(found, "inbox a: inbox.created is not on Kafka")

    def test_events_of_what_is_not_so(self) -> None:
        found = self._violations([_made("a")], [_shown("a")], created="ab", expired="a")
        self.assertEqual(
            found,
            [
                "inbox b: has inbox.created, which is not so",
                "inbox a: has inbox.expired, which is not so",
            ],
        )


class Limits(unittest.TestCase):
    def test_as_many_as_are_allowed_are_fine(self) -> None:
        creations = [_deleted("a", 0, 2), _made("b", 1), _made("c", 2)]
        self.assertEqual(check_limit(creations, 2), [])

    def test_one_too_many(self) -> None:
        creations = [_deleted("a", 0, 3), _made("b", 1), _made("c", 2)]
        [found] = check_limit(creations, 2)
        self.assertEqual(found, "3 inboxes were live at once, the plan allows 2")

    def test_one_whose_deletion_had_begun_need_not_be_live(self) -> None:
        creations = [_made("a", delete_began_at=2), _made("b", 1), _made("c", 2)]
        self.assertEqual(check_limit(creations, 2), [])

    def test_a_refusal_when_all_are_used_up(self) -> None:
        creations = [_deleted("a", 0, 3), _made("b", 1), _refused("c", 2, 2.5)]
        self.assertEqual(check_limit(creations, 2), [])

    def test_a_refusal_while_one_is_free(self) -> None:
        creations = [_deleted("a", 0, 2), _made("b", 1), _refused("c", 3, 4)]
        [found] = check_limit(creations, 2)
        self.assertIn("refused while at most 1 inboxes could be live", found)

    def test_a_refusal_for_one_that_was_answered_with_an_error(self) -> None:
        creations = [_silent("a", 0), _made("b", 1), _refused("c", 3, 4)]
        self.assertEqual(check_limit(creations, 2), [])

    def test_a_refusal_while_the_last_one_was_only_asked_for(self) -> None:
        creations = [_made("a", 0), _made("b", 3, answered_at=5), _refused("c", 2, 4)]
        self.assertEqual(check_limit(creations, 2), [])

    def test_no_inbox_at_all(self) -> None:
        self.assertEqual(check_limit([], 2), [])
        self.assertEqual(NEVER, Creation("a", True, 0).deleted_at)


class _Scripted(Caller):
    """A caller whose calls get scripted answers: status and JSON."""

    def __init__(self, *answers: tuple[int, Any]) -> None:
        super().__init__(["nowhere"], "", 1.0, [], 10)
        self._script = list(answers)

    def _call(
        self, method: str, path: str, body: Any = None, headers: dict[str, str] | None = None
    ) -> tuple[int, Any]:
        del method, path, body, headers
        return self._script.pop(0)


class Answers(unittest.TestCase):
    """Tests what a caller counts as wrong while it runs."""

    def _found(self, caller: Caller, call: Callable[..., Any], *arguments: Any) -> list[str]:
        call(caller, *arguments)
        return caller.violations

    def test_a_read_of_what_was_answered(self) -> None:
        right, gone = (200, _shown("a")), (404, {"message": "no"})
        for answer, count in ((right, 0), ((503, None), 0), ((0, None), 0), (gone, 1)):
            found = self._found(_Scripted(answer), Caller._look, _made("a"), 1)
            self.assertEqual(len(found), count, answer)

    def test_a_list_of_what_was_answered(self) -> None:
        for inboxes, count in (([_shown("a")], 0), ([], 1), ([_shown("b")], 1)):
            answer = (200, {"inboxes": inboxes})
            found = self._found(_Scripted(answer), Caller._look, _made("a"), 0)
            self.assertEqual(len(found), count, inboxes)

    def test_a_deleted_one_that_is_shown_as_active(self) -> None:
        [found] = self._found(_Scripted((200, _shown("a"))), Caller._look, _deleted("a"), 1)
        self.assertIn("shows active, not expired", found)

    def test_one_whose_deletion_nobody_answered_may_be_either(self) -> None:
        for status in ("active", "expired"):
            made = _made("a", delete_began_at=1)
            caller = _Scripted((200, _shown("a", status)))
            self.assertEqual(self._found(caller, Caller._look, made, 1), [])

    def test_only_a_repeated_deletion_may_find_nothing(self) -> None:
        made = _made("a")
        self.assertEqual(self._found(_Scripted((503, None), (404, {})), Caller._remove, made), [])
        self.assertTrue(made.is_deleted)
        [found] = self._found(_Scripted((404, {})), Caller._remove, _made("b"))
        self.assertIn("the first one, was answered 404", found)

    def test_an_address_that_is_given_out_twice(self) -> None:
        for answer, count in (((409, {}), 0), ((503, None), 0), ((201, _shown("b")), 1)):
            found = self._found(_Scripted(answer), Caller._ask_for_its_address, _made("a"), 0)
            self.assertEqual(len(found), count, answer)

    def test_a_key_is_repeated_until_it_is_answered_and_once_more(self) -> None:
        answers = [(503, None), (409, {}), (201, _shown("a")), (0, None), (201, _shown("b"))]
        caller = _Scripted(*answers)
        self.assertEqual(caller.create(has_key=True, is_repeated=True).inbox_ids, ["a", "b"])
        self.assertEqual(caller.violations, [])

    def test_a_creation_that_is_answered_as_it_must_not_be(self) -> None:
        caller = _Scripted((400, {"message": "no"}))
        self.assertEqual(caller.create(has_key=False).inbox_ids, [])
        self.assertEqual(len(caller.violations), 1)


if __name__ == "__main__":
    unittest.main()
