"""Debian packages: what is missing is installed, named with its reason."""

import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from dev.terminal import fail, heading, item, warn

LIST = Path(__file__).with_name("packages.txt")
_CLUSTER_SETTINGS = Path("/etc/postgresql-common/createcluster.conf")


@dataclass(frozen=True)
class Package:
    """One line of packages.txt."""

    name: str
    group: str
    reason: str
    unless_command: str | None


def read_list(text: str) -> list[Package]:
    """The packages of a list; a line that cannot be read is a failure."""
    found = []
    group = ""
    for number, written in enumerate(text.splitlines(), start=1):
        line = written.strip()
        if not line or line.startswith("#"):
            continue
        if header := re.fullmatch(r"\[(\w+)\]", line):
            group = header[1]
            continue
        entry = re.fullmatch(r"(\S+)(?: unless (\S+))? # (.+)", line)
        if not entry or not group:
            fail(
                f"{LIST}:{number}: expected `package [unless COMMAND] # why` below a [group]: "
                f"{line}"
            )
        found.append(Package(entry[1], group, entry[3], entry[2]))
    return found


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
    for package in read_list(LIST.read_text(encoding="utf-8")):
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
    if "postgresql-15" in names:
        _keep_postgresql_from_starting()
    if "postfix" in names:
        _keep_postfix_from_starting()
    if not _has_package_lists():
        _apt_get("update")
    if not _install(names):
        _apt_get("update")  # lists that are too old name versions that are gone
        if not _install(names):
            fail("apt-get could not install: " + " ".join(names))


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
    command = [*_as_root(), "env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "-q", *arguments]
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
