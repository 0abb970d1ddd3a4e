"""Tests what a chaos run of webhooks counts as a violation, and how its receiver fails."""

import http.client
import unittest
from collections import Counter
from typing import Any
from urllib.parse import urlsplit

from chaos.receiver import Receiver
from chaos.webhooks import Findings

_ONE, _TWO = ("/hook/0", "one"), ("/hook/1", "two")


def _findings(**changed: Any) -> Findings:
    kept: dict[str, Any] = {
        "expected": {_ONE, _TWO},
        "taken": Counter([_ONE, _TWO]),
        "waiting": 0,
        "succeeded": 2,
        "failed": 0,
        "oldest_due": 0.0,
    }
    return Findings(**{**kept, **changed})


class ChaosWebhooks(unittest.TestCase):
    def test_all_that_arrived_is_fine_repeats_too(self) -> None:
        repeated = _findings(taken=Counter([_ONE, _TWO, _TWO, _TWO]))

        self.assertEqual(_findings().violations(), [])
        self.assertEqual(repeated.violations(), [])
        self.assertEqual(repeated.repeats(), [2])

    def test_what_is_missing_or_stuck_is_a_violation(self) -> None:
        for changed in (
            {"taken": Counter([_ONE])},
            {"taken": Counter([_ONE, _TWO, ("/hook/0", "two")])},
            {"waiting": 1},
            {"waiting": -1},  # nobody could say
            {"succeeded": 1},
            {"failed": 1},
            {"oldest_due": 3.5},
            {"oldest_due": -1.0},
            {"expected": set(), "taken": Counter(), "succeeded": 0},
        ):
            with self.subTest(changed):
                self.assertEqual(len(_findings(**changed).violations()), 1)

    def test_the_receiver_fails_at_first_attempts_only(self) -> None:
        with Receiver(seed=1) as receiver:
            statuses = Counter(self._post(receiver, str(number)) for number in range(300))
            first_failed = [
                str(number) for number in range(300) if not receiver.taken()[("/hook", str(number))]
            ]
            again = Counter(self._post(receiver, event) for event in first_failed)

        self.assertGreater(statuses[204], 250)
        self.assertGreater(statuses[500], 0)
        self.assertGreater(statuses[0], 0)
        self.assertEqual(set(again), {204})
        self.assertEqual(set(receiver.taken().values()), {1})

    @staticmethod
    def _post(receiver: Receiver, event: str) -> int:
        """The status; 0 where the connection was closed or nothing came."""
        connection = http.client.HTTPConnection(urlsplit(receiver.url).netloc, timeout=0.3)
        try:
            connection.request("POST", "/hook", b"{}", {"webhook-id": event})
            return connection.getresponse().status
        except (OSError, http.client.HTTPException):
            return 0
        finally:
            connection.close()


if __name__ == "__main__":
    unittest.main()
