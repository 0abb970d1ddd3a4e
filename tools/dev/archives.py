"""Archives whose bytes depend on their content alone: members in the order of their names, all
root's, with one time and plain modes.
"""

import gzip
import hashlib
import io
import tarfile
from pathlib import Path
from typing import IO


def add_bytes(
    archive: tarfile.TarFile, name: str, content: bytes, moment: int, *, runs: bool = False
) -> None:
    """Adds a file with this content."""
    member = tarfile.TarInfo(name)
    member.size = len(content)
    member.mode = 0o755 if runs else 0o644
    member.mtime = moment
    archive.addfile(member, io.BytesIO(content))


def write_tar_gz(target: Path, files: dict[str, Path], moment: int) -> None:
    """Writes these files, by the names they get, as a compressed tar."""
    with (
        target.open("wb") as output,
        compressed(output) as packed,
        tarfile.open(fileobj=packed, mode="w", format=tarfile.USTAR_FORMAT) as archive,
    ):
        for name in sorted(files):
            runs = bool(files[name].stat().st_mode & 0o100)
            add_bytes(archive, name, files[name].read_bytes(), moment, runs=runs)


def compressed(output: IO[bytes], level: int = 9) -> gzip.GzipFile:
    """Returns what compresses into a file without saying when, or under which name."""
    return gzip.GzipFile(filename="", mode="wb", fileobj=output, compresslevel=level, mtime=0)


def sha256(path: Path) -> str:
    """Returns the digest of a file, in hexadecimal."""
    with path.open("rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest()
