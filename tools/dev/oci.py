"""Turns what `docker save` writes of an image into an OCI image layout, a tar whose bytes depend on
the image's content alone: no file is newer than a chosen moment, and nothing says which container
or machine it was made in. `docker load`, `ctr images import` and skopeo take it.
"""

import datetime
import gzip
import hashlib
import json
import tarfile
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, cast

from dev import archives

_MANIFEST = "application/vnd.oci.image.manifest.v1+json"
_CONFIG = "application/vnd.oci.image.config.v1+json"
_LAYER = "application/vnd.oci.image.layer.v1.tar+gzip"
_LEVEL = 6  # as registries are used to: 9 takes three times as long for a hundredth less
# What of a container's settings belongs to the image.
_SETTINGS = (
    "Cmd",
    "Entrypoint",
    "Env",
    "ExposedPorts",
    "Healthcheck",
    "Labels",
    "StopSignal",
    "User",
    "Volumes",
    "WorkingDir",
)


@dataclass(frozen=True)
class _Blob:
    """A file of the layout, named by its digest."""

    path: Path
    digest: str
    media_type: str

    def descriptor(self) -> dict[str, Any]:
        return {
            "mediaType": self.media_type,
            "digest": f"sha256:{self.digest}",
            "size": self.path.stat().st_size,
        }


def write_layout(saved: Path, target: Path, name: str, version: str, moment: int) -> str:
    """Writes the layout of the one image in an archive of `docker save`; returns the digest of its
    manifest, by which registries know it.
    """
    created = rfc3339(moment)
    with (
        tempfile.TemporaryDirectory(prefix=".layout-", dir=target.parent) as made,
        tarfile.open(saved) as archive,
    ):
        folder = Path(made)
        (listed,) = json.loads(_member(archive, "manifest.json"))
        given = json.loads(_member(archive, listed["Config"]))
        layers, contents = [], []
        for path in listed["Layers"]:
            layer, content = _write_layer(archive, path, folder, moment)
            layers.append(layer)
            contents.append(f"sha256:{content}")
        config = _write_json(folder, _image_config(given, contents, created), _CONFIG)
        manifest = _write_json(
            folder,
            {
                "schemaVersion": 2,
                "mediaType": _MANIFEST,
                "config": config.descriptor(),
                "layers": [layer.descriptor() for layer in layers],
                "annotations": _labels(given) | {"org.opencontainers.image.created": created},
            },
            _MANIFEST,
        )
        listing = manifest.descriptor() | {
            "platform": {"architecture": given["architecture"], "os": given["os"]},
            "annotations": {
                "io.containerd.image.name": f"{name}:{version}",
                "org.opencontainers.image.ref.name": version,
            },
        }
        for_docker = {
            "Config": _path(config),
            "RepoTags": [f"{name}:{version}"],
            "Layers": [_path(layer) for layer in layers],
        }
        texts = {
            "index.json": {"schemaVersion": 2, "manifests": [listing]},
            "manifest.json": [for_docker],
            "oci-layout": {"imageLayoutVersion": "1.0.0"},
        }
        _write_archive(target, [config, manifest, *layers], texts, moment)
        return manifest.digest


def rfc3339(moment: int) -> str:
    """Returns the moment as text."""
    return datetime.datetime.fromtimestamp(moment, datetime.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _member(archive: tarfile.TarFile, name: str) -> bytes:
    content = archive.extractfile(name)
    assert content
    return content.read()


def _labels(given: dict[str, Any]) -> dict[str, str]:
    return dict(given["config"].get("Labels") or {})


def _image_config(given: dict[str, Any], contents: list[str], created: str) -> dict[str, Any]:
    """What runs and how. The history is left out: it names what the builder had at hand."""
    settings = {name: given["config"][name] for name in _SETTINGS if given["config"].get(name)}
    return {
        "created": created,
        "architecture": given["architecture"],
        "os": given["os"],
        "config": settings,
        "rootfs": {"type": "layers", "diff_ids": contents},
    }


class _Hashing:
    """Passes what is written on to a file, and knows the digest of all of it."""

    def __init__(self, output: gzip.GzipFile) -> None:
        self._output = output
        self.digest = hashlib.sha256()

    def write(self, content: bytes) -> int:
        """Writes all of it."""
        self.digest.update(content)
        return self._output.write(content)

    def flush(self) -> None:
        """Nothing is kept back here."""


def _write_layer(
    archive: tarfile.TarFile, path: str, folder: Path, moment: int
) -> tuple[_Blob, str]:
    """Writes a layer whose files are no newer than the moment; returns the digest of its content
    besides, which is not that of the compressed blob.
    """
    given = archive.extractfile(path)
    assert given
    partial = folder / "layer"
    with partial.open("wb") as output, archives.compressed(output, _LEVEL) as packed:
        content = _Hashing(packed)
        output_of_tar = cast(IO[bytes], content)  # of which tarfile only writes
        with (
            tarfile.open(fileobj=given, mode="r|*") as source,
            tarfile.open(fileobj=output_of_tar, mode="w|", format=tarfile.PAX_FORMAT) as layer,
        ):
            for member in source:
                # A stream has no content for links.
                content_of = source.extractfile(member) if member.isreg() else None
                layer.addfile(_settled(member, moment), content_of)
    blob = _Blob(partial, archives.sha256(partial), _LAYER)
    return _placed(blob, folder), content.digest.hexdigest()


def _settled(member: tarfile.TarInfo, moment: int) -> tarfile.TarInfo:
    member.mtime = min(int(member.mtime), moment)
    member.uname = member.gname = ""
    # Capabilities and the like; times to the nanosecond are what the moment is to replace.
    member.pax_headers = {
        name: value
        for name, value in member.pax_headers.items()
        if name.startswith("SCHILY.xattr.")
    }
    return member


def _write_json(folder: Path, content: Any, media_type: str) -> _Blob:
    partial = folder / "json"
    partial.write_bytes(_json(content))
    return _placed(_Blob(partial, archives.sha256(partial), media_type), folder)


def _json(content: Any) -> bytes:
    return json.dumps(content, sort_keys=True, separators=(",", ":")).encode()


def _placed(blob: _Blob, folder: Path) -> _Blob:
    return _Blob(blob.path.replace(folder / blob.digest), blob.digest, blob.media_type)


def _path(blob: _Blob) -> str:
    return f"blobs/sha256/{blob.digest}"


def _write_archive(target: Path, blobs: list[_Blob], texts: dict[str, Any], moment: int) -> None:
    unique = {blob.digest: blob for blob in blobs}  # two layers may be the same
    with tarfile.open(target, "w", format=tarfile.USTAR_FORMAT) as archive:
        for digest in sorted(unique):
            member = tarfile.TarInfo(_path(unique[digest]))
            member.size = unique[digest].path.stat().st_size
            member.mtime = moment
            with unique[digest].path.open("rb") as content:
                archive.addfile(member, content)
        for name in sorted(texts):
            archives.add_bytes(archive, name, _json(texts[name]), moment)
