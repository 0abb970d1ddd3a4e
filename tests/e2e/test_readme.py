"""The commands that README.md shows a newcomer, run as they stand there."""

import json
import os
import subprocess

from dev import pages
from harness import Suite
from harness.suite import ROOT

_BLOCKS = [it.text for it in pages.blocks(ROOT / "README.md") if it.language == "sh"]


def _run(block: str) -> str:
    """Runs the block and returns what it prints; ./dev is left out, for it would start another
    suite than the one here.
    """
    script = "\n".join(line for line in block.splitlines() if "./dev " not in line)
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", script],
        capture_output=True,
        text=True,
        timeout=120,
        env=dict(os.environ),
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_first_request_makes_an_inbox(suite: Suite) -> None:
    first = next(block for block in _BLOCKS if "curl" in block)

    made = json.loads(_run(first))

    assert made["emailAddress"].endswith("@" + suite["DOMAIN"])
    assert made["inboxId"]


def test_the_mail_comes_with_its_code(suite: Suite) -> None:
    assert suite["SMTP"]
    block = next(block for block in _BLOCKS if "smtp://" in block)

    assert '"482913"' in _run(block)
