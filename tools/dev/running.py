"""The verbs that bring a suite up, change it and take it down."""

import signal
import time
from types import FrameType

from dev import (
    build,
    dashboard,
    demo_capture,
    downloads,
    kafka,
    packages,
    paths,
    preflight,
    services,
)
from dev.locks import exclusively
from dev.suite import Suite, SuiteOptions
from dev.terminal import Failure, heading, item, paint, say
from dev.waiting import delay_until

_BETWEEN_LOOKS_SECONDS = 1.0


def stop_on_signals() -> None:
    """SIGTERM and SIGHUP unwind like Ctrl-C, so that everything started is stopped."""

    def interrupt(_number: int, _frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    signal.signal(signal.SIGTERM, interrupt)
    signal.signal(signal.SIGHUP, interrupt)


def up(
    suite: Suite, options: SuiteOptions, detached: bool, builds: bool, with_page: bool = True
) -> None:
    """Brings the suite up or changes what differs; in the foreground stays until Ctrl-C."""
    stop_on_signals()
    preset = options.preset or suite.preset()
    packages.ensure(*build.package_groups(preset), "run")
    _check_before_build(suite, options, builds, with_page)
    if builds:
        build.build(preset, services.PROGRAMS)
        if with_page:
            dashboard.build()
            downloads.build()
        else:
            say("  the dashboard's page and the downloads stay as they are: --no-dashboard")
    with exclusively(suite.folder / "up.lock", f"another ./dev up is working on {suite.folder}"):
        was_running = suite.is_running()
        _start(suite, options, detached, was_running)
        demo_capture.ensure(suite)
    _introduce(suite)
    if was_running or detached:
        return
    say(paint("Ctrl-C stops everything.", "dim"))
    try:
        _wait_while_running(suite)
    except KeyboardInterrupt:
        say("\nstopping")
        suite.down(wipe=False)


def _check_before_build(suite: Suite, options: SuiteOptions, builds: bool, with_page: bool) -> None:
    if not suite.is_running():
        preflight.check_ports({"--api-port": options.api_port, "--smtp-port": options.smtp_port})
    if not builds:
        return
    preflight.check_disk({options.preset or suite.preset()})
    kafka.ensure_jars()
    if with_page:
        dashboard.bring_what_building_needs()


def _start(suite: Suite, options: SuiteOptions, detached: bool, was_running: bool) -> None:
    heading(f"{'Changing' if was_running else 'Starting'} the suite in {suite.folder}")
    try:
        suite.start_infrastructure(options, outlives_caller=detached)
        suite.start_services(options)
    except (KeyboardInterrupt, Failure):
        if not was_running:
            say("stopping what was started")
            suite.down(wipe=False)
        raise


def _wait_while_running(suite: Suite) -> None:
    deaths = {name: child["restarts"] for name, child in suite.supervision.status().items()}
    while suite.is_running():
        for name, child in suite.supervision.status().items():
            if child["restarts"] > deaths.get(name, 0):
                say(f"  {name} ended ({child['last_exit']}) and is started again")
            deaths[name] = child["restarts"]
        delay_until(time.monotonic() + _BETWEEN_LOOKS_SECONDS)
    say("the suite was taken down from elsewhere")


def _introduce(suite: Suite) -> None:
    account = suite.record.account
    assert account
    api = next(
        (it.listener for it in services.of("gateway", suite.replicas)), "nowhere: no gateway"
    )
    smtp = next(
        (it.listener for it in services.of("mail-ingest", suite.replicas)),
        "nowhere: no mail-ingest",
    )
    heading("The suite is up")
    item("API", f"http://{api}")
    item("SMTP", f"{smtp}, for addresses at {suite.record.domain}")
    item("dashboard", f"http://{api}/dashboard")
    item("clients", f"http://{api}/downloads/")
    item(
        "demo account",
        f"{account.email}, key {account.api_key}"
        + (f", password {account.password}" if account.password else ""),
    )
    option = "" if suite.folder == paths.default_suite_folder() else f" --data {suite.folder}"
    say("\nA first request:\n")
    say(f'  eval "$(./dev env{option})"')
    say('  curl -s -X POST "$TEMPINBOX_API/v1/inboxes" -H "X-API-Key: $TEMPINBOX_API_KEY"\n')


def restart(suite: Suite, requested: str) -> None:
    """Stops and starts one process, or all replicas of a service one after the other, each once the
    one before is ready.
    """
    names = [
        name for name in suite.supervision.status() if requested in (name, name.rpartition("-")[0])
    ]
    if not names:
        raise Failure(
            f"nothing is called {requested}; there are: {', '.join(suite.supervision.status())}"
        )
    for name in names:
        suite.supervision.restart(name)
        suite.wait_ready(name)
        item(name, f"started anew, pid {suite.supervision.status()[name]['pid']}")


def down(suite: Suite, wipe: bool) -> None:
    """Stops everything, whether or not its supervisor still lives."""
    suite.down(wipe)
    say(f"nothing of {suite.folder} runs any more" + (", and its data is deleted" if wipe else ""))
