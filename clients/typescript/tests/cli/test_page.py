"""The commands of docs/command-line.md, run as they stand there."""

import re
import subprocess
from pathlib import Path

from cli import Cli, Inbox

_PAGE = Path(__file__).resolve().parents[2] / "docs" / "command-line.md"
# The page leaves these to the reader's application.
_SEND_MAIL = """
send_mail() {
    python3 - "$1" <<'PYTHON'
import os, smtplib, sys
host, port = os.environ["TEMPINBOX_TEST_SMTP"].rsplit(":", 1)
with smtplib.SMTP(host, int(port)) as server:
    server.sendmail("robot@sender.example", [sys.argv[1]],
        "From: robot@sender.example\\r\\nSubject: Your code\\r\\n"
        "Content-Type: text/html\\r\\n\\r\\n"
        'Your code is 482913. <a href="https://app.example.com/verify?t=1">Verify</a>\\r\\n')
PYTHON
}
"""


def _blocks() -> list[str]:
    text = _PAGE.read_text(encoding="utf-8")
    return re.findall(r"^```sh\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


def _run(cli: Cli, script: str, smtp: str, **variables: str) -> str:
    path = f"{cli.program.parent}:{cli.environment()['PATH']}"
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", script],
        env=cli.environment(PATH=path, TEMPINBOX_TEST_SMTP=smtp, **variables),
        cwd=cli.home,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, (script, done.stderr)
    return done.stdout


def test_the_first_five_minutes(cli: Cli, tag: str, smtp: str) -> None:
    first, *_ = _blocks()

    shown = _run(cli, _SEND_MAIL + first.replace("run-4711", tag), smtp)

    lines = shown.splitlines()
    assert lines[0] == "482913"
    assert lines[1] == "https://app.example.com/verify?t=1"
    assert "From:" in lines[2]
    assert lines[-1] == f'ended 1 inboxes with the tag "{tag}"'


def test_every_command_shown(cli: Cli, inbox: Inbox, tag: str, smtp: str) -> None:
    _, *blocks = _blocks()
    used = set()
    _run(cli, _SEND_MAIL + f"send_mail {inbox.address}", smtp)
    for block in blocks:
        own = block.replace("run-4711", tag).replace("my-test-4711", f"my-test-{tag}")
        _run(cli, own, smtp, INBOX=inbox.inbox_id, ADDRESS=inbox.address)
        used |= set(re.findall(r"^tempinbox (\w+)", block, re.MULTILINE))

    assert used == {"create", "capture", "list", "wait", "code", "link", "read", "open", "rm"}
    assert "MAIL_PASSWORD=tic_" in (cli.home / ".env").read_text(encoding="utf-8")
    assert (cli.home / "mail.eml").stat().st_size > 0
    cli.text("rm", "--tag", tag)


def test_every_exit_code_is_the_help_s(cli: Cli) -> None:
    text = _PAGE.read_text(encoding="utf-8")
    codes = re.findall(r"^\| (\d) \| ", text, re.MULTILINE)

    assert codes == re.findall(r"^  (\d)  ", cli.text("--help"), re.MULTILINE)
