"""`./dev root`: a bare root of a Debian release, to run commands in as a newcomer would.

It has nothing of this machine but the compiler cache, a clone of the checkout, and what fetching
packages takes here: the mirror, certificates, and apt's settings.
"""

import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

from dev import debian, locks, packages, paths, preflight
from dev.terminal import Missing, fail, heading, item

_APT = Path("/etc/apt")
_CERTIFICATES = Path("/usr/local/share/ca-certificates")
_BUNDLE = "/etc/ssl/certs/ca-certificates.crt"
# Programs that bring certificates of their own, unless they are told of another file.
_BUNDLE_VARIABLES = (
    "CURL_CA_BUNDLE",
    "GIT_SSL_CAINFO",
    "NODE_EXTRA_CA_CERTS",
    "PIP_CERT",
    "REQUESTS_CA_BUNDLE",
    "SSL_CERT_FILE",
)
_PROXY_VARIABLES = ("http_proxy", "https_proxy", "no_proxy")
# Below the root's top.
_SOURCE = "srv/tempinbox"
_COMPILER_CACHE = "root/.cache/ccache"
_GIB = 1024**3
_ROOT_BYTES = 6 * _GIB  # with all packages, a build and a suite
# The mounts belong to a namespace of this command and what it starts, and end with the last of
# them. The root is the namespace's own, not a folder of it as with chroot alone: programs there
# make namespaces of mounts, and enter those of containers. Processes are the machine's: what
# `./dev up -d` leaves running the next command finds.
_ENTER = """
mount --bind "$1" "$1"
mount -t proc proc "$1/proc"
mount --rbind /sys "$1/sys"
mount --rbind /dev "$1/dev"
mount --bind "$2" "$1/$3"
cd "$1"
shift 3
pivot_root . mnt
exec chroot . sh -ec 'umount -l /mnt; exec "$@"' sh "$@"
"""


@dataclass(frozen=True)
class Source:
    """A suite of a Debian mirror, as apt's sources name it."""

    uri: str
    suite: str
    component: str


def run(release: str, command: list[str], *, fresh: bool) -> NoReturn:
    """Makes the root unless it is there, and becomes the command in it: a shell when none is
    named.
    """
    if os.geteuid() != 0:
        raise Missing("a root is made and entered by root: run `./dev root` with sudo")
    packages.ensure("root")
    for program in ("chroot", "debootstrap", "git", "mount", "pivot_root", "unshare"):
        if not shutil.which(program):
            raise Missing(f"{program} is missing: install it")
    root = paths.cache("roots") / release
    with locks.in_turn(root.with_suffix(".lock")):
        if fresh and root.exists():
            _remove(root)
        if not root.exists():
            _make(release, root)
        _copy_settings(root)
        _bring_source(root)
    cache = _compiler_cache()
    sys.stdout.flush()
    entering = enter_command(root, cache, environment(os.environ, has_own_certificates()), command)
    os.execvp(entering[0], entering)  # noqa: S606 - its exit code is that of ./dev


# Making it.


def read_sources(targets: str) -> list[Source]:
    """Reads what `apt-get indextargets` says of the release's own suites; those of others, such as
    a vendor's, are left out.
    """
    suites = {f"{name}{part}" for name in debian.RELEASES for part in ("", "-updates", "-security")}
    found = []
    for line in targets.splitlines():
        uri, suite, component = line.split(" ")
        if suite in suites and component == "main":
            found.append(Source(uri.rstrip("/"), suite, component))
    return found


def of_release(sources: list[Source], release: str) -> list[Source]:
    """The same suites of a release, those of its mirror first."""
    named = [
        Source(it.uri, "-".join([release, *it.suite.split("-")[1:]]), it.component)
        for it in sources
    ]
    return sorted(dict.fromkeys(named), key=lambda it: it.suite != release)


def sources_list(sources: list[Source]) -> str:
    """The text of a sources.list."""
    return "".join(f"deb {it.uri} {it.suite} {it.component}\n" for it in sources)


def find_sources(release: str) -> list[Source]:
    """The suites of a release on the mirrors that this machine's packages come from."""
    listing = ["apt-get", "indextargets", "--format", "$(REPO_URI) $(RELEASE) $(COMPONENT)"]
    targets = subprocess.run(
        [*listing, "Created-By: Packages"], capture_output=True, text=True, check=True
    ).stdout
    found = of_release(read_sources(targets), release)
    if not found or found[0].suite != release:
        fail(
            "apt's sources on this machine name no mirror of Debian by a release "
            f"({', '.join(debian.RELEASES)}): there is nothing to make {release} from"
        )
    return found


def _make(release: str, root: Path) -> None:
    sources = find_sources(release)
    preflight.check_room(root.parent, _ROOT_BYTES)
    heading(f"Making a bare root of {release} (a minute or two)")
    item("from", sources[0].uri)
    made = root.with_suffix(".part")
    if made.exists():
        shutil.rmtree(made)
    bootstrap(release, sources, made, with_certificates=has_own_certificates())
    # As in a container: packages start no server when they are installed.
    policy = made / "usr/sbin/policy-rc.d"
    policy.write_text("#!/bin/sh\nexit 101\n", encoding="ascii")
    policy.chmod(0o755)
    (made / _COMPILER_CACHE).mkdir(parents=True)
    made.rename(root)
    item("root", str(root))


def bootstrap(release: str, sources: list[Source], made: Path, *, with_certificates: bool) -> None:
    """Makes a minimal root filesystem of these suites in a folder that is not there yet."""
    command = ["debootstrap", "--variant=minbase"]
    if with_certificates:
        command.append("--include=ca-certificates")
    done = subprocess.run(
        [*command, release, str(made), sources[0].uri], capture_output=True, text=True
    )
    if done.returncode != 0:
        fail(f"debootstrap failed:\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    (made / "etc/apt/sources.list").write_text(sources_list(sources), encoding="utf-8")


def _remove(root: Path) -> None:
    if running := processes_in(root):
        fail(
            f"{len(running)} processes run in {root}, such as {running[0]}: end them first "
            f"(./dev root {root.name} ./dev down)"
        )
    shutil.rmtree(root)


def processes_in(root: Path) -> list[int]:
    """The processes whose root it is."""
    found = []
    for process in Path("/proc").iterdir():
        if process.name.isdigit():
            try:
                if (process / "root").samefile(root):
                    found.append(int(process.name))
            except OSError:
                continue  # it is gone
    return found


# What fetching packages takes.


def concerns_fetching(text: str) -> bool:
    """Whether a file of apt's settings says how packages are fetched: proxies, keys, dates."""
    return re.search(r"^\s*Acquire\b", text, re.MULTILINE | re.IGNORECASE) is not None


def has_own_certificates() -> bool:
    """Whether this machine trusts certificates that Debian's package does not have."""
    return any(_CERTIFICATES.rglob("*.crt"))


def _copy_settings(root: Path) -> None:
    """Copies them each time: they may have changed."""
    shutil.copyfile("/etc/resolv.conf", root / "etc/resolv.conf")
    for settings in [_APT / "apt.conf", *sorted((_APT / "apt.conf.d").glob("*"))]:
        if settings.is_file() and concerns_fetching(settings.read_text(errors="replace")):
            _copy_private(settings, root)
    for keys in [_APT / "auth.conf", *sorted((_APT / "auth.conf.d").glob("*"))]:
        if keys.is_file():
            _copy_private(keys, root)
    if not has_own_certificates():
        return
    copies = root / _CERTIFICATES.relative_to("/")
    before = _contents(copies)
    shutil.copytree(_CERTIFICATES, copies, dirs_exist_ok=True)
    if _contents(copies) != before:
        update = ["chroot", str(root), "update-ca-certificates"]
        subprocess.run(update, check=True, capture_output=True)


def _copy_private(file: Path, root: Path) -> None:
    copy = root / file.relative_to("/")
    copy.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy2(file, copy)
    owner = file.stat()
    os.chown(copy, owner.st_uid, owner.st_gid)


def _contents(folder: Path) -> dict[Path, bytes]:
    return {file: file.read_bytes() for file in folder.rglob("*") if file.is_file()}


# What it has of this machine besides.


def _bring_source(root: Path) -> None:
    """A clone of what is committed, at the checkout's commit."""
    clone = root / _SOURCE
    if not clone.exists():
        # Without hard links into the checkout.
        _git("clone", "-q", "--no-hardlinks", str(paths.ROOT), str(clone))
    if _head(clone) != _head(paths.ROOT):
        _git("-C", str(clone), "fetch", "-q", str(paths.ROOT), "HEAD")
        _git("-C", str(clone), "checkout", "-q", "--detach", "FETCH_HEAD")


def _head(checkout: Path) -> str:
    return _git("-C", str(checkout), "rev-parse", "HEAD")


def _git(*arguments: str) -> str:
    done = subprocess.run(["git", *arguments], capture_output=True, text=True)
    if done.returncode != 0:
        fail(f"git {shlex.join(arguments)}: {done.stderr.strip()}")
    return done.stdout.strip()


def _compiler_cache() -> Path:
    chosen = os.environ.get("CCACHE_DIR") or str(Path.home() / ".cache" / "ccache")
    folder = Path(chosen)
    folder.mkdir(parents=True, exist_ok=True)
    return folder


# Entering it.


def environment(of_caller: Mapping[str, str], own_certificates: bool) -> dict[str, str]:
    """What a newcomer's shell has, with the caller's terminal and proxies."""
    variables = {
        "HOME": "/root",
        "LANG": "C.UTF-8",
        "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
        "TERM": of_caller.get("TERM", "dumb"),
        "CCACHE_DIR": f"/{_COMPILER_CACHE}",
    }
    for name in _PROXY_VARIABLES:
        for spelled in (name, name.upper()):
            if spelled in of_caller:
                variables[spelled] = of_caller[spelled]
    if own_certificates:
        variables |= dict.fromkeys(_BUNDLE_VARIABLES, _BUNDLE)
    return variables


def enter_command(
    root: Path, cache: Path, variables: Mapping[str, str], command: list[str]
) -> list[str]:
    """The command that runs another in the root, in the checkout's clone."""
    settings = [f"{name}={value}" for name, value in variables.items()]
    return [
        *("unshare", "--mount", "--propagation", "private"),
        *("sh", "-ec", _ENTER, "sh", str(root), str(cache), _COMPILER_CACHE),
        *("env", "-i", f"--chdir=/{_SOURCE}", *settings),
        *(command or ["bash"]),
    ]
