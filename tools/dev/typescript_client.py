"""The TypeScript client: whether what is generated of the API's contract is up to date, and its
types.
"""

import importlib
import subprocess
import tempfile
from pathlib import Path

from dev import dashboard, node_packages, places
from dev.terminal import item, say

FOLDER = places.ROOT / "clients" / "typescript"
_CONTRACT = places.ROOT / "docs" / "openapi.yaml"
_TYPES = FOLDER / "src" / "openapi.ts"
_RULES = FOLDER / "src" / "contract.ts"


def check(fix: bool = False) -> bool:
    """Drift from docs/openapi.yaml, with `fix` written anew; then the compiler's findings."""
    # By its name, for it needs PyYAML, which `./dev` itself goes without.
    rules = importlib.import_module("typescript_contract")
    found = [
        _is_current(_TYPES, _types(), fix),
        _is_current(_RULES, rules.text(), fix),
        _compiles(),
    ]
    return all(found)


def _types() -> str:
    with tempfile.TemporaryDirectory() as folder:
        made = Path(folder) / _TYPES.name
        dashboard.make_types(_CONTRACT, made)
        return made.read_text(encoding="utf-8")


def _is_current(path: Path, wanted: str, fix: bool) -> bool:
    shown = str(path.relative_to(places.ROOT))
    if path.exists() and path.read_text(encoding="utf-8") == wanted:
        return True
    if fix:
        path.write_text(wanted, encoding="utf-8")
        item(shown, "written anew")
        return True
    say(f"{shown} is not what docs/openapi.yaml gives: ./dev check clients --fix writes it anew")
    return False


def _compiles() -> bool:
    environment = node_packages.ensure(FOLDER)
    done = subprocess.run(
        ["npm", "run", "--silent", "check"],
        cwd=FOLDER,
        env=environment,
        stdin=subprocess.DEVNULL,
    )
    return done.returncode == 0
