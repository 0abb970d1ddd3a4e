"""Holds what the steps of a rehearsal share."""

import time
from dataclasses import dataclass, field

from harness import OtlpSink

from k8s.installation import Installation
from k8s.load import ClusterLoad


@dataclass(frozen=True)
class Connections:
    """A moment of the monotonic clock, the step that was under way, and how many there were."""

    at: float
    step: str
    count: int


@dataclass
class Course:
    """The state that the steps share."""

    load: ClusterLoad
    sink: OtlpSink
    with_load: bool
    older: bool
    # Settings that the older release does not know, of NEWER_SETTINGS.
    unknown: list[str]
    installed: Installation = field(default_factory=Installation)
    step: str = ""  # the one that is under way
    # Connections to PostgreSQL that the release had, every other second.
    connections: list[Connections] = field(default_factory=list)
    # In a fault: when the part was ready again; failures later than this and ten seconds are none
    # of its.
    healed: float = 0.0
    sabotage: str = ""

    def heal(self) -> None:
        """The part that was broken is ready again."""
        self.healed = time.monotonic()
