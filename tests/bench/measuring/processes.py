"""Reads what processes use from /proc."""

import contextlib
import math
import os
import time
from collections.abc import Callable
from pathlib import Path

from dev.waiting import wait_until

_TICKS = os.sysconf("SC_CLK_TCK")
_QUIET_SHARE = 0.08  # of one core
_QUIET_LOOK_SECONDS = 0.25


def _fields(pid: int) -> list[str]:
    """Returns the fields of /proc/PID/stat from the third on; none when it has ended."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return []


def tree(root: int) -> list[int]:
    """The process and all its descendants."""
    children: dict[int, list[int]] = {}
    for pid in map(int, filter(str.isdigit, os.listdir("/proc"))):
        if fields := _fields(pid):
            children.setdefault(int(fields[1]), []).append(pid)
    found = [root]
    for pid in found:
        found += children.get(pid, [])
    return found


def cpu_seconds(root: int) -> float:
    """User and system time of a process and its descendants, ended ones included."""
    ticks = 0
    for pid in tree(root):
        if fields := _fields(pid):
            ticks += sum(
                map(int, fields[11:15])
            )  # utime, stime and those of children that were waited for
    return ticks / _TICKS


def idle_seconds() -> float:
    """Returns how long all cores together have been idle so far."""
    fields = Path("/proc/stat").read_text(encoding="ascii").splitlines()[0].split()
    return (int(fields[4]) + int(fields[5])) / _TICKS  # waiting for a disk is idle, too


def _status(pid: int, name: str) -> float:
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith(name + ":"):
            return int(line.split()[1]) * 1024 / 1e6
    return 0.0


def resident_megabytes(pid: int) -> float:
    """Memory it holds now."""
    return _status(pid, "VmRSS")


def reset_peak(pid: int) -> None:
    """`peak_megabytes` counts from here."""
    Path(f"/proc/{pid}/clear_refs").write_text("5")


def peak_megabytes(pid: int) -> float:
    """The most memory it held."""
    return _status(pid, "VmHWM")


def wait_quiet(
    roots: list[int], is_done: Callable[[], bool] = lambda: True, seconds: float = 30.0
) -> None:
    """Returns when the processes have nothing left to do, or the time is over."""
    before = -math.inf  # the first look has nothing to compare with

    def are_quiet() -> bool:
        nonlocal before
        now = sum(map(cpu_seconds, roots))
        used, before = now - before, now
        return is_done() and used < _QUIET_SHARE * _QUIET_LOOK_SECONDS * len(roots)

    with contextlib.suppress(TimeoutError):
        wait_until(are_quiet, time.monotonic() + seconds, "quiet", every=_QUIET_LOOK_SECONDS)
