"""`./dev k8s run`: brings cluster and images up, rehearses inside, and looks at what is left.

Runs with the packages of the end-to-end tests: `python3 -m k8s.rehearsal ARGUMENTS`.
"""

import argparse
import json
import shutil
import subprocess
import sys
import time
from pathlib import Path

from dev import kafka, packages, paths
from dev.running import stop_on_signals
from dev.terminal import Failure, fail, item, paint, say

from k8s import cluster, images, installation, layout, namespaces, sabotage, verbs
from k8s.steps import NAMES

_SERVICES = installation.SERVICES
_DATA = ["postgres", "kafka"]
_OLDER = "older"  # the tag of an older release's images


def _parser(steps: list[str]) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="./dev k8s run",
        description="Installs, upgrades, scales, breaks and removes the chart on a real "
        "Kubernetes under load. Ends with a table; exit code 0: all as promised, 1: not, 3: this "
        "machine lacks something.",
    )
    parser.add_argument(
        "--only",
        metavar="STEP,...",
        help=f"these steps alone, in their order; the release is installed first where there is "
        f"none. Steps: {', '.join(steps)}",
    )
    parser.add_argument("--skip", metavar="STEP,...", help="all but these")
    parser.add_argument(
        "--images",
        metavar="DIR",
        type=Path,
        help="archives of the images; without it ./dev image makes them",
    )
    parser.add_argument(
        "--older",
        metavar="DIR",
        type=Path,
        help="release programs of an older commit, such as build/upgrade/COMMIT/build/release/bin,"
        " to upgrade from; without it the upgrade is from the same programs in other images",
    )
    parser.add_argument(
        "--sabotage",
        choices=sorted(sabotage.ALL),
        help="a fault in the chart or its values that the rehearsal must find",
    )
    parser.add_argument("--no-load", action="store_true", help="without mails and calls")
    parser.add_argument("--keep", action="store_true", help="leave release and cluster running")
    return parser


def run(arguments: list[str]) -> int:
    """The verb; the exit code says how it went."""
    parser = _parser(NAMES)
    chosen = parser.parse_args(arguments)
    for named in (chosen.only, chosen.skip):
        unknown = set((named or "").split(",")) - set(NAMES) - {""}
        if unknown:
            parser.error(f"no step is called {', '.join(sorted(unknown))}")
    archives = _archives(chosen.images, _names(chosen))
    if not archives:
        return verbs.LACKING
    stop_on_signals()
    started = time.monotonic()
    packages.ensure("k8s", "run")
    kafka.ensure_jars(kafka.VERSION)  # here, since no registry answers inside the cluster
    cluster.up()
    _load_images(archives, chosen.older)
    code = _inside(chosen)
    if not chosen.keep:
        cluster.down()
        left = cluster.left_behind()
        word = paint("FAILED", "red") if left else paint("ok", "green")
        item("nothing left", f"{word}  {'; '.join(left) or 'no process, group, mount, interface'}")
        code = code or bool(left)
    say(
        f"\n{'all as promised' if code == 0 else 'not as promised'} after "
        f"{(time.monotonic() - started) / 60:.1f} min"
    )
    return int(code)


def _names(chosen: argparse.Namespace) -> list[str]:
    """The images that the chosen steps run; the trial alone has a database and a broker."""
    names = (chosen.only or ",".join(NAMES)).split(",")
    has_trial = "trial" in names and "trial" not in (chosen.skip or "").split(",")
    return [*_SERVICES, "tools", *(_DATA if has_trial else [])]


def _archives(folder: Path | None, expected: list[str]) -> list[Path]:
    """Returns the archives of these images; none if they cannot be had."""
    if folder is None:
        folder = paths.build_folder("k8s-images")
        folder.mkdir(parents=True, exist_ok=True)
        command = [str(paths.ROOT / "dev"), "image", "--save", str(folder), *expected]
        made = subprocess.run(command)
        if made.returncode != 0:
            say(paint("missing: ", "red") + "the images: ./dev image could not make them")
            return []
    found = {
        name: archive
        for archive in sorted(folder.glob("*.tar"))
        for image in images.named_in(archive)
        for name in expected
        if image.rpartition(":")[0].endswith(f"tempinbox/{name}")
    }
    lacking = [name for name in expected if name not in found]
    for name in lacking:
        say(paint("missing: ", "red") + f"an archive of tempinbox/{name} in {folder}")
    return [] if lacking else list(found.values())


def _load_images(archives: list[Path], older: Path | None) -> None:
    """Loads images into the nodes if they differ from what was loaded before; an older release's,
    too.
    """
    known = layout.STATE / "images.json"
    expected = {str(path): path.stat().st_mtime_ns for path in archives}
    expected["older"] = older.stat().st_mtime_ns if older else 0
    if known.exists() and json.loads(known.read_text(encoding="utf-8")) == expected:
        return
    started = time.monotonic()
    folder = layout.STATE / "images"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    tagged = []
    for archive in archives:
        (image,) = images.named_in(archive)[:1]
        programs = _programs_of(image)
        if not programs:
            continue
        replaced = {
            f"usr/bin/{program}": (older / program).read_bytes()
            for program in programs
            if older and (older / program).exists()
        }
        if older and not replaced:
            fail(f"{older} has none of {', '.join(programs)}")
        if older and image.endswith(f"tools:{installation.version()}"):
            topics = older.parents[2] / "deploy" / "kafka" / "topics.json"
            replaced["usr/share/tempinbox/kafka/topics.json"] = topics.read_bytes()
        # Without an older release the same programs in another image: pods are replaced all the
        # same.
        replaced = replaced or {"etc/older": b"the same programs\n"}
        name = image.rpartition(":")[0].rpartition("/")[2]
        target = folder / f"{name}.tar"
        images.layered(archive, target, f"localhost/tempinbox/{name}:{_OLDER}", replaced)
        tagged.append(target)
    images.load([*archives, *tagged])
    known.write_text(json.dumps(expected), encoding="utf-8")
    item("images", f"{len(archives)} of each release in {time.monotonic() - started:.0f} s")


def _unknown_to(older: Path) -> list[str]:
    """The settings that the chart makes and no service of the older release knows."""
    known: set[str] = set()
    for service in _SERVICES:
        command = [str(older / f"tempinbox-{service}"), "--print-settings"]
        printed = subprocess.run(command, capture_output=True, text=True)
        if printed.returncode != 0:
            fail(f"{service} of {older} does not print its settings: {printed.stderr[-500:]}")
        known |= {it["environment"] for it in json.loads(printed.stdout)["settings"]}
    return [name for name in installation.NEWER_SETTINGS if name not in known]


def _programs_of(image: str) -> list[str]:
    """The suite's programs in an image; none in those of the data."""
    name = image.rpartition(":")[0].rpartition("/")[2]
    if name in _DATA:
        return []
    return ["tempinboxctl", "tempinbox-migrate"] if name == "tools" else [f"tempinbox-{name}"]


def _inside(chosen: argparse.Namespace) -> int:
    options = {
        "only": chosen.only,
        "skip": chosen.skip,
        "sabotage": chosen.sabotage,
        "with_load": not chosen.no_load,
        "older": bool(chosen.older),
        "unknown": _unknown_to(chosen.older) if chosen.older else [],
        "keep": chosen.keep,
    }
    command = [
        *namespaces.entrance(),
        sys.executable,
        "-B",
        "-m",
        "k8s.step_runner",
        json.dumps(options),
    ]
    sys.stdout.flush()
    return subprocess.run(command, env=layout.environment()).returncode


def main() -> int:
    """Runs the rehearsal and returns the exit code of ./dev."""
    try:
        return run(sys.argv[1:])
    except Failure as problem:
        print(paint("error: ", "red") + str(problem), file=sys.stderr, flush=True)
        return 1
    except KeyboardInterrupt:
        print("interrupted; ./dev k8s down ends what runs", file=sys.stderr)
        return 130


if __name__ == "__main__":
    sys.exit(main())
