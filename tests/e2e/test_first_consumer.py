"""docs/events/first-consumer.md does what it says: its own text is executed."""

import os
import re
import signal
import subprocess
import uuid

from confluent_kafka.admin import AdminClient, NewTopic
from harness import Suite
from harness.suite import ROOT

_PAGE = ROOT / "docs" / "events" / "first-consumer.md"
_BLOCK = re.compile(r"^```(sh|text)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_SECONDS = 240  # on a busy machine, with packages still to be brought


def test_the_page_is_true(suite: Suite) -> None:
    blocks = _BLOCK.findall(_PAGE.read_text(encoding="utf-8"))
    script = "".join(text for kind, text in blocks if kind == "sh")
    expected = "".join(text for kind, text in blocks if kind == "text")
    assert "GROUP=my-first-consumer" in script
    # Another one for each run: what the group read before is in a folder that is gone.
    group = f"my-first-consumer-{uuid.uuid4()}"
    script = script.replace("my-first-consumer", group)
    # Other tests leave records that nobody can read.
    admin = AdminClient({"bootstrap.servers": suite["KAFKA"]})
    admin.create_topics([NewTopic(f"{group}.dead-letter", 1, 1)])[f"{group}.dead-letter"].result(30)

    running = subprocess.Popen(
        ["bash", "-eu", "-c", script],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        shown, said = running.communicate(timeout=_SECONDS)
    finally:
        # The consumer as well, where the page did not get as far as ending it.
        if running.poll() is None:
            os.killpg(running.pid, signal.SIGKILL)
    assert running.returncode == 0, shown + said
    pattern = re.escape(expected).replace("…", r"[0-9a-f-]{36}")
    assert re.fullmatch(pattern, shown), shown
