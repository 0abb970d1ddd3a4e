"""Checks the workflows of .github with actionlint, in the version that tools/go/actionlint pins."""

import subprocess
from pathlib import Path

from dev import go_toolchain, node_packages, paths
from dev.locks import in_turn
from dev.terminal import fail, say

FOLDER = paths.ROOT / ".github" / "workflows"
_MODULE = paths.ROOT / "tools" / "go" / "actionlint"


def check() -> bool:
    """Returns whether actionlint finds no fault in any workflow."""
    # Programs that it would use where a machine has them make no difference between machines.
    command = [str(_actionlint()), "-no-color", "-shellcheck=", "-pyflakes="]
    files = [str(file) for file in sorted(FOLDER.glob("*.yml"))]
    done = subprocess.run([*command, *files], cwd=paths.ROOT, stdin=subprocess.DEVNULL)
    return done.returncode == 0


def _actionlint() -> Path:
    """The program in the cache; built when its module is new."""
    folder = paths.cache("actionlint")
    pinned = node_packages.digest(_MODULE, [_MODULE / "go.mod", _MODULE / "go.sum"])
    program = folder / pinned[:16]
    with in_turn(folder / "lock"):
        if not program.exists():
            say("  building actionlint ...")
            partial = program.with_suffix(".partial")
            command = ["go", "build", "-mod=readonly", "-trimpath", "-o", str(partial)]
            done = subprocess.run(
                [*command, "github.com/rhysd/actionlint/cmd/actionlint"],
                cwd=_MODULE,
                env=go_toolchain.ensure() | {"CGO_ENABLED": "0"},
                capture_output=True,
                text=True,
                stdin=subprocess.DEVNULL,
            )
            if done.returncode != 0:
                fail(f"actionlint could not be built:\n{done.stderr[-3000:]}")
            partial.rename(program)
    return program
