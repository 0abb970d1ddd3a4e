"""Load by Postfix's smtp-source: one process for each recipient address."""

import subprocess
import time
from dataclasses import dataclass

_MAX_PROCESSES = 16
_PILOT_MESSAGES_A_SESSION = 20
_TIMEOUT_SECONDS = 180.0


@dataclass(frozen=True)
class Load:
    """A load of so many sessions at once; `is_kept`: each sends all its mails over one connection,
    else one connection a mail.
    """

    sessions: int
    size: int
    is_kept: bool


def processes(load: Load) -> int:
    """Each process has one recipient."""
    return min(load.sessions, _MAX_PROCESSES)


def _send(address: str, load: Load, recipients: list[str], messages: int) -> tuple[int, float]:
    """Sends at least so many mails; how many, and in how many seconds."""
    count = processes(load)
    sessions = load.sessions // count
    each = max(sessions, -(-messages // count))
    how = ["-d"] if load.is_kept else []
    began = time.monotonic()
    running = []
    for number in range(count):
        to = recipients[number % len(recipients)]
        command = [
            "smtp-source",
            *how,
            "-s",
            str(sessions),
            "-m",
            str(each),
            "-l",
            str(load.size),
            "-f",
            "bench@sender.example",
            "-t",
            to,
            address,
        ]
        running.append(
            subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
            )
        )
    problems = []
    for process in running:
        try:
            said, _ = process.communicate(timeout=_TIMEOUT_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            said, _ = process.communicate()
        if process.returncode != 0:
            problems.append(said.strip())
    if problems:
        raise SystemExit(f"smtp-source against {address}: {problems[0]}")
    return each * count, time.monotonic() - began


def pilot(address: str, load: Load, recipients: list[str]) -> float:
    """Warms the server up and answers about how many mails a second it takes."""
    sent, seconds = _send(address, load, recipients, _PILOT_MESSAGES_A_SESSION * load.sessions)
    return sent / seconds


def run(address: str, load: Load, recipients: list[str], messages: int) -> tuple[int, float]:
    """Sends the mails; how many, and in how many seconds."""
    return _send(address, load, recipients, messages)
