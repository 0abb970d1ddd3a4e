"""The program, run as its users run it, and what its tests need around it."""

import json
import os
import shlex
import smtplib
import subprocess
import threading
import uuid
from dataclasses import dataclass, field
from email.message import EmailMessage
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from queue import Queue
from typing import Any, Self

_SECONDS = 90  # for one run; nothing here takes near as long on an idle machine


@dataclass
class Cli:
    """`tempinbox` with an environment of its own."""

    program: Path
    home: Path
    variables: dict[str, str]

    def environment(self, **more: str) -> dict[str, str]:
        """Returns the environment of a process: of this one's it has the path to programs alone."""
        return {
            "PATH": os.environ["PATH"],
            "HOME": str(self.home),
            "TERM": "xterm",
            "LC_ALL": "C.UTF-8",
            **self.variables,
            **more,
        }

    def without(self, *names: str) -> Self:
        """The same without these variables."""
        left = {name: value for name, value in self.variables.items() if name not in names}
        return type(self)(self.program, self.home, left)

    def with_(self, **more: str) -> Self:
        """The same with these variables."""
        return type(self)(self.program, self.home, self.variables | more)

    def run(self, *words: str, seconds: float = _SECONDS) -> subprocess.CompletedProcess[str]:
        """Runs the program to its end."""
        return subprocess.run(
            [str(self.program), *words],
            env=self.environment(),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=seconds,
        )

    def text(self, *words: str) -> str:
        """Returns what a run that must succeed prints."""
        done = self.run(*words)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def json(self, *words: str) -> Any:
        """The JSON that a run that succeeds prints."""
        return json.loads(self.text(*words, "--json"))

    def fails(self, code: int, *words: str) -> str:
        """Returns the error message of a run that must end with this code."""
        done = self.run(*words)
        assert done.returncode == code, (done.returncode, done.stdout, done.stderr)
        return done.stderr

    def start(self, *words: str) -> "Running":
        """A run that goes on."""
        return Running(self, *words)


class Running:
    """A run that goes on; its lines can be waited for."""

    def __init__(self, cli: Cli, *words: str) -> None:
        self.process = subprocess.Popen(
            [str(cli.program), *words],
            env=cli.environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self._lines: Queue[str] = Queue()
        self._said: Queue[str] = Queue()
        for pipe, queue in ((self.process.stdout, self._lines), (self.process.stderr, self._said)):
            threading.Thread(target=self._read, args=(pipe, queue), daemon=True).start()

    @staticmethod
    def _read(pipe: Any, queue: Queue[str]) -> None:
        for line in pipe:
            queue.put(line.rstrip("\n"))

    def line(self, seconds: float = _SECONDS) -> str:
        """The next line of standard output."""
        return self._lines.get(timeout=seconds)

    def said(self, seconds: float = _SECONDS) -> str:
        """The next line of standard error."""
        return self._said.get(timeout=seconds)

    def kill(self) -> None:
        """Kills it at once, without a chance to clean up."""
        self.process.kill()
        self.process.wait(timeout=_SECONDS)

    def exit_code(self, seconds: float = _SECONDS) -> int:
        """Waits for the run to end by itself, and returns its exit code."""
        return self.process.wait(timeout=seconds)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            self.kill()


@dataclass(frozen=True)
class Inbox:
    """Id and address."""

    inbox_id: str
    address: str


def control(*words: str) -> Any:
    """The JSON of a command of tempinboxctl against the suite."""
    command = [*shlex.split(os.environ["TEMPINBOX_TEST_CTL"]), *words, "--output", "json"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=_SECONDS)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@dataclass(frozen=True)
class Account:
    """An account with one key."""

    account_id: str
    key: str

    @classmethod
    def make(cls, plan: str = "premium") -> Self:
        """Makes an account on the plan."""
        email = f"{uuid.uuid4().hex[:12]}@example.com"
        made = control("account", "create", "--email", email, "--plan", plan)
        key = control("key", "create", made["accountId"], "--label", "test")["key"]
        return cls(made["accountId"], key)


def send_mail(
    to: str,
    subject: str = "Your code",
    text: str = "Your code is 482913.\n",
    html: str | None = None,
    attachment: bytes | None = None,
    sender: str = "Robot <robot@sender.example>",
) -> None:
    """Sends a mail by SMTP, as any application does."""
    message = EmailMessage()
    message["From"] = sender
    message["To"] = to
    message["Subject"] = subject
    message.set_content(text)
    if html is not None:
        message.add_alternative(html, subtype="html")
    if attachment is not None:
        message.add_attachment(
            attachment, maintype="application", subtype="octet-stream", filename="report.bin"
        )
    with _mail_server() as server:
        server.send_message(message)


def send_raw(to: str, message: bytes) -> None:
    """Sends a mail by SMTP as it is."""
    with _mail_server() as server:
        server.sendmail("robot@sender.example", [to], message)


def _mail_server() -> smtplib.SMTP:
    host, port = os.environ["TEMPINBOX_TEST_SMTP"].rsplit(":", 1)
    return smtplib.SMTP(host, int(port), timeout=_SECONDS)


@dataclass
class Post:
    """A request that a target got."""

    headers: dict[str, str]
    body: bytes


@dataclass
class Target:
    """An HTTP server that takes webhooks; `plan` says how the next requests are answered, 200 by
    default. A number is a status; an event is waited for before 200.
    """

    plan: Queue[int | threading.Event] = field(default_factory=Queue)
    posts: Queue[Post] = field(default_factory=Queue)

    def __enter__(self) -> Self:
        target = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                length = int(self.headers["Content-Length"])
                body = self.rfile.read(length)
                step = 200 if target.plan.empty() else target.plan.get()
                target.posts.put(
                    Post({name.lower(): value for name, value in self.headers.items()}, body)
                )
                if isinstance(step, threading.Event):
                    step.wait(_SECONDS)
                    step = 200
                self.send_response(step)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_port}/hook?from=listen"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    def post(self) -> Post:
        """The next request."""
        return self.posts.get(timeout=_SECONDS)
