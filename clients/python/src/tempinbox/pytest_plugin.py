"""Fixtures for pytest: an inbox a test, and its mail in the report of a test that fails."""

import os
import re
import shutil
import subprocess
import tempfile
import uuid
from collections.abc import Callable, Generator, Iterator
from contextlib import suppress
from html import escape
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from tempinbox._async_client import AsyncTempinbox
from tempinbox._async_inbox import AsyncInbox
from tempinbox._client import Tempinbox
from tempinbox._inbox import Inbox
from tempinbox._transport import AsyncTransport
from tempinbox.errors import ConfigurationError, NotFound, TempinboxError, WaitTimeout, quoted

_MAX_EMAILS = 10
_MAX_BYTES = 5 * 1024 * 1024
_RUN = pytest.StashKey[str]()
_WORKER = pytest.StashKey[str]()
_CLIENT = pytest.StashKey[Tempinbox]()
_INBOXES = pytest.StashKey[list[Inbox]]()
# Shown from a file, HTML of strangers runs nothing, loads nothing and leads nowhere.
_PAGE = """\
<!DOCTYPE html><meta charset="utf-8"><meta http-equiv="Content-Security-Policy" \
content="default-src 'none'; img-src data:; style-src 'unsafe-inline'">
<body style="margin:0"><iframe sandbox style="border:0;width:100%;height:100vh" srcdoc="{}">\
</iframe>
"""
_BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
_BROKEN_BROWSERS: set[str] = set()
_PICTURE_SIZE, _PICTURE_SECONDS = "800,1200", 60


def pytest_addoption(parser: pytest.Parser) -> None:
    """Adds the option for the folder that gets the mail of failed tests."""
    parser.getgroup("tempinbox").addoption(
        "--tempinbox-dir",
        metavar="DIR",
        default="tempinbox-failures",
        help="where the mail of failed tests is written (default: %(default)s)",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Names the run: by TEMPINBOX_RUN, or as pytest-xdist does, the same in all its processes."""
    worker: dict[str, Any] = getattr(config, "workerinput", {})
    name = os.environ.get("TEMPINBOX_RUN") or worker.get("tempinbox_run") or uuid.uuid4().hex[:12]
    if not re.fullmatch(r"[\w.-]{1,30}", name, re.ASCII):
        raise pytest.UsageError(
            'TEMPINBOX_RUN must be 1 to 30 letters, digits, ".", "_" and "-", not ' + quoted(name)
        )
    config.stash[_RUN] = name
    # Not the worker's name alone: another shard of the same run has a worker of this name as well.
    random = uuid.uuid4().hex[:8]
    config.stash[_WORKER] = f"run-{name}-{worker.get('workerid', 'main')}"[:41] + f"-{random}"


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """A worker of pytest-xdist gets the name of the run."""
    node.workerinput["tempinbox_run"] = node.config.stash[_RUN]


def _tags(config: pytest.Config) -> list[str]:
    return [f"run-{config.stash[_RUN]}", config.stash[_WORKER]]


@pytest.fixture(scope="session")
def tempinbox(pytestconfig: pytest.Config) -> Iterator[Tempinbox]:
    """The client, from TEMPINBOX_BASE_URL and TEMPINBOX_API_KEY; a session's worker has one."""
    with Tempinbox() as client:
        pytestconfig.stash[_CLIENT] = client
        yield client
        del pytestconfig.stash[_CLIENT]
        client.delete_inboxes_by_tag(_tags(pytestconfig)[-1])


@pytest.fixture
def make_inbox(
    request: pytest.FixtureRequest, tempinbox: Tempinbox
) -> Iterator[Callable[..., Inbox]]:
    """Makes inboxes of the test's own, with the arguments of `create_inbox`; they end with it."""
    made: list[Inbox] = []
    request.node.stash[_INBOXES] = made

    def make(**given: Any) -> Inbox:
        tags = [*_tags(request.config), *given.pop("tags", [])]
        given.setdefault("name", request.node.name[:100].encode("ascii", "replace").decode())
        made.append(tempinbox.create_inbox(tags=tags, **given))
        return made[-1]

    yield make
    for inbox in made:
        with suppress(NotFound):  # the test ended it
            tempinbox.delete_inbox(inbox)


@pytest.fixture
def inbox(make_inbox: Callable[..., Inbox]) -> Inbox:
    """The test's inbox, made before the test: every mail in it came because of the test."""
    return make_inbox()


@pytest.fixture
def async_inbox(inbox: Inbox) -> AsyncInbox:
    """The same for tests that await, with any plugin that runs them."""
    settings = inbox.client.settings
    # No connection outlives its call: nobody knows in which loop it would have to be closed.
    client = AsyncTempinbox(
        base_url=settings.base_url,
        api_key=settings.api_key,
        timeout=settings.timeout,
        transport=AsyncTransport(keeps_connections=False),
    )
    return AsyncInbox(**{**vars(inbox), "client": client})


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """The mail of a test that failed goes into its report, before its inboxes end."""
    report = yield
    inboxes = item.stash.get(_INBOXES, [])
    if report.when != "teardown" and report.failed and inboxes:
        folder = Path(item.config.getoption("--tempinbox-dir")) / _file_name(item.nodeid)
        error = call.excinfo.value if call.excinfo else None
        lines = _near_misses(error)
        for inbox in inboxes:
            lines += _describe(inbox, item.config.invocation_params.dir / folder)
        report.sections.append(("tempinbox: mail of the test", "\n".join(lines)))
    return report


def pytest_unconfigure(config: pytest.Config) -> None:
    """Ends what is left of the whole run, such as that of a worker that crashed."""
    has_workers = config.getoption("numprocesses", None) and not hasattr(config, "workerinput")
    if not has_workers or _RUN not in config.stash:
        return
    try:
        with Tempinbox() as client:
            client.delete_inboxes_by_tag(_tags(config)[0])
    except ConfigurationError:
        return  # then no test had an inbox either
    except TempinboxError as failure:
        print(f"tempinbox: inboxes of this run may be left: {failure}")


def _file_name(node_id: str) -> str:
    """Returns a name of letters, digits and hyphens; two tests do not share one."""
    plain = re.sub(r"[^A-Za-z0-9]+", "-", node_id).strip("-")[-80:]
    return f"{plain}-{uuid.uuid5(uuid.NAMESPACE_URL, node_id).hex[:6]}"


def _near_misses(error: BaseException | None) -> list[str]:
    """Returns the near misses of a failed wait, also if it is the cause of what the test raised."""
    while error is not None and not isinstance(error, WaitTimeout):
        error = error.__cause__
    return str(error).splitlines() if error else []


def _describe(inbox: Inbox, folder: Path) -> list[str]:
    """The inbox and its newest emails, each written to files; what cannot be had is said."""
    client = inbox.client
    lines = [f"{inbox.email_address}: {client.dashboard_link(inbox)}"]
    try:
        newest = client.list_inbox_emails(inbox, page_size=_MAX_EMAILS)
        emails = list(islice(newest, _MAX_EMAILS))
        for email in emails:
            sent = f"{quoted(email.subject)} from {quoted(email.from_)}"
            lines += [f"  {email.sequence}: {sent} at {email.received_at:%H:%M:%S} UTC"]
            if email.size_bytes <= _MAX_BYTES:
                lines += _write(
                    inbox, email.email_id, folder / f"{inbox.inbox_id}-{email.sequence}"
                )
        if not emails:
            lines += ["  no email came"]
        for refused in client.list_rejections(inbox):
            said = f"{quoted(refused.mail_from)} with {quoted(refused.reply)}"
            lines += [f"  refused: mail of {said}"]
    except (TempinboxError, OSError) as failure:
        lines += [f"  its mail could not be had: {failure}"]
    return lines


def _write(inbox: Inbox, email_id: str, path: Path) -> list[str]:
    path.parent.mkdir(parents=True, exist_ok=True)
    message, page = path.with_suffix(".eml"), path.with_suffix(".html")
    message.write_bytes(inbox.client.get_raw_email(email_id))
    html = inbox.client.get_email(email_id).html
    if html is None:
        return [f"     {message}"]
    page.write_text(_PAGE.format(escape(html)), encoding="utf-8", errors="replace")
    return [f"     {message}", f"     {page}", *_draw(page, path.with_suffix(".png"))]


def _draw(page: Path, picture: Path) -> list[str]:
    """The page as a picture, where there is a browser: TEMPINBOX_BROWSER, or one in PATH.

    As root only the former: there the browser has no sandbox between a stranger's HTML and root.
    """
    named = os.environ.get("TEMPINBOX_BROWSER")
    browser = named or next(filter(None, map(shutil.which, _BROWSERS)), None)
    if browser in (None, "none") or browser in _BROKEN_BROWSERS:
        return []
    is_root = hasattr(os, "geteuid") and os.geteuid() == 0
    if is_root and not named:
        return [f"     no picture: not as root, unless TEMPINBOX_BROWSER names {browser}"]
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        command = [
            browser,
            "--headless",
            "--disable-gpu",
            "--hide-scrollbars",
            # Nothing is there: the network is out of reach, loopback as well.
            "--proxy-server=127.0.0.1:1",
            "--proxy-bypass-list=<-loopback>",
            "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1",
            f"--user-data-dir={profile}",
            f"--window-size={_PICTURE_SIZE}",
            f"--screenshot={picture}",
            page.as_uri(),
        ]
        if is_root:
            command.insert(1, "--no-sandbox")  # Chromium does not start as root otherwise
        # Keys and other secrets of the run are not for whoever reads a stranger's mail.
        environment = {"PATH": os.environ.get("PATH", ""), "HOME": profile}
        try:
            subprocess.run(
                command, capture_output=True, timeout=_PICTURE_SECONDS, check=True, env=environment
            )
        except (OSError, subprocess.SubprocessError) as failure:
            _BROKEN_BROWSERS.add(browser)  # the next picture would only cost the same time
            return [f"     no picture: {type(failure).__name__} of {browser}"]
    return [f"     {picture}"] if picture.exists() else []
