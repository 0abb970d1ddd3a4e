"""docs/events/first-consumer.md does what it says: its own text is executed."""

import uuid

from confluent_kafka.admin import AdminClient, NewTopic
from dev import pages
from harness import Suite
from harness.suite import ROOT

_PAGE = ROOT / "docs" / "events" / "first-consumer.md"
_SECONDS = 240  # on a busy machine, with packages still to be brought


def test_the_page_is_true(suite: Suite) -> None:
    # Another one for each run: what the group read before is in a folder that is gone.
    group = f"my-first-consumer-{uuid.uuid4()}"
    # Other tests leave records that nobody can read.
    admin = AdminClient({"bootstrap.servers": suite["KAFKA"]})
    admin.create_topics([NewTopic(f"{group}.dead-letter", 1, 1)])[f"{group}.dead-letter"].result(30)

    pages.run(_PAGE, swaps={"my-first-consumer": group}, seconds=_SECONDS)
