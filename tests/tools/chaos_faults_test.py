"""Tests what a chaos run kills, and when."""

import signal
import unittest
from collections import Counter

from chaos.faults import schedule

_REPLICAS = {
    "mail-ingest": ["mail-ingest-1", "mail-ingest-2"],
    "inbox": ["inbox-1", "inbox-2"],
    "gateway": ["gateway-1", "gateway-2"],
}


class ChaosFaults(unittest.TestCase):
    def test_every_service_is_killed_about_equally_often_beside_what_they_stand_on(self) -> None:
        faults = schedule(_REPLICAS, 60, seed=1, between=2)

        killed = Counter(fault.name.rpartition("-")[0] or fault.name for fault in faults)
        of_services = [killed[service] for service in _REPLICAS]
        self.assertGreater(min(of_services), 5)
        self.assertLessEqual(max(of_services) - min(of_services), 1)
        self.assertEqual((killed["postgres"], killed["kafka"]), (2, 1))
        self.assertEqual(
            {fault.sent for fault in faults if fault.name.startswith(("inbox", "gateway"))},
            {signal.SIGKILL},
        )

    def test_the_same_seed_breaks_the_same(self) -> None:
        self.assertEqual(schedule(_REPLICAS, 60, seed=3), schedule(_REPLICAS, 60, seed=3))
        self.assertNotEqual(schedule(_REPLICAS, 60, seed=3), schedule(_REPLICAS, 60, seed=4))


if __name__ == "__main__":
    unittest.main()
