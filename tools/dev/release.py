"""`./dev release`: everything that a release is, into dist/, with the digest of each file.

Nothing is tagged, signed or pushed here: a forge does that with what is in the folder
(docs/development/release.md).
"""

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

from dev import (
    archives,
    client_packages,
    image,
    linux_package,
    oci,
    paths,
    release_notes,
    spdx,
    spdx_files,
    version,
)
from dev.docker import Docker, check_docker, engine
from dev.terminal import fail, heading, item, say

FOLDER = paths.ROOT / "dist"
SUMS = "SHA256SUMS"
PARTS = ["python", "npm", "chart", "linux", "images"]
# Files that two builds do not make alike, by how their names begin, and why.
VARYING = {
    "all-in-one-": "PostgreSQL gives its database a random identifier, Kafka its log a random "
    "name; and its class data, as of kafka",
    "kafka-": "Java's class data is a memory image of the run that wrote it",
}


def run(
    parts: list[str],
    source: image.Source,
    base: str | None,
    compared: Path | None,
    *,
    dry_run: bool,
) -> int:
    """The verb; of fewer than all parts only these are made."""
    for part in parts:
        if part not in PARTS:
            fail(f"a release has no part {part}; there are: {', '.join(PARTS)}")
    chosen = version.current()
    check_tree(chosen, dry_run=dry_run)
    # The compared folder may be dist/ itself, which is deleted below.
    earlier = read_sums(compared) if compared else {}
    # Before anything is made, which takes long.
    if {"linux", "images"} & {*(parts or PARTS)} and source.folder is None:
        image.check_release()
    if "images" in (parts or PARTS):
        check_docker()
    shutil.rmtree(FOLDER, ignore_errors=True)
    FOLDER.mkdir()
    heading(f"Making {chosen} in {FOLDER.relative_to(paths.ROOT)}")
    _make(parts or PARTS, source, base)
    changelog = version.CHANGELOG.read_text(encoding="utf-8")
    registry = os.environ.get("REGISTRY", "")
    notes = release_notes.text(chosen, changelog, registry, linux_package.architecture())
    (FOLDER / "NOTES.md").write_text(notes, encoding="utf-8")
    sums = write_sums(FOLDER)
    for name in sorted(sums):
        size = (FOLDER / name).stat().st_size
        say(f"  {sums[name][:12]}  {size / 1e6:>7.1f} MB  {name}")
    say(f"{len(sums)} files, named with their digests in {SUMS}")
    return _compare(compared, earlier, sums) if compared else 0


# What may be released.


def check_tree(chosen: str, *, dry_run: bool) -> None:
    """Refuses to make a release of what is not committed, or under a version that is not this
    content's.
    """
    version.check_form(chosen)
    if changed := version.git("status", "--porcelain"):
        fail(f"a release is made of what is committed; this is not:\n{changed}")
    released, here = version.released_tree(chosen), version.git("rev-parse", "HEAD^{tree}")
    changelog = version.CHANGELOG.read_text(encoding="utf-8")
    if reason := version.find_reuse(chosen, changelog, released, here):
        fail(reason)
    if dry_run:
        return
    if not version.is_release(chosen):
        fail(f"{chosen} is not to be released: ./dev release --dry-run makes the same of it")
    if chosen not in version.changelog_headings(changelog):
        fail(f"CHANGELOG.md has no section {chosen}")


# The parts.


def _make(parts: list[str], source: image.Source, base: str | None) -> None:
    packing: dict[str, list[tuple[Callable[[Path], Path], Callable[[], list[spdx.Package]]]]] = {
        "python": [
            (client_packages.wheel, spdx_files.python_packages),
            (client_packages.sdist, spdx_files.python_packages),
        ],
        "npm": [(client_packages.npm, spdx_files.npm_packages)],
        "chart": [(client_packages.chart, _images_of_chart)],
        "linux": [
            (lambda into: linux_package.make(into, source.folder), linux_package.described_packages)
        ],
    }
    for part in parts:
        for pack, needed in packing.get(part, []):
            _describe(pack(FOLDER), needed(), has=False)
    if "images" in parts:
        _make_images(source, base)


def _images_of_chart() -> list[spdx.Package]:
    return spdx_files.images(image.SERVICE_IMAGES, version.current())


def _make_images(source: image.Source, base: str | None) -> None:
    """Builds all of them without a cached layer, which would be older than the commit; the daemon
    has what is in the files in the end, for `./dev image --check`.
    """
    image.build_all(image.IMAGES, source, base, None, fresh=True)
    with engine(image.FOLDER / "docker", with_networks=False) as docker:
        for name in image.IMAGES:
            _write_image(docker, name)


def _write_image(docker: Docker, name: str) -> None:
    chosen, moment = version.current(), client_packages.moment()
    inspect = ["image", "inspect", "--format", "{{.Architecture}}", image.tag(name)]
    target = FOLDER / f"{name}-{chosen}-linux-{docker.run(*inspect).strip()}.oci.tar"
    saved = target.with_suffix(".saved")
    docker.run("save", "--output", str(saved), image.tag(name))
    repository = image.tag(name).rpartition(":")[0]
    digest = oci.write_layout(saved, target, repository, chosen, moment)
    saved.unlink()
    docker.run("load", "--input", str(target))
    with image.filesystem(docker, name) as opened:
        found = spdx.packages(opened)
    made = client_packages.created()
    _write_json(target, spdx.document(name, chosen, f"sha256:{digest}", made, found))
    item(name, f"sha256:{digest}")


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
    """Reads what write_sums wrote; fails for a folder that no run made."""
    if not (folder / SUMS).is_file():
        fail(f"{folder} has no {SUMS}: name a folder that an earlier ./dev release made")
    lines = (folder / SUMS).read_text(encoding="utf-8").splitlines()
    return {name: digest for digest, _, name in (line.partition("  ") for line in lines)}


def differing(one: dict[str, str], other: dict[str, str]) -> tuple[list[str], list[str]]:
    """Lists the files that are not the same: those that must be, and those of which it is
    known.
    """
    found = sorted(name for name in {*one, *other} if one.get(name) != other.get(name))
    known = [name for name in found if name.startswith(tuple(VARYING))]
    return [name for name in found if name not in known], known


def _compare(other: Path, earlier: dict[str, str], sums: dict[str, str]) -> int:
    unexpected, known = differing(sums, earlier)
    heading(f"Compared with {other}")
    for name in known:
        reason = next(why for begin, why in VARYING.items() if name.startswith(begin))
        say(f"  differs, as is known: {name}: {reason}")
    for name in unexpected:
        say(f"  differs: {name}")
    same = len(sums) - len(unexpected) - len(known)
    say(f"{same} files are the same, {len(known)} differ with a reason, {len(unexpected)} without")
    return 1 if unexpected else 0
