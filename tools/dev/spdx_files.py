"""SPDX 2.3 documents of what a release has besides images: one file, and what is installed with
it.
"""

import json
import re
import tomllib
from pathlib import Path
from typing import Any
from urllib.parse import quote

from dev import archives, paths, spdx
from dev.spdx import Package

_LICENSE = "Apache-2.0"


def python_packages() -> list[Package]:
    """Lists what pip installs with the Python client."""
    text = (paths.ROOT / "clients/python/pyproject.toml").read_text(encoding="utf-8")
    needed = tomllib.loads(text)["project"]["dependencies"]
    return [_named("pypi", *_split(requirement)) for requirement in needed]


def npm_packages() -> list[Package]:
    """Lists what npm installs with the TypeScript client: nothing, but for its fixtures."""
    text = (paths.ROOT / "clients/typescript/package.json").read_text(encoding="utf-8")
    content = json.loads(text)
    needed = content.get("dependencies", {}) | content["peerDependencies"]
    return [_named("npm", name, versions) for name, versions in needed.items()]


def images(names: list[str], version: str) -> list[Package]:
    """Lists the images that the chart runs."""
    purls = {name: f"pkg:oci/{name}?tag={quote(version)}" for name in names}
    return [Package(name, version, spdx.NONE, purl) for name, purl in purls.items()]


def document(file: Path, version: str, created: str, found: list[Package], *, has: bool) -> Any:
    """The document of a file; `has` says that the packages are in it, and are not merely needed."""
    digest = archives.sha256(file)
    top = spdx.described(
        "SPDXRef-file", file.name, version, digest, "ARCHIVE", license_expression=_LICENSE
    )
    relation = "CONTAINS" if has else "DEPENDS_ON"
    return spdx.whole(
        file.name, f"urn:tempinbox:file:{file.name}:{digest}", created, top, found, relation
    )


def _split(requirement: str) -> tuple[str, str]:
    name = re.match(r"[\w.-]+", requirement)
    assert name
    return name[0], requirement[name.end() :]


def _named(kind: str, name: str, versions: str) -> Package:
    # A range is no version of a package URL.
    return Package(name, versions, spdx.NONE, f"pkg:{kind}/{quote(name)}")
