"""The dashboard's page: its build by Vite, its types, its checks.

Nothing is done that was done for the same input before.
"""

import subprocess
import time
from pathlib import Path

from dev import node_packages, paths, typescript_client, web_sources
from dev.locks import in_turn
from dev.terminal import fail, heading, item

FOLDER = paths.ROOT / "web" / "dashboard"
BUILT = FOLDER / "dist"
# The page's types, made from its API's contract. The page is built without them: they are for the
# check and for editors.
TYPES = FOLDER / "src" / "openapi.d.ts"
_CONTRACT = paths.ROOT / "docs" / "dashboard-openapi.yaml"
_TYPES_TOOL = paths.ROOT / "tools" / "npm" / "types"
_BUILD_STAMP = paths.ROOT / "build" / "dashboard.built"
_LOCK = paths.ROOT / "build" / "dashboard.lock"


def bring_packages() -> dict[str, str]:
    """The packages that the page is built with, and a Node.js; the environment for them."""
    return node_packages.ensure(FOLDER)


def bring_what_building_needs() -> None:
    """Brings the packages and the Node.js where the page is not what the sources say."""
    if not _is_built(node_packages.digest(FOLDER, _sources())):
        bring_packages()


def build() -> None:
    """Makes `dist` what the sources say; needs no Node.js where it is that already."""
    with in_turn(_LOCK):
        sources = node_packages.digest(FOLDER, _sources())
        if _is_built(sources):
            return
        environment = bring_packages()
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
        make_types()
        # ESLint reads the types of what its tests import: it finds the same in every checkout.
        typescript_client.build()
        environment = bring_packages()
        is_clean = web_sources.check(fix)
    commands = [["npm", "run", "--silent", "check"], ["npm", "run", "--silent", "test"]]
    # Both, whatever the first one finds.
    codes = [
        subprocess.run(command, cwd=FOLDER, env=environment, stdin=subprocess.DEVNULL).returncode
        for command in commands
    ]
    return is_clean and not any(codes)


def make_types(contract: Path = _CONTRACT, types: Path = TYPES) -> None:
    """Writes the TypeScript types of a contract; fails where a reference of it leads nowhere."""
    environment = node_packages.ensure(_TYPES_TOOL)
    done = subprocess.run(
        [
            str(_TYPES_TOOL / "node_modules" / ".bin" / "openapi-typescript"),
            str(contract),
            "--default-non-nullable=false",  # what has a default may be left out of a request
            f"--output={types}",
        ],
        env=environment,
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
    )
    said = done.stdout + done.stderr
    if done.returncode != 0 or "Could not resolve" in said:
        types.unlink(missing_ok=True)
        fail(f"{contract.name} gives no types:\n{said[-3000:]}")


def _is_built(sources: str) -> bool:
    return (BUILT / "index.html").exists() and node_packages.read_stamp(_BUILD_STAMP) == sources


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
        path
        for path in (FOLDER / "src").rglob("*")
        if path.is_file() and ".test." not in path.name and path != TYPES
    ]
