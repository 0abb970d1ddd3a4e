"""The plugin for pytest, in runs of its own against the real suite."""

import os
import shutil
import struct
import zlib
from pathlib import Path

import pytest
from suite_tools import ROOT

from tempinbox import Tempinbox
from tempinbox.pytest_plugin import _BROWSERS

_HELP = f"""
import sys
sys.path.insert(0, {str(Path(__file__).parent)!r})
from suite_tools import send
"""
_PLUGINS = ["tempinbox.pytest_plugin", "no:cacheprovider", "xdist", "anyio.pytest_plugin"]
_PLUGIN = [argument for name in _PLUGINS for argument in ("-p", name)]


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch) -> str:
    """The name of a run, and its environment."""
    name = f"py-{os.getpid()}-{os.urandom(4).hex()}"
    monkeypatch.setenv("TEMPINBOX_RUN", name)
    return name


@pytest.fixture(autouse=True)
def _alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """The plugin without those that only cost time here."""
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    monkeypatch.setenv("PYTHONPATH", str(ROOT / "clients" / "python" / "src"))


def _left(client: Tempinbox, run: str) -> tuple[int, int]:
    """Returns how many inboxes of a run live, and how many there were."""
    live = sum(1 for _ in client.list_inboxes(tag=f"run-{run}", page_size=100))
    ended = client.list_inboxes(tag=f"run-{run}", status="all", page_size=100)
    return live, sum(1 for _ in ended)


def test_200_tests_on_8_workers_see_no_mail_of_a_neighbor_and_leave_no_inbox(
    pytester: pytest.Pytester, run: str, client: Tempinbox
) -> None:
    pytester.makepyfile(
        _HELP
        + """
import pytest

@pytest.mark.parametrize("number", range(200))
def test_mail(inbox, number):
    code = f"{731000 + number}"
    send(inbox.email_address, f"Code of {number}", f"Your verification code is {code}.")
    assert inbox.wait_for_code() == code
    mine = list(inbox.client.list_inbox_emails(inbox))
    assert [one.subject for one in mine] == [f"Code of {number}"]
"""
    )

    done = pytester.runpytest_subprocess(*_PLUGIN, "-n", "8", timeout=300)

    done.assert_outcomes(passed=200)
    assert _left(client, run) == (0, 200)


def _color_of_first_pixel(picture: Path) -> tuple[int, ...]:
    """Reads a PNG of eight bits a channel; no filter of a first line alters its first pixel."""
    content = picture.read_bytes()
    data, at = b"", 8
    while at < len(content):
        length, kind = struct.unpack(">I4s", content[at : at + 8])
        if kind == b"IDAT":
            data += content[at + 8 : at + 8 + length]
        at += 12 + length
    return tuple(zlib.decompress(data)[1:4])


def test_the_report_of_a_failed_test_has_its_mail(
    pytester: pytest.Pytester, run: str, client: Tempinbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Chosen by name: these tests may run as root.
    browser = next(filter(None, map(shutil.which, _BROWSERS)))
    monkeypatch.setenv("TEMPINBOX_BROWSER", browser)
    pytester.makepyfile(
        _HELP
        + """
import pytest

def test_waits_in_vain(inbox):
    html = (
        '<meta http-equiv="refresh" content="0;url=file:///"><style>body{background:#0a0}</style>'
        "<p>Hello<script>document.body.style.background='#f00'</script></p>"
    )
    send(inbox.email_address, "Welcome", "Hello", html)
    inbox.wait_for_email(subject="your code", timeout=1)

def test_has_no_mail(inbox):
    assert False

@pytest.fixture
def reader(inbox):
    return inbox.wait_for_email(subject="in a fixture", timeout=1)

def test_waits_in_a_fixture(reader):
    pass
"""
    )

    done = pytester.runpytest_subprocess(*_PLUGIN, timeout=180)

    done.assert_outcomes(failed=2, errors=1)
    done.stdout.fnmatch_lines(
        [
            "*ERROR at setup of test_waits_in_a_fixture*",
            "*tempinbox: mail of the test*",
            '*asked for: subject: "in a fixture"*',
            '*subject should be "your code", is "Welcome"*',
            '*1: "Welcome" from "robot@shop.example" at *',
            "*tempinbox-failures/*-1.eml",
            "*tempinbox-failures/*-1.html",
            "*tempinbox-failures/*-1.png",
            "*no email came*",
        ]
    )
    [message] = pytester.path.glob("tempinbox-failures/*/*.eml")
    assert b"Subject: Welcome" in message.read_bytes()
    [page] = pytester.path.glob("tempinbox-failures/*/*.html")
    assert "default-src 'none'" in page.read_text(encoding="utf-8").splitlines()[0]
    [picture] = pytester.path.glob("tempinbox-failures/*/*.png")
    assert _color_of_first_pixel(picture) == (0x00, 0xAA, 0x00)
    assert _left(client, run) == (0, 3)


@pytest.mark.parametrize(
    ("user", "is_named", "has_sandbox"),
    [(1000, False, True), (0, True, False), (0, False, None)],
    ids=["user", "root by name", "root"],
)
@pytest.mark.usefixtures("run")
def test_as_root_only_a_browser_named_by_hand_draws(
    pytester: pytest.Pytester,
    monkeypatch: pytest.MonkeyPatch,
    user: int,
    is_named: bool,
    has_sandbox: bool | None,  # None: nothing is drawn
) -> None:
    browser = pytester.mkdir("programs") / "chromium"
    browser.write_text(f'#!/bin/sh\necho "$@" >{pytester.path}/drawn\n', encoding="utf-8")
    browser.chmod(0o755)
    monkeypatch.setenv("PATH", f"{browser.parent}:{os.environ['PATH']}")
    monkeypatch.setenv("TEMPINBOX_BROWSER", str(browser) if is_named else "")
    pytester.makeconftest(f"import os\n\nos.geteuid = lambda: {user}\n")
    pytester.makepyfile(
        _HELP
        + """
def test_fails(inbox):
    send(inbox.email_address, "Welcome", "Hello", "<p>Hello</p>")
    inbox.wait_for_email()
    assert False
"""
    )

    done = pytester.runpytest_subprocess(*_PLUGIN, timeout=180)

    done.assert_outcomes(failed=1)
    drawn = pytester.path / "drawn"
    assert drawn.exists() == (has_sandbox is not None)
    assert ("no picture: not as root" in done.stdout.str()) == (has_sandbox is None)
    if drawn.exists():
        assert ("--no-sandbox" not in drawn.read_text(encoding="utf-8")) == has_sandbox


def test_a_session_ends_no_inbox_of_another_one_of_the_same_run(
    pytester: pytest.Pytester, run: str, client: Tempinbox
) -> None:
    pytester.makepyfile(
        test_outer=f"""
import subprocess
import sys

def test_outer(inbox):
    command = [sys.executable, "-m", "pytest", *{_PLUGIN!r}, "test_inner.py"]
    subprocess.run(command, check=True, timeout=120)
    assert inbox.refresh().status == "active"
""",
        test_inner="""
def test_inner(inbox):
    assert inbox.status == "active"
""",
    )

    done = pytester.runpytest_subprocess(*_PLUGIN, "test_outer.py", timeout=180)

    done.assert_outcomes(passed=1)
    assert _left(client, run) == (0, 2)


def test_a_test_that_awaits_has_the_same_inbox(
    pytester: pytest.Pytester, run: str, client: Tempinbox
) -> None:
    pytester.makepyfile(
        _HELP
        + """
import pytest

@pytest.fixture(params=["asyncio", "trio"])
def anyio_backend(request):
    return request.param

@pytest.mark.anyio
async def test_mail(async_inbox, inbox, make_inbox):
    assert async_inbox.inbox_id == inbox.inbox_id
    await async_inbox.expect_no_email(timeout=1)
    send(inbox.email_address, "Code", "Your verification code is 482913.")
    assert await async_inbox.wait_for_code() == "482913"
    other = make_inbox(tags=["other"], name="Other")
    assert other.name == "Other" and "other" in other.tags
    other.delete()
"""
    )

    done = pytester.runpytest_subprocess(*_PLUGIN, "-W", "error::ResourceWarning", timeout=180)

    done.assert_outcomes(passed=2)
    assert _left(client, run) == (0, 4)


def test_missing_settings_are_named(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("TEMPINBOX_API_KEY")
    pytester.makepyfile("def test_mail(inbox): pass")

    done = pytester.runpytest_subprocess(*_PLUGIN, timeout=180)

    done.assert_outcomes(errors=1)
    done.stdout.fnmatch_lines(["*The API key is missing*TEMPINBOX_API_KEY*"])
