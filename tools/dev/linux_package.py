"""The programs for Linux without containers: a tar of the programs, the page, what `/downloads`
offers, the topics, the files of Compose, and units of systemd; of the same Debian release as the
images.
"""

import platform
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

from dev import (
    archives,
    client_packages,
    dashboard,
    debian,
    downloads,
    image,
    paths,
    release_notes,
    services,
    spdx,
)
from dev import version as versions
from dev.spdx import Package
from dev.terminal import fail

UNITS = paths.ROOT / "deploy" / "systemd"
_COMPOSE = paths.ROOT / "deploy" / "compose"
_DOCKERFILE = paths.ROOT / "deploy" / "docker" / "Dockerfile"
_README = paths.ROOT / "docs" / "operations" / "linux.md"
_ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64"}
# What the packages stage of the Dockerfile has for the images alone.
_OF_IMAGES = {"binutils", "monitoring-plugins-basic"}


def make(into: Path, programs: Path | None) -> Path:
    """Makes the package, of the programs in a folder or of this machine's build."""
    built = image.built_programs(programs)
    with tempfile.TemporaryDirectory(prefix="tempinbox-linux-") as made:
        offered = Path(made) / "downloads"
        offered.mkdir()
        downloads.write(offered)
        return write(into, built, dashboard.BUILT, offered)


def write(into: Path, programs: Path, page: Path, offered: Path) -> Path:
    """Writes the tar of these programs, this page and these downloads."""
    top = f"tempinbox-{versions.current()}"
    target = into / f"{top}-linux-{architecture()}.tar.gz"
    with tempfile.TemporaryDirectory(prefix=".stripping-", dir=into) as made:
        folder = Path(made)
        readme = folder / "README.md"
        page_text = release_notes.without_relative_links(_README.read_text(encoding="utf-8"))
        readme.write_text(page_text, encoding="utf-8")
        packages = folder / "packages.txt"
        packages.write_text("".join(f"{name}\n" for name in needed_packages()), encoding="ascii")
        files = {
            "LICENSE": paths.ROOT / "LICENSE",
            "README.md": readme,
            "packages.txt": packages,
            "share/kafka/topics.json": paths.ROOT / "deploy" / "kafka" / "topics.json",
            "share/kafka/access.json": paths.ROOT / "deploy" / "kafka" / "access.json",
        }
        for name in services.PROGRAMS:
            files[f"bin/{name}"] = _stripped(programs / name, folder)
        for inside, source in (
            ("share/dashboard", page),
            ("share/downloads", offered),
            ("share/compose", _COMPOSE),
            ("systemd", UNITS),
        ):
            files |= {
                f"{inside}/{path.relative_to(source)}": path
                for path in source.rglob("*")
                if path.is_file()
            }
        named = {f"{top}/{name}": path for name, path in files.items()}
        archives.write_tar_gz(target, named, client_packages.moment())
    return target


def architecture() -> str:
    """Returns Debian's name of this machine's processor."""
    if platform.machine() not in _ARCHITECTURES:
        fail(f"nothing is made for {platform.machine()}")
    return _ARCHITECTURES[platform.machine()]


def needed_packages() -> list[str]:
    """Lists the Debian packages that the programs load libraries of, or read at run time: those
    that the images are collected from.
    """
    text = _DOCKERFILE.read_text(encoding="utf-8")
    stage = re.search(r"apt-get install -y --no-install-recommends \\\n(.+?)\n &&", text, re.DOTALL)
    assert stage
    return sorted(set(stage[1].replace("\\", "").split()) - _OF_IMAGES)


def described_packages() -> list[Package]:
    """Lists the same for the SPDX document; which version is installed, apt decides."""
    distribution = f"distro={debian.IMAGE_RELEASE}"
    return [
        Package(name, spdx.NONE, "Organization: Debian", f"pkg:deb/debian/{name}?{distribution}")
        for name in needed_packages()
    ]


def _stripped(program: Path, folder: Path) -> Path:
    if not program.exists():
        fail(f"{program} is not built: ./dev build")
    if not shutil.which("strip"):
        fail("programs are packed without their symbols: install binutils")
    target = folder / program.name
    subprocess.run(["strip", "-o", str(target), str(program)], check=True)
    return target
