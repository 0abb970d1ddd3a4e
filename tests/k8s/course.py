"""What the steps of a rehearsal share."""

import time
from dataclasses import dataclass, field

from harness import OtlpSink

from k8s.installation import Installation
from k8s.load import ClusterLoad


@dataclass
class Course:
    """What the steps share."""

    load: ClusterLoad
    sink: OtlpSink
    with_load: bool
    older: bool
    # Settings that the older release does not know, of NEWER_SETTINGS.
    unknown: list[str]
    installed: Installation = field(default_factory=Installation)
    # Connections to PostgreSQL that the release had at most, and may have.
    most_connections: int = 0
    # In a fault: when the part was ready again; failures later than this and ten seconds are none
    # of its.
    healed: float = 0.0
    sabotage: str = ""

    def heal(self) -> None:
        """The part that was broken is ready again."""
        self.healed = time.monotonic()
