#!/usr/bin/env python3
"""What one machine of deploy/compose/production.yaml takes at 10, 50 and 100 mails a second: CPU,
memory, disk and WAL, and from that what a million mails cost.

Needs no suite. The images of ./dev image are run as docs/operations/one-vm.md says, so it takes
what ./dev image --check takes; it prints the tables of that page.

Mails are 4 KiB of random bytes in base64, one a transaction, over connections with STARTTLS that
are kept. What is used without mail is measured first and taken off what mails cost.

Usage: ./dev bench one-vm [--rates 10,50,100] [--seconds 60] [--idle 30]
"""

import argparse
import time
from dataclasses import dataclass
from pathlib import Path

from dev import image, one_vm
from dev.docker import engine
from dev.one_vm import OneVm
from dev.waiting import delay_until

_SAMPLE_SECONDS = 2.0
_MILLION = 1_000_000
_GROUPS = {
    "PostgreSQL": ["postgres"],
    "Kafka": ["kafka"],
    "services": [name for name in one_vm.KEPT if name not in ("postgres", "kafka")],
}


@dataclass(frozen=True)
class Counters:
    """What has been used up to a moment: CPU in seconds by group, the others in bytes."""

    at: float
    cpu: dict[str, float]
    wal: float
    archived: float
    database: float
    kafka: float


@dataclass(frozen=True)
class Phase:
    """A stretch of steady load."""

    rate: float
    mails: float
    before: Counters
    after: Counters
    memory: dict[str, float]

    @property
    def seconds(self) -> float:
        """Its length."""
        return self.after.at - self.before.at

    def cores(self, group: str) -> float:
        """How many cores a group kept busy."""
        return (self.after.cpu[group] - self.before.cpu[group]) / self.seconds


def _bytes_below(folder: Path) -> int:
    """Bytes on the disk: files of Kafka have holes."""
    return sum(path.stat().st_blocks * 512 for path in folder.rglob("*") if path.is_file())


def _count(vm: OneVm) -> Counters:
    cpu = {
        group: sum(vm.usage(name)["cpu_stats"]["cpu_usage"]["total_usage"] for name in names) / 1e9
        for group, names in _GROUPS.items()
    }
    mounted = ["volume", "inspect", "--format", "{{.Mountpoint}}", "tempinbox-one-vm_kafka"]
    wal = "SELECT pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')"
    size = "SELECT pg_database_size('tempinbox')"
    return Counters(
        at=time.monotonic(),
        cpu=cpu,
        wal=float(vm.query(wal)),
        archived=_bytes_below(vm.folder / "backups" / "wal"),
        database=float(vm.query(size)),
        kafka=_bytes_below(Path(vm.docker.run(*mounted).strip())),
    )


def _memory(vm: OneVm) -> dict[str, float]:
    """MiB of each group, without the cache of files that the kernel takes back."""
    found = {}
    for group, names in _GROUPS.items():
        total = 0
        for name in names:
            said = vm.usage(name)["memory_stats"]
            inactive = said["stats"].get("total_inactive_file", said["stats"].get("inactive_file"))
            total += said["usage"] - inactive
        found[group] = total / 2**20
    return found


def measure(vm: OneVm, rate: float, seconds: float) -> Phase:
    """Measures a stretch of load; with a rate of 0, of none."""
    load = vm.start_load(vm.plan(rate=rate, seconds=seconds)) if rate else None
    before = _count(vm)
    end = before.at + seconds
    memory = dict.fromkeys(_GROUPS, 0.0)
    while time.monotonic() < end and (load is None or load.poll() is None):
        now = _memory(vm)
        memory = {group: max(memory[group], now[group]) for group in _GROUPS}
        delay_until(time.monotonic() + _SAMPLE_SECONDS)
    mails = one_vm.answer(load)["acknowledged"] if load else 0.0
    return Phase(rate, mails, before, _count(vm), memory)


def _row(*cells: object) -> None:
    print("| " + " | ".join(str(cell) for cell in cells) + " |")


def report(idle: Phase, phases: list[Phase]) -> None:
    """Prints the tables of the page."""
    print()
    parts = [*_GROUPS, "all"]
    heads = [f"{unit}, {part}" for unit in ("cores", "MiB") for part in parts]
    _row("mails a second", *heads)
    print("|---" * (1 + 2 * len(parts)) + "|")
    for phase in [idle, *phases]:
        cores = [phase.cores(group) for group in _GROUPS]
        memory = list(phase.memory.values())
        measured = f"{phase.mails / phase.seconds:.0f}"
        _row(
            measured,
            *(f"{number:.2f}" for number in [*cores, sum(cores)]),
            *(f"{number:.0f}" for number in [*memory, sum(memory)]),
        )
    print("\nA million mails, without what runs anyway:\n")
    what = ["CPU hours", "WAL, GB", "WAL archived, GB", "PostgreSQL, GB", "Kafka, GB"]
    _row("at mails a second", *what)
    print("|---" * (1 + len(what)) + "|")
    for phase in phases:
        spent = sum(phase.cores(group) - idle.cores(group) for group in _GROUPS) * phase.seconds
        kinds = [
            (getattr(phase.after, kind) - getattr(phase.before, kind))
            for kind in ("wal", "archived", "database", "kafka")
        ]
        _row(
            f"{phase.rate:g}",
            f"{spent / phase.mails * _MILLION / 3600:.2f}",
            *(f"{bytes_ / phase.mails * _MILLION / 1e9:.1f}" for bytes_ in kinds),
        )


def main() -> int:
    """Runs all of it."""
    parser = argparse.ArgumentParser(prog="./dev bench one-vm", description=__doc__)
    parser.add_argument("--rates", default="10,50,100", help="mails a second, with commas between")
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--idle", type=float, default=30)
    chosen = parser.parse_args()
    rates = [float(rate) for rate in chosen.rates.split(",")]
    with (
        engine(image.FOLDER / "docker", with_networks=True) as docker,
        one_vm.installed(docker) as vm,
    ):
        idle = measure(vm, 0, chosen.idle)
        phases = []
        for rate in rates:
            phase = measure(vm, rate, chosen.seconds)
            phases.append(phase)
            print(f"{rate:g} a second: {phase.mails:.0f} mails in {phase.seconds:.0f} s")
            lost = vm.look_for_mail()["missing"]
            if lost:
                print(f"{lost:.0f} acknowledged mails are missing")
                return 1
        report(idle, phases)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
