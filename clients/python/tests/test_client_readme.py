"""The five minutes of the README, from an empty folder, by the page's own text."""

import contextlib
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

from dev.ports import free_port
from suite_tools import ROOT

_PAGE = ROOT / "clients" / "python" / "README.md"
_MAX_LINES = 10
_ADDRESS = "127.0.0.1:8080"  # the page's
_READY = "curl -s --retry 60 --retry-delay 1 --retry-connrefused {} >/dev/null"


def _blocks(section: str) -> list[tuple[str, str]]:
    text = _PAGE.read_text(encoding="utf-8").split(f"## {section}\n")[1].split("\n## ")[0]
    return re.findall(r"```(\w+)\n(.*?)```", text, re.DOTALL)


def test_the_five_minutes(tmp_path: Path) -> None:
    """Packages come from this interpreter's environment: what is tested is pinned by hash."""
    (_, install), (_, test), (_, run) = _blocks("A test of a sign-up in five minutes")
    assert len(test.splitlines()) <= _MAX_LINES
    address = f"127.0.0.1:{free_port()}"
    assert _ADDRESS in test
    (tmp_path / "test_signup.py").write_text(test.replace(_ADDRESS, address), encoding="utf-8")
    packages = Path(sys.prefix) / "lib" / f"python3.{sys.version_info[1]}" / "site-packages"
    venv = f"{sys.executable} -m venv .venv\n"
    venv += f"echo {packages} >$(echo .venv/lib/*/site-packages)/tests.pth\n"
    script = install.replace("python3 -m venv .venv\n", venv)
    assert script != install
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"} | {
        "TEMPINBOX": str(ROOT),
        "TEMPINBOX_API": os.environ["TEMPINBOX_BASE_URL"],
        "TEMPINBOX_SMTP": os.environ["TEMPINBOX_TEST_SMTP"],
        "SIGNUP_LISTEN": address,
        "PIP_NO_INDEX": "1",
        "PIP_NO_BUILD_ISOLATION": "0",  # as pip spells that there is none
        "PIP_DISABLE_PIP_VERSION_CHECK": "1",
    }
    shell = subprocess.Popen(
        ["bash", "-ec", f"trap 'kill %1' EXIT\n{script}\n{_READY.format(address)}\n{run}"],
        cwd=tmp_path,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    try:
        said, _ = shell.communicate(timeout=170)
    except subprocess.TimeoutExpired:
        said = "too late"
    finally:
        # The application, where the shell did not get as far as ending it.
        with contextlib.suppress(ProcessLookupError):
            os.killpg(shell.pid, signal.SIGKILL)

    assert "1 passed" in said, said
