"""`./dev release`: everything that a release is, into dist/, with the digest of each file.

Nothing is tagged, signed or pushed here: a forge does that with what is in the folder
(docs/development/release.md).
"""

import json
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

from dev import (
    archives,
    client_packages,
    image,
    linux_package,
    paths,
    release_notes,
    spdx,
    spdx_files,
    version,
)
from dev.terminal import fail, heading, item, say

FOLDER = paths.ROOT / "dist"
SUMS = "SHA256SUMS"
PARTS = ["python", "npm", "chart", "linux"]
# Files that two builds do not make alike, by how their names begin, and why.
VARYING: dict[str, str] = {}


def run(parts: list[str], programs: Path | None, compared: Path | None, *, dry_run: bool) -> int:
    """The verb; of fewer than all parts only these are made. `programs` is a folder of those for
    Linux, without which they are built.
    """
    for part in parts:
        if part not in PARTS:
            fail(f"a release has no part {part}; there are: {', '.join(PARTS)}")
    chosen = version.current()
    check_tree(chosen, dry_run=dry_run)
    if "linux" in (parts or PARTS) and programs is None:
        image.check_release()  # before anything is made
    shutil.rmtree(FOLDER, ignore_errors=True)
    FOLDER.mkdir()
    heading(f"Making {chosen} in {FOLDER.relative_to(paths.ROOT)}")
    _make(parts or PARTS, programs)
    changelog = version.CHANGELOG.read_text(encoding="utf-8")
    (FOLDER / "NOTES.md").write_text(release_notes.text(chosen, changelog), encoding="utf-8")
    sums = write_sums(FOLDER)
    for name in sorted(sums):
        size = (FOLDER / name).stat().st_size
        say(f"  {sums[name][:12]}  {size / 1e6:>7.1f} MB  {name}")
    say(f"{len(sums)} files, named with their digests in {SUMS}")
    return _compare(compared, sums) if compared else 0


# What may be released.


def check_tree(chosen: str, *, dry_run: bool) -> None:
    """Refuses to make a release of what is not committed, or under a version that is not this
    content's.
    """
    version.check_form(chosen)
    if changed := _git("status", "--porcelain"):
        fail(f"a release is made of what is committed; this is not:\n{changed}")
    tagged = _git("rev-parse", "--verify", "--quiet", f"v{chosen}^{{tree}}") or None
    changelog = version.CHANGELOG.read_text(encoding="utf-8")
    if reason := version.find_reuse(chosen, changelog, tagged, _git("rev-parse", "HEAD^{tree}")):
        fail(reason)
    if dry_run:
        return
    if not version.is_release(chosen):
        fail(f"{chosen} is not to be released: ./dev release --dry-run makes the same of it")
    if chosen not in version.changelog_headings(changelog):
        fail(f"CHANGELOG.md has no section {chosen}")


def _git(*arguments: str) -> str:
    printed = subprocess.run(
        ["git", "-C", str(paths.ROOT), *arguments], capture_output=True, text=True
    )
    return printed.stdout.strip()


# The parts.


def _make(parts: list[str], programs: Path | None) -> None:
    packing: dict[str, list[tuple[Callable[[Path], Path], Callable[[], list[spdx.Package]]]]] = {
        "python": [
            (client_packages.wheel, spdx_files.python_packages),
            (client_packages.sdist, spdx_files.python_packages),
        ],
        "npm": [(client_packages.npm, spdx_files.npm_packages)],
        "chart": [(client_packages.chart, _images_of_chart)],
        "linux": [
            (lambda into: linux_package.make(into, programs), linux_package.described_packages)
        ],
    }
    for part in parts:
        for pack, needed in packing[part]:
            _describe(pack(FOLDER), needed(), has=False)


def _images_of_chart() -> list[spdx.Package]:
    return spdx_files.images(image.SERVICE_IMAGES, version.current())


def _describe(file: Path, found: list[spdx.Package], *, has: bool) -> None:
    created = client_packages.created()
    document = spdx_files.document(file, version.current(), created, found, has=has)
    _write_json(file, document)
    item(file.name, f"sha256:{archives.sha256(file)}")


def _write_json(described: Path, document: Any) -> None:
    path = described.with_name(f"{described.name}.spdx.json")
    path.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")


# Digests.


def write_sums(folder: Path) -> dict[str, str]:
    """Writes the digest of every file of the folder, as sha256sum reads it; returns them."""
    sums = {path.name: archives.sha256(path) for path in folder.iterdir() if path.name != SUMS}
    lines = [f"{digest}  {name}\n" for name, digest in sorted(sums.items())]
    (folder / SUMS).write_text("".join(lines), encoding="utf-8")
    return sums


def read_sums(folder: Path) -> dict[str, str]:
    """Reads what write_sums wrote."""
    lines = (folder / SUMS).read_text(encoding="utf-8").splitlines()
    return {name: digest for digest, _, name in (line.partition("  ") for line in lines)}


def differing(one: dict[str, str], other: dict[str, str]) -> tuple[list[str], list[str]]:
    """Lists the files that are not the same: those that must be, and those of which it is
    known.
    """
    found = sorted(name for name in {*one, *other} if one.get(name) != other.get(name))
    known = [name for name in found if name.startswith(tuple(VARYING))]
    return [name for name in found if name not in known], known


def _compare(other: Path, sums: dict[str, str]) -> int:
    unexpected, known = differing(sums, read_sums(other))
    heading(f"Compared with {other}")
    for name in known:
        reason = next(why for begin, why in VARYING.items() if name.startswith(begin))
        say(f"  differs, as is known: {name}: {reason}")
    for name in unexpected:
        say(f"  differs: {name}")
    same = len(sums) - len(unexpected) - len(known)
    say(f"{same} files are the same, {len(known)} differ with a reason, {len(unexpected)} without")
    return 1 if unexpected else 0
