"""Gives the project another version, everywhere it is written; tests/tools/version_test.py holds
each place to it.

Usage: python3 tools/generate/version.py 0.2.0-dev
"""

import json
import re
import sys
from pathlib import Path

_ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(_ROOT / "tools"))

from dev import version  # noqa: E402 - after its folder is known

# Text that has the version as it stands, of this project alone.
TEXTS = [
    "VERSION",
    "README.md",
    "deploy/compose/.env",
    "deploy/compose/README.md",
    "deploy/compose/production.env",
    "deploy/helm/tempinbox/Chart.yaml",
    "docs/dashboard-openapi.yaml",
    "docs/openapi.yaml",
    "docs/operations/images.md",
    "docs/operations/linux.md",
    "clients/typescript/src/contract.ts",
]
_NPM = ["web/dashboard", "clients/typescript"]
_PYTHON = "clients/python/src/tempinbox/__init__.py"


def pattern(named: str) -> str:
    """Returns a regular expression of a version as texts have it: also in the name of a file, such
    as all-in-one-0.2.0-linux-amd64.oci.tar.
    """
    return rf"(?<![\w.]){re.escape(named)}(?!\w|-dev|\.\d)"


def _replace(name: str, old: str, new: str) -> None:
    path = _ROOT / name
    text = path.read_text(encoding="utf-8")
    changed, count = re.subn(pattern(old), new, text)
    if count == 0:
        sys.exit(f"{name} does not have {old}")
    path.write_text(changed, encoding="utf-8")


def _replace_in_npm(folder: str, new: str) -> None:
    for name in ("package.json", "package-lock.json"):
        path = _ROOT / folder / name
        content = json.loads(path.read_text(encoding="utf-8"))
        content["version"] = new
        if "packages" in content:
            content["packages"][""]["version"] = new
        path.write_text(json.dumps(content, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def main(new: str) -> None:
    """Replaces the version of the checkout by another."""
    version.check_form(new)
    old = version.current()
    for name in TEXTS:
        _replace(name, old, new)
    for folder in _NPM:
        _replace_in_npm(folder, new)
    _replace(_PYTHON, version.for_python(old), version.for_python(new))
    print(f"{old} is now {new}; the chart's goldens: ./dev test deploy --only=--update")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(sys.argv[1])
