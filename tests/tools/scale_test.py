"""Shares of a core by cgroups, and what `./dev bench scale` says of replicas that had one."""

import sys
import tempfile
import unittest
from pathlib import Path

from dev.terminal import Missing

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "bench"))

from measuring import cgroups
from measuring.cgroups import Hierarchy
from measuring.shares import Carried, explain

_V1 = """tmpfs /sys/fs/cgroup tmpfs rw 0 0
cgroup /sys/fs/cgroup/cpuset cgroup rw,cpuset 0 0
cgroup /sys/fs/cgroup/cpu,cpuacct cgroup rw,nosuid,cpu,cpuacct 0 0
cgroup2 /sys/fs/cgroup/unified cgroup2 rw 0 0
"""


class Cgroups(unittest.TestCase):
    def test_version_1_where_it_has_the_cpu(self) -> None:
        found = cgroups.find(_V1)

        self.assertEqual(found, Hierarchy(Path("/sys/fs/cgroup/cpu,cpuacct"), False))
        self.assertEqual(
            cgroups.limits(found, 0.1), {"cpu.cfs_period_us": "20000", "cpu.cfs_quota_us": "2000"}
        )

    def test_version_2(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            Path(folder, "cgroup.controllers").write_text("cpuset cpu io\n", encoding="ascii")
            found = cgroups.find(f"cgroup2 {folder} cgroup2 rw 0 0\n")

            self.assertEqual(found, Hierarchy(Path(folder), True))
            self.assertEqual(cgroups.limits(found, 0.5), {"cpu.max": "10000 20000"})

    def test_what_is_missing_is_named(self) -> None:
        with self.assertRaisesRegex(Missing, "no cgroups are mounted"):
            cgroups.find("tmpfs /sys/fs/cgroup tmpfs rw 0 0\n")
        with tempfile.TemporaryDirectory() as folder:
            Path(folder, "cgroup.controllers").write_text("hugetlb\n", encoding="ascii")
            with self.assertRaisesRegex(Missing, "does not offer the controller `cpu`"):
                cgroups.find(f"cgroup2 {folder} cgroup2 rw 0 0\n")

    def test_where_a_process_came_from(self) -> None:
        own = "3:cpuset:/\n2:cpu,cpuacct:/user.slice/me\n0::/else/where\n"

        self.assertEqual(Hierarchy(Path("/c"), False).home(own), Path("/c/user.slice/me"))
        self.assertEqual(Hierarchy(Path("/c"), True).home(own), Path("/c/else/where"))


def _carried(
    replicas: int, each: float, used_share: float = 0.99, idle_cores: float = 0.8
) -> Carried:
    return Carried(replicas, each * replicas, used_share, idle_cores, {"kafka": 0.9, "load": 0.01})


class Explanations(unittest.TestCase):
    alone = _carried(1, 100)

    def test_a_replica_that_carries_nearly_as_much(self) -> None:
        self.assertEqual(explain(self.alone, _carried(3, 86)), (True, "within 15 %"))
        self.assertEqual(
            explain(self.alone, _carried(3, 120)), (True, "more than one alone carries")
        )

    def test_a_machine_that_is_full(self) -> None:
        is_good, why = explain(self.alone, _carried(3, 60, 0.6, 0.05))

        self.assertTrue(is_good)
        self.assertEqual(why, "bounded by the machine, whose cores are full: kafka 0.90")

    def test_requests_that_cost_more(self) -> None:
        is_good, why = explain(self.alone, _carried(3, 50))

        self.assertFalse(is_good)
        self.assertIn("costs 2.00 times the CPU", why)

    def test_something_shared_that_serializes(self) -> None:
        is_good, why = explain(self.alone, _carried(2, 50, 0.5))

        self.assertFalse(is_good)
        self.assertIn("held up by something shared: the replicas used 50 % of their share", why)

    def test_one_that_its_share_does_not_bound(self) -> None:
        is_good, why = explain(_carried(1, 100, 0.5), _carried(2, 100))

        self.assertFalse(is_good)
        self.assertIn("nothing is shown", why)


if __name__ == "__main__":
    unittest.main()
