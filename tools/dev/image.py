"""`./dev image`: the container images of deploy/docker/, their sizes, and what is in each."""

import contextlib
import datetime
import json
import os
import shutil
import subprocess
import tarfile
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from dev import (
    build,
    dashboard,
    debian,
    downloads,
    kafka,
    packages,
    paths,
    root,
    services,
    spdx,
    version,
)
from dev.docker import Docker, engine
from dev.terminal import Missing, fail, heading, item, say

SERVICE_IMAGES = [*services.SERVICES, "tools"]
# Images for machines that cannot pull the public ones.
DATA_IMAGES = ["postgres", "kafka"]
IMAGES = [*SERVICE_IMAGES, "all-in-one", *DATA_IMAGES]
PUBLIC_BASE = f"debian:{debian.IMAGE_RELEASE}-slim"
# Made here where the public base cannot be pulled.
OWN_BASE = f"localhost/tempinbox/debian:{debian.IMAGE_RELEASE}"
FOLDER = paths.ROOT / "build" / "images"
_JAR_TIME = 315_532_800
_DOCKERFILE = paths.ROOT / "deploy" / "docker" / "Dockerfile"


@dataclass(frozen=True)
class Source:
    """The source of the programs: a folder, this machine's build, or a build inside."""

    folder: Path | None = None
    from_source: bool = False


def tag(name: str) -> str:
    """The name of an image as it is built here."""
    return f"localhost/tempinbox/{name}:{version.current()}"


def chosen(names: list[str]) -> list[str]:
    """The images with these names, or those that everybody needs, in the order of the Dockerfile's
    stages: the classic builder makes those above a target, too.
    """
    for name in names:
        if name not in IMAGES:
            fail(f"no image is called {name}; there are: {', '.join(IMAGES)}")
    selected = names or [name for name in IMAGES if name not in DATA_IMAGES]
    return [name for name in IMAGES if name in selected]


def build_all(
    names: list[str], source: Source, base: str | None, save: Path | None, *, fresh: bool
) -> None:
    """Builds the images, lists sizes and packages, and saves them where a folder is given."""
    with engine(FOLDER / "docker", with_networks=False) as docker, _context(source) as context:
        made_from = _base(docker, base)
        heading(f"Building {len(names)} images on {made_from}")
        stage = "roots" if set(names) <= set(SERVICE_IMAGES) else "data-packages"
        _build_stages(docker, stage, context, made_from, fresh)
        for name in names:
            _build(docker, name, context, made_from)
        say()
        _describe(docker, names)
        if save:
            _save(docker, names, save.resolve())


# The base.


def _base(docker: Docker, base: str | None) -> str:
    """The image everything is made from: the chosen one, the public one, or one of our own."""
    if base not in (None, "debootstrap"):
        assert base
        return base
    if base is None:
        if docker.has_image(PUBLIC_BASE) or docker.attempt("pull", PUBLIC_BASE).returncode == 0:
            return PUBLIC_BASE
        say(f"  {PUBLIC_BASE} cannot be pulled: the base is made by debootstrap")
    if not docker.has_image(OWN_BASE):
        _make_base(docker)
    return OWN_BASE


def _make_base(docker: Docker) -> None:
    if os.geteuid() != 0:
        raise Missing(
            f"{PUBLIC_BASE} cannot be pulled, and debootstrap needs root: name another base by "
            "--base IMAGE, or run ./dev image as root."
        )
    for program in ("apt-get", "debootstrap"):
        if not shutil.which(program):
            raise Missing(
                f"{PUBLIC_BASE} cannot be pulled, and {program} is missing: install it, or name "
                "another base by --base IMAGE."
            )
    say("  making the base of Debian packages by debootstrap (a minute or two) ...")
    with tempfile.TemporaryDirectory(dir=FOLDER) as work:
        made = Path(work) / "root"
        release = debian.IMAGE_RELEASE
        root.bootstrap(release, root.find_sources(release), made, with_certificates=True)
        packed = Path(work) / "root.tar"
        subprocess.run(
            [
                "tar",
                "-C",
                str(made),
                "--exclude=./var/cache/apt/archives/*.deb",
                "-cf",
                packed,
                ".",
            ],
            check=True,
        )
        docker.run("import", str(packed), OWN_BASE)


# The context: either the built programs or the source.


@contextlib.contextmanager
def _context(source: Source) -> Iterator[Path]:
    FOLDER.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=FOLDER, prefix="context.") as made:
        context = Path(made)
        if source.from_source:
            _export_source(context)
        else:
            _pack(context, source.folder)
        (context / "downloads").mkdir()
        downloads.write(context / "downloads")
        kafka.ensure_jars()
        (context / "kafka").mkdir()
        for jar in kafka.class_path().split(":"):
            # Java leaves class data unused whose jars have another time than when it was written,
            # and a release's layouts make no file newer than its commit.
            copied = Path(shutil.copy(jar, context / "kafka"))
            os.utime(copied, (_JAR_TIME, _JAR_TIME))
        yield context


def _export_source(context: Path) -> None:
    """Exports what is committed: the build sees neither caches nor half of a change."""
    archive = context / "source.tar"
    command = ["git", "-C", str(paths.ROOT), "archive", "--output", str(archive), "HEAD"]
    subprocess.run(command, check=True)
    subprocess.run(["tar", "-x", "-C", str(context), "-f", str(archive)], check=True)
    archive.unlink()


def _pack(context: Path, programs: Path | None) -> None:
    built = built_programs(programs)
    (context / "bin").mkdir()
    for name in services.PROGRAMS:
        if not (built / name).exists():
            fail(f"{built / name} is not built: ./dev build")
        shutil.copy2(built / name, context / "bin")
    shutil.copytree(dashboard.BUILT, context / "dashboard")
    for folder in ("docker", "kafka"):
        shutil.copytree(paths.ROOT / "deploy" / folder, context / "deploy" / folder)
    shutil.copy2(paths.ROOT / "VERSION", context)


def built_programs(chosen: Path | None) -> Path:
    """Builds the dashboard's page, and the programs unless a folder of them is given; returns their
    folder.
    """
    dashboard.bring_what_building_needs()
    if chosen is None:
        check_release()
        packages.ensure(*build.package_groups(build.RELEASE))
        build.build(build.RELEASE, services.PROGRAMS)
    else:
        check_version(chosen)
    dashboard.build()
    return chosen or paths.build_folder(build.RELEASE) / "bin"


def check_version(folder: Path) -> None:
    """Refuses to pack programs that were built of another version.

    Their text is read, since they may need another Debian release to run.
    """
    expected = version.current()
    for name in services.PROGRAMS:
        program = folder / name
        if program.exists() and f"\0{expected}\0".encode("ascii") not in program.read_bytes():
            fail(f"{program} is not of version {expected}: build it of this commit")


def check_release() -> None:
    """Refuses to pack this machine's programs if they load other libraries than a release has."""
    if debian.release() != debian.IMAGE_RELEASE:
        raise Missing(
            f"What is released is of Debian's {debian.IMAGE_RELEASE}, and this machine is of "
            f"{debian.release()}: build the programs in `./dev root {debian.IMAGE_RELEASE}` and "
            "name their folder by --bin, or let ./dev image build them inside by --from-source."
        )


# Building.


def _build_stages(docker: Docker, last: str, context: Path, base: str, fresh: bool) -> None:
    """Builds the stages that need a network, up to this one; the images are then made of them."""
    started = time.monotonic()
    command = [*_command(last, base), "--tag", f"localhost/tempinbox/build-{last}"]
    if docker.is_private:
        command.append("--network=host")
    if fresh:
        command.append("--no-cache")
    docker.run(*command, str(context))
    item("packages", f"in {time.monotonic() - started:.0f} s")


def _build(docker: Docker, name: str, context: Path, base: str) -> None:
    """Builds without a network: no step meets a port of this machine."""
    started = time.monotonic()
    command = [*_command(name, base), "--tag", tag(name), "--network=none"]
    command += ["--label", f"org.opencontainers.image.version={version.current()}"]
    command += ["--label", f"org.opencontainers.image.title=tempinbox {name}"]
    command += ["--label", f"org.opencontainers.image.revision={_revision()}"]
    docker.run(*command, str(context))
    item(name, f"{tag(name)} in {time.monotonic() - started:.0f} s")


def _command(target: str, base: str) -> list[str]:
    return ["build", "--target", target, "--file", str(_DOCKERFILE), "--build-arg", f"BASE={base}"]


def _revision() -> str:
    git = subprocess.run(
        ["git", "-C", str(paths.ROOT), "rev-parse", "HEAD"], capture_output=True, text=True
    )
    return git.stdout.strip() or "unknown"


# The images that were built.


@contextlib.contextmanager
def filesystem(docker: Docker, name: str) -> Iterator[tarfile.TarFile]:
    """The whole root filesystem of an image, to be read from its start."""
    container = docker.run("create", tag(name)).strip()
    try:
        with tempfile.TemporaryDirectory(dir=FOLDER) as work:
            packed = Path(work) / "root.tar"
            docker.run("export", "--output", str(packed), container)
            with tarfile.open(packed) as opened:
                yield opened
    finally:
        docker.run("rm", container)


def size(docker: Docker, name: str) -> int:
    """Bytes of all layers, unpacked."""
    return int(docker.run("image", "inspect", "--format", "{{.Size}}", tag(name)))


def _describe(docker: Docker, names: list[str]) -> None:
    """The table of sizes, and an SPDX document for each image."""
    folder = FOLDER / "spdx"
    folder.mkdir(exist_ok=True)
    say(f"{'image':<20} {'MB':>6} {'packages':>9}  SPDX 2.3")
    for name in names:
        with filesystem(docker, name) as opened:
            found = spdx.packages(opened)
        digest = docker.run("image", "inspect", "--format", "{{.Id}}", tag(name)).strip()
        now = datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        path = folder / f"{name}.spdx.json"
        listed = spdx.document(name, version.current(), digest, now, found)
        path.write_text(json.dumps(listed, indent=1) + "\n", encoding="utf-8")
        shown = path.relative_to(paths.ROOT)
        say(f"{name:<20} {size(docker, name) / 1e6:>6.1f} {len(found):>9}  {shown}")


def _save(docker: Docker, names: list[str], folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    heading(f"Saving into {folder}")
    for name in names:
        packed = folder / f"{name}.tar"
        partial = packed.with_suffix(".partial")
        docker.run("save", "--output", str(partial), tag(name))
        partial.rename(packed)
        item(packed.name, f"{packed.stat().st_size / 1e6:.1f} MB")
