"""A share of a core for each of some processes, by cgroups of version 1 or 2. Needs root."""

import contextlib
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from dev.terminal import Missing

_NAME = "tempinbox-bench"
# Short, so that who has used its share waits for a few milliseconds; a quota is at least 1,000.
_PERIOD_MICROSECONDS = 20_000


@dataclass(frozen=True)
class Hierarchy:
    """The place of groups with a share of the CPU."""

    folder: Path
    is_v2: bool

    def home(self, own: str) -> Path:
        """The group of a process, from its /proc/PID/cgroup."""
        for line in own.splitlines():
            number, controllers, path = line.split(":", 2)
            if number == "0" if self.is_v2 else "cpu" in controllers.split(","):
                return self.folder / path.lstrip("/")
        return self.folder


def find(mounts: str) -> Hierarchy:
    """Finds it in /proc/self/mounts; fails with what this machine lacks."""
    of_v2 = None
    for line in mounts.splitlines():
        _, folder, kind, options, *_ = line.split()
        if kind == "cgroup" and "cpu" in options.split(","):
            return Hierarchy(Path(folder), False)
        if kind == "cgroup2":
            of_v2 = Path(folder)
    if of_v2 is None:
        raise Missing("no cgroups are mounted: shares of a core cannot be given")
    offered = (of_v2 / "cgroup.controllers").read_text(encoding="ascii").split()
    if "cpu" not in offered:
        raise Missing(f"{of_v2} (cgroup2) does not offer the controller `cpu`")
    return Hierarchy(of_v2, True)


def limits(hierarchy: Hierarchy, share: float) -> dict[str, str]:
    """Returns what is written into a group's files, in this order."""
    quota = round(share * _PERIOD_MICROSECONDS)
    if hierarchy.is_v2:
        return {"cpu.max": f"{quota} {_PERIOD_MICROSECONDS}"}
    return {"cpu.cfs_period_us": str(_PERIOD_MICROSECONDS), "cpu.cfs_quota_us": str(quota)}


@dataclass
class Shares:
    """The groups made so far."""

    hierarchy: Hierarchy
    share: float
    _homes: dict[int, Path] = field(default_factory=dict)

    @property
    def _folder(self) -> Path:
        return self.hierarchy.folder / _NAME

    def give(self, pids: Iterable[int]) -> None:
        """Each process gets a group of its own, and those of before are let go."""
        self.release()
        for pid in pids:
            group = self._folder / str(pid)
            self._make(group)
            for name, value in limits(self.hierarchy, self.share).items():
                (group / name).write_text(value, encoding="ascii")
            own = Path(f"/proc/{pid}/cgroup").read_text(encoding="utf-8")
            self._homes[pid] = self.hierarchy.home(own)
            (group / "cgroup.procs").write_text(str(pid), encoding="ascii")

    def _make(self, group: Path) -> None:
        try:
            group.mkdir(parents=True)
            if self.hierarchy.is_v2:
                control = self._folder / "cgroup.subtree_control"
                control.write_text("+cpu", encoding="ascii")
        except OSError as problem:
            raise Missing(f"no group of processes can be made: {problem}") from problem

    def release(self) -> None:
        """Every process is back where it was, and no group is left, also of a bench that was
        killed.
        """
        for pid, home in self._homes.items():
            with contextlib.suppress(OSError):  # it has ended meanwhile
                (home / "cgroup.procs").write_text(str(pid), encoding="ascii")
        self._homes.clear()
        for group in self._folder.glob("*/"):
            for left in (group / "cgroup.procs").read_text(encoding="ascii").split():
                (self.hierarchy.folder / "cgroup.procs").write_text(left, encoding="ascii")
            group.rmdir()
        if self._folder.is_dir():
            self._folder.rmdir()


@contextlib.contextmanager
def shares(share: float) -> Iterator[Shares]:
    """Ready to be given; fails with what this machine lacks."""
    if os.geteuid() != 0:
        raise Missing("shares of a core are given by root alone: run as root")
    made = Shares(find(Path("/proc/self/mounts").read_text(encoding="utf-8")), share)
    with _offered_to_groups(made.hierarchy):
        made.release()
        try:
            yield made
        finally:
            made.release()


@contextlib.contextmanager
def _offered_to_groups(hierarchy: Hierarchy) -> Iterator[None]:
    """Version 2 hands the controller on only where it is told to."""
    control = hierarchy.folder / "cgroup.subtree_control"
    if not hierarchy.is_v2 or "cpu" in control.read_text(encoding="ascii").split():
        yield
        return
    try:
        control.write_text("+cpu", encoding="ascii")
    except OSError as problem:
        raise Missing(f"the controller `cpu` is not handed on: {problem}") from problem
    try:
        yield
    finally:
        control.write_text("-cpu", encoding="ascii")
