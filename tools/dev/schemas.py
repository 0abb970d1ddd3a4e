"""The contracts of other programs: schemas of events and calls (buf), descriptions of the APIs
(Redocly CLI). Both tools come from npm, pinned in tools/npm/schemas.
"""

import json
import subprocess
from pathlib import Path
from typing import Any

from dev import node_packages, paths
from dev.terminal import fail, say

SCHEMAS = paths.ROOT / "proto-schemas"
# The schemas as they were last released, which those of this checkout must be compatible with.
RELEASED = SCHEMAS / "released.binpb"
_TOOLS = paths.ROOT / "tools" / "npm" / "schemas"


def _buf(arguments: list[str], folder: Path = paths.ROOT) -> tuple[bool, str]:
    """Returns whether buf was content, and what it said."""
    # The package of this processor is the only one npm brings. @bufbuild/buf, which would choose
    # it, starts it through Node.js and wants those of all systems in the lock file.
    node_packages.ensure(_TOOLS)
    bufs = [*_TOOLS.glob("node_modules/@bufbuild/buf-*/bin/buf")]
    if not bufs:
        fail("tools/npm/schemas has no buf for this processor")
    done = subprocess.run(
        [str(bufs[0]), *arguments],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        stdin=subprocess.DEVNULL,
    )
    return done.returncode == 0, done.stdout


def breaks(schemas: Path) -> str:
    """Returns what these schemas break for readers of the released ones; empty when nothing."""
    is_good, said = _buf(["breaking", str(schemas), "--against", str(RELEASED)])
    return "" if is_good else said or "buf failed and did not say why"


def check() -> bool:
    """Lint, and that schemas only grow."""
    is_good, said = _buf(["lint"], SCHEMAS)
    broken = breaks(SCHEMAS)
    if said + broken:
        say((said + broken).rstrip())
    return is_good and not broken


def describe(folder: Path) -> dict[str, Any]:
    """The schemas of a folder as descriptors in JSON, with their comments."""
    is_good, said = _buf(["build", str(folder), "--output", "-#format=json"])
    if not is_good:
        fail(said)
    described: dict[str, Any] = json.loads(said)
    return described


def release() -> None:
    """Writes the image anew: part of making a release, never of a change."""
    if not check():
        fail("what breaks the released schemas cannot be released")
    is_good, said = _buf(
        ["build", str(SCHEMAS), "--exclude-source-info", "--output", str(RELEASED)]
    )
    if not is_good:
        fail(said)


def check_openapi() -> bool:
    """Both descriptions. Redocly reports use and asks for updates unless told not to."""
    environment = node_packages.ensure(_TOOLS)
    redocly = _TOOLS / "node_modules" / ".bin" / "redocly"
    command = [str(redocly), "lint", "--config", "docs/redocly.yaml", "v1", "dashboard"]
    quiet = {"REDOCLY_TELEMETRY": "off", "REDOCLY_SUPPRESS_UPDATE_NOTICE": "true"}
    done = subprocess.run(
        command,
        cwd=paths.ROOT,
        env=environment | quiet,
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
    )
    if done.returncode != 0:
        say(done.stdout + done.stderr)
    return done.returncode == 0
