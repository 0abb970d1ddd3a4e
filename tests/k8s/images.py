"""Images without a registry: packed from one static program, and loaded into the nodes as tars."""

import hashlib
import io
import json
import tarfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from dev.terminal import fail

from k8s import layout, namespaces

_USER = "10001:10001"


def pack(archive: Path, image: str, program: Path) -> None:
    """A docker archive with the program as entry point; the same bytes for the same program."""
    layer = _layer(program)
    settings = {"Entrypoint": ["/" + program.name], "User": _USER, "Env": ["PATH=/"]}
    described = {
        "architecture": "amd64",
        "os": "linux",
        "config": settings,
        "rootfs": {
            "type": "layers",
            "diff_ids": ["sha256:" + hashlib.sha256(layer).hexdigest()],
        },
    }
    config = json.dumps(described).encode()
    name = hashlib.sha256(config).hexdigest() + ".json"
    manifest = [{"Config": name, "RepoTags": [image], "Layers": ["layer.tar"]}]
    partial = archive.with_suffix(".partial")
    with tarfile.open(partial, "w") as tar:
        _add(tar, "layer.tar", layer)
        _add(tar, name, config)
        _add(tar, "manifest.json", json.dumps(manifest).encode())
    partial.rename(archive)


def _layer(program: Path) -> bytes:
    written = io.BytesIO()
    with tarfile.open(fileobj=written, mode="w") as tar:
        _add(tar, "etc", None, 0o755)
        _add(tar, "tmp", None, 0o1777)
        _add(tar, "etc/passwd", b"root:x:0:0::/:/none\napp:x:10001:10001::/:/none\n")
        _add(tar, program.name, program.read_bytes(), 0o755)
    return written.getvalue()


def _add(tar: tarfile.TarFile, name: str, content: bytes | None, mode: int = 0o644) -> None:
    """A file, or a folder where there is no content."""
    entry = tarfile.TarInfo(name)
    entry.mode = mode
    entry.type = tarfile.DIRTYPE if content is None else tarfile.REGTYPE
    entry.size = len(content or b"")
    tar.addfile(entry, None if content is None else io.BytesIO(content))


def layered(archive: Path, target: Path, image: str, files: dict[str, bytes]) -> None:
    """An image with one layer more, of these files (programs, if below usr/bin)."""
    written = io.BytesIO()
    with tarfile.open(fileobj=written, mode="w") as tar:
        for name, content in files.items():
            _add(tar, name, content, 0o755 if name.startswith("usr/bin/") else 0o644)
    layer = written.getvalue()
    partial = target.with_suffix(".partial")
    with tarfile.open(archive) as old, tarfile.open(partial, "w") as new:
        (entry,) = json.loads(_read(old, "manifest.json"))
        config = json.loads(_read(old, entry["Config"]))
        config["rootfs"]["diff_ids"].append("sha256:" + hashlib.sha256(layer).hexdigest())
        config.pop("history", None)  # it would have to name each layer
        described = json.dumps(config).encode()
        name = hashlib.sha256(described).hexdigest() + ".json"
        for path in dict.fromkeys(entry["Layers"]):
            _add(new, path, _read(old, path))
        _add(new, "added/layer.tar", layer)
        _add(new, name, described)
        layers = [*entry["Layers"], "added/layer.tar"]
        manifest = [{"Config": name, "RepoTags": [image], "Layers": layers}]
        _add(new, "manifest.json", json.dumps(manifest).encode())
    partial.rename(target)


def _read(tar: tarfile.TarFile, name: str) -> bytes:
    """A member's content; links, which archives use for equal layers, are followed."""
    found = tar.extractfile(name)
    if found is None:
        fail(f"{tar.name!s} is no docker archive: {name} is no file")
    return found.read()


def named_in(archive: Path) -> list[str]:
    """The images of a docker archive, by name."""
    with tarfile.open(archive) as tar:
        entries = json.loads(_read(tar, "manifest.json"))
        return [name for entry in entries for name in entry["RepoTags"] or []]


def load(archives: list[Path]) -> None:
    """Loads archives into every node, side by side."""

    def load_into(node: str) -> None:
        for archive in archives:
            namespaces.check(["ctr", "-n", "k8s.io", "images", "import", str(archive)], node)

    with ThreadPoolExecutor(layout.NODES) as pool:
        list(pool.map(load_into, layout.node_names()))


def loaded(node: str) -> set[str]:
    """The names of the images that a node has."""
    return set(namespaces.check(["ctr", "-n", "k8s.io", "images", "ls", "-q"], node).split())


def tag(image: str, name: str) -> None:
    """Another name for an image, in every node."""
    for node in layout.node_names():
        command = ["ctr", "-n", "k8s.io", "images", "tag", "--force", image, name]
        namespaces.check(command, node)
