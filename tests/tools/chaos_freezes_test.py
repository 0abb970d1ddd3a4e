"""Tests when a chaos run freezes Kafka, and what it leaves alone meanwhile."""

import itertools
import signal
import unittest
from collections import Counter

from chaos.faults import Fault, broken, schedule
from chaos.freezes import check_course, freezes, moments
from chaos.freezes import schedule as schedule_with_freezes
from chaos.load import Inbox, Mail

_REPLICAS = {
    "mail-ingest": ["mail-ingest-1", "mail-ingest-2"],
    "inbox": ["inbox-1", "inbox-2"],
    "gateway": ["gateway-1", "gateway-2"],
}
_PUBLISHERS = sorted(itertools.chain.from_iterable(_REPLICAS.values()))
_KILLED = ["inbox", "gateway"]
_SESSION_SECONDS = 3.0  # broker.session.timeout.ms of the suite's brokers


def _planned(seconds: int = 60, seed: int = 1, rounds: int | None = None) -> list[Fault]:
    return schedule_with_freezes(_REPLICAS, _KILLED, seconds, seed, 1.5, rounds)


def _frozen(faults: list[Fault]) -> list[tuple[float, float]]:
    stopped, resumed = (
        [it.at for it in faults if (it.name, it.sent) == ("kafka-1", sent)]
        for sent in (signal.SIGSTOP, signal.SIGCONT)
    )
    return list(zip(stopped, resumed, strict=True))


class Freezes(unittest.TestCase):
    def test_kafka_stands_still_past_its_session_just_after_all_publishers_were_killed(
        self,
    ) -> None:
        for (frozen, resumed), began in zip(_frozen(_planned()), moments(60, None), strict=True):
            killed = [it.name for it in _planned() if it.at == began]
            self.assertEqual(killed, _PUBLISHERS)
            self.assertLess(frozen - began, 3.0)
            self.assertGreater(resumed - frozen, _SESSION_SECONDS)

    def test_no_service_is_killed_again_until_it_has_written_to_the_thawed_broker(self) -> None:
        for (_, resumed), began in zip(_frozen(_planned()), moments(60, None), strict=True):
            again = [
                it.name
                for it in _planned()
                if began < it.at < resumed + 1 and it.name.startswith(tuple(_REPLICAS))
            ]
            self.assertEqual(again, [])

    def test_a_run_has_the_other_faults_too(self) -> None:
        killed = {service: _REPLICAS[service] for service in _KILLED}
        usual = schedule(killed, 60, 1, 1.5)
        others = {it for it in usual if it.name.startswith(("postgres", "kafka"))}

        self.assertLessEqual(others, set(_planned()))
        self.assertLessEqual({*_KILLED, "postgres"}, broken(_counts(_planned()), signal.SIGKILL))

    def test_rounds_are_freezes_and_nothing_else(self) -> None:
        planned = _planned(rounds=3)

        self.assertEqual(len(_frozen(planned)), 3)
        self.assertEqual(planned, freezes(_PUBLISHERS, moments(30, 3), 1))
        self.assertNotIn("postgres", {it.name for it in planned})

    def test_the_same_seed_freezes_at_the_same_moments(self) -> None:
        self.assertEqual(_planned(seed=3), _planned(seed=3))
        self.assertNotEqual(_frozen(_planned(seed=3)), _frozen(_planned(seed=4)))


def _counts(faults: list[Fault]) -> Counter[str]:
    return Counter(f"{it.name} {it.sent.name}" for it in faults)


class Course(unittest.TestCase):
    """A run proves something only where Kafka was frozen and mail came meanwhile."""

    def setUp(self) -> None:
        self.mail = Mail("1", [Inbox("a", "a@x")], b"", email_id="e")

    def test_a_freeze_under_mail_is_fine(self) -> None:
        self.assertEqual(check_course(_counts(_planned()), [self.mail]), [])

    def test_a_broker_that_was_only_killed_or_mail_that_was_only_refused_is_named(self) -> None:
        self.mail.email_id = None

        self.assertEqual(
            check_course(Counter(["kafka-1 SIGKILL"]), [self.mail]),
            ["no kafka was frozen", "no busy inbox took a mail"],
        )


if __name__ == "__main__":
    unittest.main()
