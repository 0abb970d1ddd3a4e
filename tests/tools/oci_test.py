"""Tests that an image becomes the same layout each time, which registries and Docker read."""

import gzip
import hashlib
import io
import json
import tarfile
import tempfile
import unittest
from pathlib import Path
from typing import Any

from dev import oci

_MOMENT = 1_700_000_000


def _tar(members: list[tuple[tarfile.TarInfo, bytes]]) -> bytes:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for member, content in members:
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    return packed.getvalue()


def _member(name: str, kind: bytes = tarfile.REGTYPE, **given: Any) -> tarfile.TarInfo:
    member = tarfile.TarInfo(name)
    member.type = kind
    for key, value in given.items():
        setattr(member, key, value)
    return member


def _saved(folder: Path, built: float, container: str) -> Path:
    """What `docker save` writes of an image that was built at a moment in a container."""
    layer = _tar(
        [
            (_member("usr", tarfile.DIRTYPE, mode=0o755, mtime=built), b""),
            (_member("usr/old", mode=0o644, mtime=1_600_000_000.5), b"old"),
            (_member("usr/new", mode=0o4755, uid=10001, mtime=built, uname="me"), b"new"),
            (_member("bin", tarfile.SYMTYPE, linkname="usr/new", mtime=built), b""),
            (_member("usr/also", tarfile.LNKTYPE, linkname="usr/new", mtime=built), b""),
        ]
    )
    settings = {"Entrypoint": ["/usr/new"], "Hostname": container, "Labels": {"a": "b"}}
    config = {
        "architecture": "amd64",
        "os": "linux",
        "config": settings,
        "container": container,
        "created": str(built),
        "history": [{"created": str(built)}],
    }
    listed = [{"Config": "c.json", "Layers": ["l/layer.tar"], "RepoTags": ["x:1"]}]
    path = folder / "saved.tar"
    files = {"c.json": config, "manifest.json": listed}
    members = [(_member(name), json.dumps(content).encode()) for name, content in files.items()]
    path.write_bytes(_tar([*members, (_member("l/layer.tar"), layer)]))
    return path


def _layout(built: float = 1_800_000_000, container: str = "one") -> tuple[str, dict[str, bytes]]:
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        target = folder / "layout.tar"
        saved = _saved(folder, built, container)
        digest = oci.write_layout(saved, target, "localhost/tempinbox/x", "1.2.0", _MOMENT)
        with tarfile.open(target) as opened:
            files = {}
            for member in opened:
                content = opened.extractfile(member)
                assert content
                files[member.name] = content.read()
        return digest, files


class Layouts(unittest.TestCase):
    def test_when_and_where_it_was_built_does_not_show(self) -> None:
        self.assertEqual(_layout(), _layout(1_900_000_000.25, "two"))

    def test_every_blob_has_the_name_of_its_content(self) -> None:
        _, files = _layout()
        blobs = {name.removeprefix("blobs/sha256/") for name in files if "/" in name}
        self.assertEqual(len(blobs), 3)
        for blob in blobs:
            content = files[f"blobs/sha256/{blob}"]
            self.assertEqual(hashlib.sha256(content).hexdigest(), blob)

    def test_the_manifest_leads_to_settings_and_layers(self) -> None:
        digest, files = _layout()
        (listed,) = json.loads(files["index.json"])["manifests"]
        self.assertEqual(listed["digest"], f"sha256:{digest}")
        manifest = json.loads(files[f"blobs/sha256/{digest}"])
        named = manifest["config"]["digest"].replace(":", "/")
        config = json.loads(files[f"blobs/{named}"])
        self.assertEqual(config["config"], {"Entrypoint": ["/usr/new"], "Labels": {"a": "b"}})
        layer = gzip.decompress(files["blobs/" + manifest["layers"][0]["digest"].replace(":", "/")])
        self.assertEqual(
            config["rootfs"]["diff_ids"], [f"sha256:{hashlib.sha256(layer).hexdigest()}"]
        )

    def test_files_keep_owner_mode_links_and_older_times(self) -> None:
        digest, files = _layout()
        manifest = json.loads(files[f"blobs/sha256/{digest}"])
        layer = files["blobs/" + manifest["layers"][0]["digest"].replace(":", "/")]
        with tarfile.open(fileobj=io.BytesIO(layer)) as opened:
            found = {it.name: it for it in opened.getmembers()}
        new = found["usr/new"]
        self.assertEqual((new.mode, new.uid, new.mtime), (0o4755, 10001, _MOMENT))
        self.assertEqual(found["usr/old"].mtime, 1_600_000_000)
        self.assertEqual((found["bin"].linkname, found["usr/also"].linkname), ("usr/new",) * 2)

    def test_docker_finds_its_name(self) -> None:
        _, files = _layout()
        (listed,) = json.loads(files["manifest.json"])
        self.assertEqual(listed["RepoTags"], ["localhost/tempinbox/x:1.2.0"])
        self.assertIn(listed["Config"], files)


if __name__ == "__main__":
    unittest.main()
