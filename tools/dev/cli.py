"""The verbs of ./dev and their options."""

import argparse
import os
import sys
from collections.abc import Callable
from pathlib import Path

from dev import build, chaos_runs, debian, logs, paths, running, status, suite_env
from dev.suite import DEFAULT_DOMAIN, Suite, SuiteOptions
from dev.terminal import Failure, paint


def _suite(chosen: argparse.Namespace) -> Suite:
    return Suite(chosen.data)


def _up(chosen: argparse.Namespace) -> int:
    options = SuiteOptions(
        chosen.replicas,
        chosen.brokers,
        chosen.preset,
        chosen.domain,
        chosen.api_port,
        chosen.smtp_port,
        chosen.starttls,
    )
    running.up(
        _suite(chosen),
        options,
        detached=chosen.detach,
        builds=not chosen.no_build,
        with_page=not chosen.no_dashboard,
    )
    return 0


def _down(chosen: argparse.Namespace) -> int:
    running.down(_suite(chosen), chosen.wipe)
    return 0


def _restart(chosen: argparse.Namespace) -> int:
    running.restart(_suite(chosen), chosen.name)
    return 0


def _env(chosen: argparse.Namespace) -> int:
    sys.stdout.write(suite_env.as_exports(suite_env.variables(_suite(chosen))))
    return 0


def _status(chosen: argparse.Namespace) -> int:
    return 0 if status.show(_suite(chosen), chosen.output == "json") else 1


def _logs(chosen: argparse.Namespace) -> int:
    logs.show(_suite(chosen).logs, chosen.service, chosen.lines, chosen.follow)
    return 0


def without_separator(arguments: list[str]) -> list[str]:
    """argparse leaves the `--` in front, behind which the other program would take options for
    values.
    """
    return arguments[1:] if arguments[:1] == ["--"] else arguments


def _ctl(chosen: argparse.Namespace) -> int:
    command, environment = _suite(chosen).operator_command(without_separator(chosen.arguments))
    sys.stdout.flush()
    os.execve(command[0], command, environment)  # noqa: S606 - its exit code is that of ./dev


def _build(chosen: argparse.Namespace) -> int:
    from dev import packages

    packages.ensure(*build.package_groups(chosen.preset))
    with_page = not chosen.target and not chosen.no_dashboard
    if with_page:
        from dev import dashboard

        dashboard.bring_what_building_needs()
    build.build(chosen.preset, chosen.target)
    if with_page:
        dashboard.build()
    return 0


def _image(chosen: argparse.Namespace) -> int:
    from dev import image, image_check

    names = image.chosen(chosen.name)
    if chosen.check:
        return image_check.run(names)
    source = image.Source(chosen.bin, from_source=chosen.from_source)
    image.build_all(names, source, chosen.base, chosen.save, fresh=chosen.fresh)
    return 0


def _release(chosen: argparse.Namespace) -> int:
    from dev import image, release

    source = image.Source(chosen.bin)
    return release.run(chosen.part, source, chosen.base, chosen.compare, dry_run=chosen.dry_run)


def _demo(chosen: argparse.Namespace) -> int:
    from dev import demo

    return demo.run(_suite(chosen))


def _test(chosen: argparse.Namespace) -> int:
    from dev import testing

    if chosen.ci:
        return testing.run_ci()
    return testing.run(
        chosen.tier,
        chosen.preset,
        builds=not chosen.no_build,
        arguments=chosen.arguments,
        server=chosen.postgres,
    )


def _check(chosen: argparse.Namespace) -> int:
    from dev import check

    return check.run(chosen.part, everything=chosen.all, fix=chosen.fix, server=chosen.postgres)


def _fuzz(chosen: argparse.Namespace) -> int:
    from fuzz import run as fuzzing

    return fuzzing.run(
        chosen.target, chosen.seconds, chosen.seed, builds=not chosen.no_build, rerun=chosen.rerun
    )


def _programs(chosen: argparse.Namespace) -> int:
    from dev import programs

    return programs.run(chosen.verb, chosen.name, chosen.arguments, _suite(chosen), chosen.svg)


def _chaos(chosen: argparse.Namespace) -> int:
    from chaos import run as chaos

    seconds, rate = chaos.usual(chosen.name, chosen.rounds)
    course = chaos.Course(
        seconds if chosen.rounds else chosen.seconds or seconds,
        chosen.rate or rate,
        chosen.connections or chaos.usual_connections(chosen.name),
        chosen.seed,
        chosen.events,
        chosen.rounds,
        chosen.base,
    )
    return chaos.run(chosen.name, chosen.preset, course, not chosen.no_build)


def _k8s(chosen: argparse.Namespace) -> int:
    from k8s import verbs

    return verbs.run(chosen.action, chosen.arguments)


def _root(chosen: argparse.Namespace) -> int:
    from dev import root

    root.run(chosen.release, without_separator(chosen.command), fresh=chosen.fresh)


def _between(least: int, most: int) -> Callable[[str], int]:
    def number(text: str) -> int:
        if not text.isdigit() or not least <= int(text) <= most:
            raise argparse.ArgumentTypeError(f"{text}: expected a number from {least} to {most}")
        return int(text)

    return number


class _Verbs:
    """Adds verbs to the parser, each with its help and the function that runs it."""

    def __init__(self, parser: argparse.ArgumentParser) -> None:
        self._subparsers = parser.add_subparsers(dest="verb", metavar="VERB", required=True)

    def verb(self, name: str, does: str, run: object, more: str = "") -> argparse.ArgumentParser:
        """Adds a verb; the caller adds its options to the result."""
        parser = self._subparsers.add_parser(
            name,
            help=does,
            description=does[0].upper() + does[1:] + "." + more,
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        parser.set_defaults(run=run)
        return parser

    def on_suite(
        self, name: str, does: str, run: object, more: str = ""
    ) -> argparse.ArgumentParser:
        """Adds a verb that works on a suite, and so takes its data folder."""
        parser = self.verb(name, does, run, more)
        meaning = (
            f"the suite's data folder (default: .run in the checkout, or ${paths.SUITE_VARIABLE})"
        )
        parser.add_argument(
            "--data", metavar="DIR", type=Path, default=paths.default_suite_folder(), help=meaning
        )
        return parser


def _add_up(verbs: _Verbs) -> None:
    up = verbs.on_suite(
        "up", "build and run the whole suite; on a running one change what differs", _up
    )
    up.add_argument(
        "-d",
        "--detach",
        action="store_true",
        help="return when everything is ready; otherwise Ctrl-C stops all",
    )
    up.add_argument(
        "--replicas",
        metavar="SERVICE=N,...",
        help="how many of each service, such as gateway=2,mail-ingest=3",
    )
    up.add_argument(
        "--brokers",
        metavar="N",
        type=int,
        choices=range(1, 6),
        help="Kafka nodes (default: 1); fixed once there is data",
    )
    up.add_argument(
        "--preset", choices=build.PRESETS, help="what to build and run (default: release)"
    )
    up.add_argument("--domain", help=f"mail domain of the inboxes (default: {DEFAULT_DOMAIN})")
    up.add_argument(
        "--api-port",
        metavar="N",
        type=int,
        help="port of the first gateway (default: a free one, kept)",
    )
    up.add_argument(
        "--smtp-port",
        metavar="N",
        type=int,
        help="port of the first mail-ingest (default: a free one, kept)",
    )
    up.add_argument(
        "--starttls",
        action=argparse.BooleanOptionalAction,
        help="offer STARTTLS, with the certificate that TEMPINBOX_SMTP_CA of ./dev env names "
        "(default: no, as clients refuse a certificate they do not know)",
    )
    up.add_argument("--no-build", action="store_true", help="run what is built already")
    up.add_argument(
        "--no-dashboard",
        action="store_true",
        help="leave the dashboard's page unbuilt, which takes Node.js",
    )


def _add_suite(verbs: _Verbs) -> None:
    down = verbs.on_suite("down", "stop the suite", _down)
    down.add_argument("--wipe", action="store_true", help="delete its data too")

    restart = verbs.on_suite("restart", "stop and start one process", _restart)
    restart.add_argument("name", help="as in ./dev status, or a service for all its replicas")

    verbs.on_suite(
        "env", 'print the shell variables of the running suite: eval "$(./dev env)"', _env
    )

    shown = verbs.on_suite(
        "status",
        "show what runs: pids, addresses, readiness, restarts; exit code 1 when anything is not "
        "ready",
        _status,
    )
    shown.add_argument("--output", choices=["text", "json"], default="text")

    log = verbs.on_suite("logs", "show the logs of a service, or of everything", _logs)
    log.add_argument(
        "service", nargs="?", help="a service, one replica (inbox-1), postgres, kafka, supervisor"
    )
    log.add_argument("-f", "--follow", action="store_true", help="go on with what comes")
    log.add_argument("-n", "--lines", type=int, default=100, help="of each log (default: 100)")

    verbs.on_suite("demo", "show the story of one mail on the running suite, step by step", _demo)

    ctl = verbs.on_suite(
        "ctl", "run the operator's command line, tempinboxctl, against the running suite", _ctl
    )
    ctl.add_argument(
        "arguments",
        nargs=argparse.REMAINDER,
        metavar="...",
        help="for tempinboxctl; `./dev ctl -- --help` shows its own help",
    )


def _add_test(verbs: _Verbs) -> None:
    test = verbs.verb(
        "test",
        "run the tests; the last line is `N passed, N failed`",
        _test,
        "\n\n  unit         nothing outside the process\n"
        "  integration  against a PostgreSQL and a Kafka started for it"
        "\n  e2e          against a suite of its own, through its public ports"
        "\n  browser      the dashboard in Chromium, against a suite of its own; screenshots in "
        "build/PRESET/test/browser.screenshots"
        "\n  deploy       the Helm chart, rendered and checked; no cluster"
        "\n  clients      the clients, plugins and quick starts, against a suite of its own"
        "\n\nWithout a tier: all six, two at a time, while what they need is built beside them; "
        "what each prints is kept in build/PRESET/test/all."
        "\nSanitizers: `./dev test unit integration --preset sanitize`, and `--ci`.",
    )
    test.add_argument(
        "tier", nargs="*", metavar="TIER", help="unit, integration, e2e, browser, deploy, clients"
    )
    test.add_argument(
        "--preset",
        choices=build.PRESETS,
        help="what to build and test (default: release, as `./dev up` builds it)",
    )
    test.add_argument(
        "--ci",
        action="store_true",
        help=(
            "everything that must pass before a change lands: checks, all tiers, every fuzz target"
        ),
    )
    test.add_argument("--no-build", action="store_true", help="test what is built already")
    test.add_argument(
        "--postgres",
        metavar="FOLDER",
        help=(
            "for integration and e2e: the programs of another PostgreSQL (default: this release's)"
        ),
    )
    test.add_argument(
        "--only",
        dest="arguments",
        metavar="ARGUMENT",
        action="append",
        default=[],
        help=(
            "passed on to the test program of a single tier, such as a Catch2 name or tag, "
            "`-k=word` for pytest, `--update` to renew the goldens of deploy, a file's name or "
            "`--test-name-pattern=word` for browser, a folder such as `python` with options of its "
            "test runner for clients; may be repeated"
        ),
    )


def _add_check(verbs: _Verbs) -> None:
    check = verbs.verb(
        "check",
        "check format, clang-tidy, the project's own style rules, the tools behind ./dev, SQL, the "
        "schemas, the OpenAPI file, the clients, the dashboard, Python, the workflows",
        _check,
    )
    check.add_argument(
        "part",
        nargs="*",
        metavar="PART",
        help="format, style, house, tools, sql, schemas, openapi, events, clients, dashboard, "
        "python, workflows, tidy (default: all)",
    )
    check.add_argument(
        "--all", action="store_true", help="clang-tidy on every file instead of the changed ones"
    )
    check.add_argument(
        "--fix",
        action="store_true",
        help="let formatters, ESLint and ruff put right what they refuse",
    )
    check.add_argument(
        "--postgres",
        metavar="WHERE",
        help="for sql: the folder of another PostgreSQL's programs, or the URI of a server where a "
        "database may be made (default: this release's PostgreSQL)",
    )


def _add_build(verbs: _Verbs) -> None:
    made = verbs.verb("build", "configure and build", _build)
    made.add_argument("--preset", choices=build.PRESETS, default="release")
    made.add_argument(
        "target", nargs="*", help="CMake targets (default: everything, and the dashboard's page)"
    )
    made.add_argument(
        "--no-dashboard",
        action="store_true",
        help="leave the dashboard's page unbuilt, which takes Node.js",
    )


def _add_image(verbs: _Verbs) -> None:
    images = verbs.verb(
        "image",
        "build the container images of deploy/docker/, list their sizes and what is in them",
        _image,
        "\n\nImages: gateway, inbox, mail-ingest, rate-limit, webhook-dispatcher, tools, "
        "all-in-one;\npostgres and kafka for machines that cannot pull the public ones."
        "\nWithout a name all but the last two. Lists of packages (SPDX 2.3) are written to "
        "build/images/spdx."
        "\nExit code 3: this machine lacks something, which is named (docs/operations/images.md).",
    )
    images.add_argument("name", nargs="*", metavar="NAME", help="which images (default: all)")
    images.add_argument(
        "--from-source",
        action="store_true",
        help="build the programs inside, of what is committed, instead of packing those of this "
        "machine, which must be of Debian 13",
    )
    images.add_argument(
        "--bin",
        metavar="DIR",
        type=Path,
        help="pack the programs of this folder as they are (default: those of ./dev build)",
    )
    images.add_argument(
        "--base",
        metavar="IMAGE",
        help="what the images are made from (default: debian:trixie-slim; where it cannot be "
        "pulled, or with `debootstrap`, one made here of Debian packages)",
    )
    images.add_argument(
        "--save", metavar="DIR", type=Path, help="write each image as DIR/NAME.tar (docker load)"
    )
    images.add_argument(
        "--fresh", action="store_true", help="use no cached layer: newest Debian packages"
    )
    images.add_argument(
        "--check",
        action="store_true",
        help="build nothing; try the images that are built: hardened start, no shell inside, the "
        "all-in-one image and TempinboxContainer, deploy/compose with a smoke test, and with the "
        "names of all images docs/operations/one-vm.md, whose containers are killed under load",
    )


def _add_release(verbs: _Verbs) -> None:
    made = verbs.verb(
        "release",
        "make everything that a release is, into dist/, with the digest of each file",
        _release,
        "\n\n  python   wheel and source of the Python client"
        "\n  npm      the TypeScript client, with the command line"
        "\n  chart    the Helm chart"
        "\n  linux    the programs for Debian 13, with units of systemd"
        "\n  images   the nine images as OCI layouts, for docker load and registries"
        "\n\nWithout a part all. Each file has a list of what it needs or holds (SPDX 2.3) beside "
        "it; NOTES.md has what\nCHANGELOG.md says. Everything is made of what is committed; files "
        "get the time of that commit, or SOURCE_DATE_EPOCH.\nNothing is tagged, signed or pushed.",
    )
    made.add_argument("part", nargs="*", metavar="PART", help="only these parts (default: all)")
    made.add_argument(
        "--dry-run",
        action="store_true",
        help="also of a version that is not to be released, such as 1.2.3-dev",
    )
    made.add_argument(
        "--bin",
        metavar="DIR",
        type=Path,
        help="linux, images: pack the programs of this folder (default: those of ./dev build, on "
        "Debian 13)",
    )
    made.add_argument(
        "--base", metavar="IMAGE", help="images: what they are made from, as of ./dev image"
    )
    made.add_argument(
        "--compare",
        metavar="DIR",
        type=Path,
        help="then name each file that differs from this folder's, which an earlier run made; exit "
        "code 1 if any does without a known reason",
    )


def _add_chaos(verbs: _Verbs) -> None:
    breaking = verbs.verb(
        "chaos",
        "kill parts of a suite of its own under load, then count what was promised and what was "
        "kept",
        _chaos,
        chaos_runs.HELP,
    )
    breaking.add_argument(
        "name",
        choices=["api", "captures", "events", "mail", "restore", "upgrade", "webhooks"],
        help="what to break",
    )
    breaking.add_argument(
        "--from",
        dest="base",
        metavar="REF",
        help="upgrade: the commit to start from (default: the one named in deploy/baseline)",
    )
    breaking.add_argument(
        "--seconds",
        metavar="N",
        type=_between(10, 3600),
        help="how long load and faults last; upgrade: at least (default: 60; captures and events: "
        "120)",
    )
    breaking.add_argument(
        "--rate",
        metavar="N",
        type=_between(1, 5000),
        help="captures, events, mail, restore, upgrade: mails a second (default: 100; captures: "
        "20; events: 50); api: rounds of calls a second (default: 40)",
    )
    breaking.add_argument(
        "--connections",
        metavar="N",
        type=_between(1, 256),
        help="captures, events, mail, restore, upgrade: SMTP connections of the load; api: callers "
        "at once (default: 16; captures: 4; events: 20)",
    )
    breaking.add_argument(
        "--events",
        metavar="N",
        type=_between(100, 1_000_000),
        default=20_000,
        help="webhooks: how many in all (default: 20000)",
    )
    breaking.add_argument(
        "--rounds",
        metavar="N",
        type=_between(1, 100),
        help="api, mail: so many freezes of Kafka and no other fault; events: so many rolling "
        "restarts of the brokers and no other fault",
    )
    breaking.add_argument(
        "--seed",
        metavar="N",
        type=int,
        default=1,
        help="of the order in which what is killed is killed (default: 1)",
    )
    breaking.add_argument(
        "--preset",
        choices=build.PRESETS,
        default="release",
        help="what to build and run (default: release)",
    )
    breaking.add_argument("--no-build", action="store_true", help="run what is built already")


def _add_k8s(verbs: _Verbs) -> None:
    cluster = verbs.verb(
        "k8s",
        "run a real Kubernetes on this machine and rehearse the chart on it; by hand, as root",
        _k8s,
        "\n\n  up         start the cluster, or complete it: three nodes in three zones; the first "
        "time it builds its programs (20 min)"
        "\n  run        the rehearsal: install, upgrade, scale, break and remove the chart under "
        "load; a table of what was seen"
        "\n  down       end the cluster and everything in it"
        "\n  kubectl    run kubectl in the cluster's network; so does helm"
        "\n  exec       run any command there"
        "\n\nExit code 0: all well; 1: something failed; 3: this machine lacks something, which "
        "is named.",
    )
    cluster.add_argument("action", choices=["up", "run", "down", "kubectl", "helm", "exec"])
    cluster.add_argument(
        "arguments",
        nargs=argparse.REMAINDER,
        metavar="...",
        help="of the action; `./dev k8s run --help` shows the rehearsal's",
    )


def _add_root(verbs: _Verbs) -> None:
    entering = verbs.verb(
        "root",
        "run a command in a bare root of a Debian release, as a newcomer would; as root",
        _root,
        "\n\nThe root is made by debootstrap from the mirror of this machine's apt and kept in the "
        "cache (about 4 GiB with a build in it)."
        "\nIt has nothing of this machine but the compiler cache, a clone of what is committed, "
        "and certificates and apt's settings, so that"
        "\npackages can be fetched. Network and processes are the machine's: `./dev root trixie "
        "./dev up -d` leaves a suite running that"
        "\n`./dev root trixie ./dev demo` uses and `./dev root trixie ./dev down` ends."
        "\n\nThe exit code is the command's; 3: this machine lacks something, which is named.",
    )
    entering.add_argument(
        "--fresh", action="store_true", help="before the release: make the root anew"
    )
    entering.add_argument("release", choices=debian.RELEASES)
    entering.add_argument(
        "command",
        nargs=argparse.REMAINDER,
        metavar="COMMAND",
        help="run in the clone, such as ./dev up -d (default: a shell)",
    )


def _add_fuzz(verbs: _Verbs) -> None:
    fuzz = verbs.verb(
        "fuzz",
        "fuzz what reads foreign input; exit code 1 when something broke",
        _fuzz,
        "\n\nThe targets are the sources of tests/fuzz, with the inputs of tests/fuzz/corpus to "
        "begin with. Inputs that reach new code are kept in"
        "\nbuild/sanitize/fuzzing/TARGET/corpus for the next run, one that breaks a target in "
        "build/sanitize/fuzzing/TARGET/broken.",
    )
    fuzz.add_argument(
        "target",
        nargs="?",
        metavar="TARGET",
        help="such as smtp_session_machine or mime_view (default: each in turn)",
    )
    fuzz.add_argument(
        "--seconds", metavar="N", type=int, default=60, help="how long each runs (default: 60)"
    )
    fuzz.add_argument(
        "--seed",
        metavar="N",
        type=int,
        default=0,
        help="makes the same inputs each time (default: 0, others each time)",
    )
    fuzz.add_argument(
        "--rerun", metavar="FILE", type=Path, help="run the target once, on this input"
    )
    fuzz.add_argument("--no-build", action="store_true", help="run what is built already")


def _add_bench(verbs: _Verbs) -> None:
    benches = verbs.on_suite(
        "bench",
        "measure the running suite",
        _programs,
        " The programs are those of tests/bench; without a name they are listed.",
    )
    benches.add_argument(
        "--svg",
        metavar="FILE|DIR",
        type=Path,
        help="before NAME: draw the bench's figures as bar charts, all into FILE.svg or each into "
        "a file of the folder",
    )
    benches.add_argument("name", nargs="?")
    benches.add_argument(
        "arguments", nargs=argparse.REMAINDER, metavar="...", help="for the program"
    )


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="./dev",
        description="Builds, runs, tests and checks the Temporary Inbox Service on this machine.",
    )
    verbs = _Verbs(parser)
    for add in (  # in the order of `./dev --help`
        _add_up,
        _add_suite,
        _add_test,
        _add_check,
        _add_build,
        _add_image,
        _add_release,
        _add_chaos,
        _add_k8s,
        _add_root,
        _add_fuzz,
        _add_bench,
    ):
        add(verbs)
    return parser


def main() -> int:
    """Runs the verb; the exit code is its outcome."""
    os.environ.pop("PYTHONPATH", None)  # it was for finding this package alone
    chosen = _parser().parse_args()
    try:
        return int(chosen.run(chosen))
    except Failure as problem:
        print(paint("error: ", "red") + str(problem), file=sys.stderr, flush=True)
        return problem.exit_code
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return 130
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
