"""The dashboard's page: its build by Vite, its checks.

Nothing is done that was done for the same input before.
"""

import subprocess
import time
from pathlib import Path

from dev import node_packages, places, web_sources
from dev.locks import in_turn
from dev.terminal import heading, item

FOLDER = places.ROOT / "services" / "gateway" / "dashboard"
BUILT = FOLDER / "dist"
_BUILD_STAMP = places.ROOT / "build" / "dashboard.built"
_LOCK = places.ROOT / "build" / "dashboard.lock"


def build() -> None:
    """Makes `dist` what the sources say."""
    with in_turn(_LOCK):
        environment = node_packages.ensure(FOLDER)
        sources = node_packages.digest(FOLDER, _sources())
        if (BUILT / "index.html").exists() and node_packages.read_stamp(_BUILD_STAMP) == sources:
            return
        heading("Building the dashboard")
        started = time.monotonic()
        node_packages.run(
            ["npm", "run", "--silent", "build"],
            FOLDER,
            environment,
            "Vite could not build the dashboard",
        )
        _BUILD_STAMP.write_text(sources, encoding="ascii")
        shown = sum(path.stat().st_size for path in BUILT.rglob("*.br"))
        item(
            "dashboard", f"{shown / 1024:.0f} KB compressed, in {time.monotonic() - started:.1f} s"
        )


def check(fix: bool = False) -> bool:
    """Types and unit tests; layout and faults of all TypeScript, JavaScript and CSS."""
    with in_turn(_LOCK):
        environment = node_packages.ensure(FOLDER)
        is_clean = web_sources.check(fix)
    commands = [["npm", "run", "--silent", "check"], ["npm", "run", "--silent", "test"]]
    # Both, whatever the first one finds.
    codes = [
        subprocess.run(command, cwd=FOLDER, env=environment, stdin=subprocess.DEVNULL).returncode
        for command in commands
    ]
    return is_clean and not any(codes)


def _sources() -> list[Path]:
    outside = [
        FOLDER / name
        for name in (
            "index.html",
            "package.json",
            "package-lock.json",
            "tsconfig.json",
            "vite.config.ts",
        )
    ]
    return outside + [
        path for path in (FOLDER / "src").rglob("*") if path.is_file() and ".test." not in path.name
    ]
