"""Debian packages: what is missing is installed, named with its reason."""

import os
import re
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

from dev import debian, paths
from dev.locks import in_turn
from dev.terminal import fail, heading, item, say, warn

LIST = Path(__file__).with_name("packages.txt")
# The oldest is Debian 12's, and 17 Debian 13's; others are given to `./dev test --postgres`.
TESTED_POSTGRESQL = (15, 18)
_CLUSTER_SETTINGS = Path("/etc/postgresql-common/createcluster.conf")
_LOCK_SECONDS = 600


@dataclass(frozen=True)
class Package:
    """One line of packages.txt, as a release reads it."""

    name: str
    group: str
    reason: str
    unless_command: str | None


def read_list(text: str, release: str) -> list[Package]:
    """The packages of a list by their names in a release; a line that cannot be read is a
    failure.
    """
    found = []
    group = ""
    for number, written in enumerate(text.splitlines(), start=1):
        line = written.strip()
        if not line or line.startswith("#"):
            continue
        if header := re.fullmatch(r"\[(\w+)\]", line):
            group = header[1]
            continue
        entry = re.fullmatch(r"(\S+(?: \w+:\S+)*)(?: unless (\S+))? # (.+)", line)
        name = _name_in(release, entry[1]) if entry else None
        if not entry or not name or not group:
            fail(
                f"{LIST}:{number}: expected `package [unless COMMAND] # why` below a [group], the "
                f"package perhaps as {' '.join(f'{each}:NAME' for each in debian.RELEASES)}: {line}"
            )
        found.append(Package(name, group, entry[3], entry[2]))
    return found


def _name_in(release: str, written: str) -> str | None:
    """The name of `package`, or of `bookworm:package-1 trixie:package-2`, which names each release
    once.
    """
    if ":" not in written:
        return written
    names = dict(part.split(":", 1) for part in written.split(" ") if ":" in part)
    return names.get(release) if tuple(names) == debian.RELEASES else None


def of_this_release() -> list[Package]:
    """The whole list, as this machine's release reads it."""
    return read_list(LIST.read_text(encoding="utf-8"), debian.release())


def postgresql() -> str:
    """The major version of PostgreSQL that this release has."""
    names = (package.name for package in of_this_release())
    return next(name.removeprefix("postgresql-") for name in names if _is_postgresql(name))


def _is_postgresql(name: str) -> bool:
    return re.fullmatch(r"postgresql-\d+", name) is not None


def _installed(names: list[str]) -> set[str]:
    answer = subprocess.run(
        ["dpkg-query", "-W", "-f=${Package} ${db:Status-Status}\n", *names],
        capture_output=True,
        text=True,
    )
    rows = (line.split() for line in answer.stdout.splitlines())
    return {row[0] for row in rows if row[-1] == "installed"}


def missing(groups: list[str]) -> list[Package]:
    """Returns the packages of these groups that are not installed."""
    packages: dict[str, Package] = {}
    for package in of_this_release():
        if package.group in groups:
            packages.setdefault(package.name, package)
    there = _installed(list(packages))
    return [
        package
        for package in packages.values()
        if package.name not in there
        and not (package.unless_command and shutil.which(package.unless_command))
    ]


def ensure(*groups: str) -> None:
    """Installs what is missing of the groups, and says what and why."""
    if not shutil.which("apt-get"):
        warn(
            f"no apt-get here: the packages of {LIST.name} ({', '.join(groups)}) must be there "
            "already"
        )
        return
    lacking = missing(list(groups))
    if not lacking:
        return
    heading(f"Installing {len(lacking)} missing Debian packages")
    for package in lacking:
        item(package.name, package.reason)
    names = [package.name for package in lacking]
    if any(_is_postgresql(name) for name in names):
        _keep_postgresql_from_starting()
    if "postfix" in names:
        _keep_postfix_from_starting()
    if not _has_package_lists():
        _apt_get("update")
    if not _install(names):
        _apt_get("update")  # lists that are too old name versions that are gone
        if not _install(names):
            fail("apt-get could not install: " + " ".join(names))


def unpacked(name: str) -> Path:
    """The files of a package, in the cache: for one that would drive out another if it was
    installed. What it needs must be in the list.
    """
    top = paths.cache("debian")
    kept = top / f"{name}-{debian.release()}"
    with in_turn(top / f"{name}.lock"):
        if not kept.is_dir():
            say(f"  bringing the Debian package {name} into {kept} ...")
            with tempfile.TemporaryDirectory(dir=top) as work:
                _unpack(name, Path(work)).rename(kept)
    return kept


def _unpack(name: str, work: Path) -> Path:
    if not _has_package_lists():
        _apt_get("update")
    download = ["apt-get", "-q", "download", name]
    if subprocess.run(download, cwd=work, capture_output=True).returncode != 0:
        _apt_get("update")  # lists that are too old name versions that are gone
        subprocess.run(download, cwd=work, check=True)
    (archive,) = work.glob("*.deb")
    files = work / "files"
    subprocess.run(["dpkg-deb", "--extract", str(archive), str(files)], check=True)
    for path in files.rglob("*"):
        if path.is_file() and not path.is_symlink():
            path.chmod(path.stat().st_mode & 0o777)  # nobody else's rights
    return files


def _install(names: list[str]) -> bool:
    keep = ["-o", "Dpkg::Options::=--force-confdef", "-o", "Dpkg::Options::=--force-confold"]
    return _apt_get("install", "-y", "--no-install-recommends", *keep, *names, may_fail=True)


def _has_package_lists() -> bool:
    return any(Path("/var/lib/apt/lists").glob("*_Packages*"))


def _as_root() -> list[str]:
    if os.geteuid() == 0:
        return []
    if not shutil.which("sudo"):
        fail("installing packages needs root or sudo")
    return ["sudo"]


def _apt_get(*arguments: str, may_fail: bool = False) -> bool:
    # A machine that looks for updates by itself holds apt's lock now and then.
    waiting = ["-o", f"DPkg::Lock::Timeout={_LOCK_SECONDS}"]
    command = [*_as_root(), "env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "-q", *waiting]
    command += arguments
    done = subprocess.run(command, stdin=subprocess.DEVNULL)
    if done.returncode != 0 and not may_fail:
        fail("failed: " + " ".join(command))
    return done.returncode == 0


def _keep_postgresql_from_starting() -> None:
    """Debian's package makes and starts a cluster of its own on port 5432; ./dev runs a private one
    and wants none there.
    """
    if _CLUSTER_SETTINGS.exists():
        return
    item(
        str(_CLUSTER_SETTINGS),
        "create_main_cluster = false, so that the package starts no server of its own",
    )
    script = (
        f"mkdir -p {_CLUSTER_SETTINGS.parent} && echo 'create_main_cluster = false' > "
        f"{_CLUSTER_SETTINGS}"
    )
    subprocess.run([*_as_root(), "sh", "-c", script], check=True)


def _keep_postfix_from_starting() -> None:
    """Installs Postfix without a configuration, so that Debian's package starts no mail server;
    benches run a private one.
    """
    item(
        "postfix",
        "installed without a configuration, so that the package starts no server of its own",
    )
    answer = "postfix postfix/main_mailer_type select No configuration\n"
    subprocess.run([*_as_root(), "debconf-set-selections"], input=answer, text=True, check=True)
