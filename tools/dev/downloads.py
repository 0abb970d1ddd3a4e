"""What a gateway offers at /downloads: the clients and the chart of this checkout, and the example
application that the tester's quick start signs up at.

Nothing is made that was made of the same sources before.
"""

import shutil
from pathlib import Path

from dev import client_packages, node_packages, paths, services
from dev.locks import in_turn
from dev.terminal import heading, item

FOLDER = services.DOWNLOADS
_LOCK = paths.ROOT / "build" / "downloads.lock"
_STAMP = paths.ROOT / "build" / "downloads.made"
_SOURCES = [
    Path("clients/python"),
    Path("clients/typescript"),
    Path("deploy/helm/tempinbox"),
    Path("docs/openapi.yaml"),
    Path("tools/npm/types"),
    Path("VERSION"),
]
_EXAMPLE = Path("examples/signup-app/signup_app.py")


def build() -> None:
    """Makes the folder what the sources say; an unchanged one needs no Node.js."""
    FOLDER.parent.mkdir(exist_ok=True)
    with in_turn(_LOCK):
        sources = _digest()
        if node_packages.read_stamp(_STAMP) == sources:
            return
        heading("Packing the clients")
        _STAMP.unlink(missing_ok=True)
        shutil.rmtree(FOLDER, ignore_errors=True)
        FOLDER.mkdir()
        write(FOLDER)
        _STAMP.write_text(sources, encoding="ascii")
        item("downloads", ", ".join(sorted(path.name for path in FOLDER.iterdir())))


def write(into: Path) -> None:
    """Makes them in an empty folder."""
    client_packages.wheel(into)
    client_packages.npm(into)
    client_packages.chart(into)
    shutil.copy(paths.ROOT / _EXAMPLE, into)


def _digest() -> str:
    files = [paths.ROOT / path for folder in _SOURCES for path in client_packages.sources(folder)]
    return node_packages.digest(paths.ROOT, [*files, paths.ROOT / _EXAMPLE])
