"""Tests what a chaos run holds against senders who misuse captures, and that the alert can ring."""

import tempfile
import unittest
from collections import Counter
from pathlib import Path

from chaos import captures, neighbours, offenders
from chaos.alert_samples import Samples
from chaos.load import Inbox, Mail
from chaos.neighbours import Turns

_TURNS = Turns(seconds=8, pairs=2)  # quiet, loud, quiet, loud: of two seconds each
_INBOX = Inbox("inbox", "ann@inbox.example")
_USER = "cap_k3v9x2m4t7q1"


def _mails(loud: float, refused: str = "") -> list[Mail]:
    """Ten a second: 10 ms each in quiet turns."""
    return [
        Mail(
            f"{number}",
            [_INBOX],
            b"",
            None if refused and number == 30 else "id",
            seconds=loud if _TURNS.is_loud(number / 10) else 0.01,
            refused=refused if number == 30 else "",
        )
        for number in range(80)
    ]


def _shown(unavailable: int) -> str:
    metric = "tempinbox_smtp_transactions_total"
    return (
        f"# HELP {metric} Transactions.\n"
        f'{metric}{{code_class="2xx",result="stored"}} {10 * unavailable + 1000}\n'
        f'{metric}{{code_class="4xx",result="unavailable"}} {unavailable}\n'
        f'{metric}{{code_class="4xx",result="fault"}} 900\n'
    )


def _samples(unavailable: list[int]) -> Samples:
    samples = Samples([])
    for count in unavailable:
        samples.add([_shown(count), _shown(count)])
    return samples


class Neighbours(unittest.TestCase):
    def _check(self, mails: list[Mail]) -> list[str]:
        return list(neighbours.check("faults", mails, _TURNS, 10))

    def test_as_fast_in_loud_turns(self) -> None:
        self.assertEqual(self._check(_mails(0.012)), [])

    def test_slower_in_loud_turns(self) -> None:
        (found,) = self._check(_mails(0.02))
        self.assertIn("p99 is 20.0 ms in loud turns, 10.0 ms in quiet ones", found)

    def test_refused_in_a_loud_turn(self) -> None:
        (found,) = self._check(_mails(0.01, "452 4.3.1 Busy"))
        self.assertIn("1 mails of the neighbour were answered 452", found)

    def test_nothing_was_sent(self) -> None:
        self.assertEqual(len(self._check([])), 1)


class Alert(unittest.TestCase):
    def test_faults_alone_do_not_ring(self) -> None:
        self.assertEqual(list(_samples([0] * 24).check()), [])

    def test_mail_that_is_put_off_rings(self) -> None:
        (found,) = _samples([100 * number for number in range(24)]).check()
        self.assertIn("MailRefused rings", found)

    def test_nothing_was_seen(self) -> None:
        self.assertEqual(len(list(Samples([]).check())), 1)


class Misuse(unittest.TestCase):
    def test_guesses(self) -> None:
        wrong = Counter({"535 5.7.8 Authentication credentials invalid": 9})
        self.assertEqual(list(captures.check_guesses(wrong, [0.1])), [])
        good = wrong + Counter({"235 2.7.0 Authentication successful": 1})
        self.assertEqual(len(list(captures.check_guesses(good, [0.1]))), 1)
        self.assertEqual(len(list(captures.check_guesses(wrong, [0.1, 1.2]))), 1)
        self.assertEqual(len(list(captures.check_guesses(Counter(), []))), 2)

    def test_spam(self) -> None:
        seen = Counter({"250 2.0.0 Ok:": 9, "450 4.2.1 Too fast": 3, "550 5.2.2 Full": 1})
        self.assertEqual(list(captures.check_spam(seen)), [])
        self.assertEqual(len(list(captures.check_spam(seen + Counter({"451 4.3.0 x": 1})))), 1)
        del seen["450 4.2.1 Too fast"]
        self.assertEqual(len(list(captures.check_spam(seen))), 1)

    def test_passwords_in_logs(self) -> None:
        response = offenders.auth_line(_USER, "tic_000001").split()[-1].decode()
        lines = {
            "clean": f"login refused user={_USER} static_cast",
            "password": "said tic_000001",
            "response": f"said {response}",
        }
        with tempfile.TemporaryDirectory() as name:
            for file, line in lines.items():
                (Path(name) / f"{file}.log").write_text(line, encoding="utf-8")
            found = list(captures.check_logs(Path(name), _USER))
        self.assertEqual(found, ["password.log holds a password", "response.log holds a password"])


if __name__ == "__main__":
    unittest.main()
