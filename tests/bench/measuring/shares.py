"""Measures what the replicas of a service carried while each had a share of a core."""

from dataclasses import dataclass

MIN_SHARE = 0.85  # of what one replica alone carries
_FULL_SHARE = 0.9  # of its CPU share: it is what bounds the throughput
_IDLE_CORES = 0.15  # with less the machine is full


@dataclass(frozen=True)
class Carried:
    """A load on so many replicas."""

    replicas: int
    rate: float  # of all
    used_share: float  # of the CPU they were given
    idle_cores: float  # of the machine
    busy: dict[str, float]  # cores of each part meanwhile

    @property
    def each(self) -> float:
        """Returns the rate of each replica."""
        return self.rate / self.replicas


def explain(alone: Carried, more: Carried) -> tuple[bool, str]:
    """Returns whether nothing that the replicas share holds them up, and why not."""
    share = more.each / alone.each
    if alone.used_share < _FULL_SHARE:
        return False, (
            f"nothing is shown: one replica used {100 * alone.used_share:.0f} % of its share while "
            f"{alone.idle_cores:.2f} cores were idle, so that something else bounds it"
        )
    if share >= MIN_SHARE:
        return True, "within 15 %" if share <= 2 - MIN_SHARE else "more than one alone carries"
    if more.idle_cores < _IDLE_CORES:
        busy = sorted(more.busy.items(), key=lambda it: -it[1])
        parts = ", ".join(f"{name} {cores:.2f}" for name, cores in busy if cores >= 0.05)
        return True, f"bounded by the machine, whose cores are full: {parts}"
    if more.used_share >= _FULL_SHARE:
        cost = (more.used_share / more.each) / (alone.used_share / alone.each)
        return False, f"the replicas use their share, but a request costs {cost:.2f} times the CPU"
    return False, (
        f"held up by something shared: the replicas used {100 * more.used_share:.0f} % of their "
        f"share while {more.idle_cores:.2f} cores were idle"
    )
