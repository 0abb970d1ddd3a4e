"""The TypeScript client: whether what is generated of the API's contract is up to date, and its
types.
"""

import importlib
import subprocess
from pathlib import Path

from dev import node_packages, paths
from dev.terminal import fail, item, say

FOLDER = paths.ROOT / "clients" / "typescript"
_TYPES_TOOL = paths.ROOT / "tools" / "npm" / "types"
_RULES = FOLDER / "src" / "contract.ts"


def check(fix: bool = False) -> bool:
    """Drift from docs/openapi.yaml, with `fix` written anew; then the compiler's findings."""
    # Imported by its name, since it needs PyYAML, which `./dev` itself goes without.
    rules = importlib.import_module("generate.typescript_contract")
    found = [_is_current(_RULES, rules.text(), fix), _runs("check", bring_packages())]
    return all(found)


def bring_packages() -> dict[str, str]:
    """The packages that the client is built with; the environment for them."""
    node_packages.ensure(_TYPES_TOOL)
    return node_packages.ensure(FOLDER)


def build() -> dict[str, str]:
    """Makes the package's dist; the environment for its programs."""
    environment = bring_packages()
    if not _runs("build", environment):
        fail("the TypeScript client cannot be built")
    return environment


def _is_current(path: Path, expected: str, fix: bool) -> bool:
    shown = str(path.relative_to(paths.ROOT))
    if path.exists() and path.read_text(encoding="utf-8") == expected:
        return True
    if fix:
        path.write_text(expected, encoding="utf-8")
        item(shown, "written anew")
        return True
    say(f"{shown} is not what docs/openapi.yaml gives: ./dev check clients --fix writes it anew")
    return False


def _runs(script: str, environment: dict[str, str]) -> bool:
    done = subprocess.run(
        ["npm", "run", "--silent", script],
        cwd=FOLDER,
        env=environment,
        stdin=subprocess.DEVNULL,
    )
    return done.returncode == 0
