"""A small application with a sign-up, to try tests of mail on: it sends a code and a link over SMTP
and takes either. Standard library alone; `python3 signup_app.py --help` lists its settings.
"""

import argparse
import html
import os
import re
import secrets
import smtplib
import ssl
import sys
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from email.message import EmailMessage
from email.utils import formatdate, make_msgid
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlencode, urlsplit

_MAX_BODY_BYTES = 4096
_MAX_ADDRESS = 254  # RFC 5321 4.5.3.1.3, without the angle brackets
_MAX_NAME = 100
_MAX_SIGN_UPS = 10_000  # the oldest goes when one more comes
_MAX_GUESSES = 5
_VALID_SECONDS = 600
_SMTP_SECONDS = 15
_CLIENT_SECONDS = 15  # for a client to send its request
_MAX_CONNECTIONS = 64
_ADDRESS = re.compile(r"[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]{1,64}@[A-Za-z0-9-]+(\.[A-Za-z0-9-]+)*")
_CODE = re.compile(r"[0-9]{6}")
_TLS = ("none", "starttls", "tls")
_TOKEN = re.compile(r"[A-Za-z0-9_-]{32}")


@dataclass(frozen=True)
class MailServer:
    """Where mail is handed over, and how."""

    host: str
    port: int
    tls: str  # one of _TLS
    user: str  # empty: without a login
    password: str

    def connect(self) -> smtplib.SMTP:
        """Logs in, where there is a login, to a server whose certificate is verified."""
        if self.tls == "tls":
            trusting = ssl.create_default_context()
            connection: smtplib.SMTP = smtplib.SMTP_SSL(
                self.host, self.port, timeout=_SMTP_SECONDS, context=trusting
            )
        else:
            connection = smtplib.SMTP(self.host, self.port, timeout=_SMTP_SECONDS)
        try:
            if self.tls == "starttls":
                connection.starttls(context=ssl.create_default_context())
            if self.user:
                connection.login(self.user, self.password)
        except BaseException:
            connection.close()
            raise
        return connection


@dataclass(frozen=True)
class Settings:
    """The options of the program."""

    listen: tuple[str, int]
    smtp: MailServer
    sender: str
    public_url: str  # of the links in mails; empty for where it listens


class Refused(Exception):
    """A refused form; the page says why, above a form to try again."""

    def __init__(self, status: HTTPStatus, why: str, form: str = "") -> None:
        super().__init__(why)
        self.status = status
        self.form = form


def _bad(why: str) -> Refused:
    return Refused(HTTPStatus.BAD_REQUEST, why)


@dataclass
class SignUp:
    """A sign-up that waits for its code or link."""

    address: str
    name: str
    code: str
    token: str
    ends_at: float
    guesses_left: int = _MAX_GUESSES


class SignUps:
    """The pending sign-ups, in memory, at most 10,000; the newest of each address. Threads may
    share it.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._by_address: OrderedDict[str, SignUp] = OrderedDict()

    def begin(self, address: str, name: str) -> SignUp:
        """Makes a new code and a new link; those sent before no longer work."""
        code, token = f"{secrets.randbelow(1_000_000):06}", secrets.token_urlsafe(24)
        made = SignUp(address, name, code, token, time.monotonic() + _VALID_SECONDS)
        with self._lock:
            self._by_address.pop(address.lower(), None)
            if len(self._by_address) >= _MAX_SIGN_UPS:
                self._by_address.popitem(last=False)
            self._by_address[address.lower()] = made
        return made

    def drop(self, sign_up: SignUp) -> None:
        """Drops a sign-up whose mail could not be sent."""
        with self._lock:
            if self._by_address.get(sign_up.address.lower()) is sign_up:
                del self._by_address[sign_up.address.lower()]

    def finish_by_code(self, address: str, code: str) -> SignUp:
        """Refuses a wrong code, five times at most."""
        with self._lock:
            found = self._find(address)
            if secrets.compare_digest(found.code, code):
                return self._by_address.pop(address.lower())
            found.guesses_left -= 1
            if found.guesses_left == 0:
                del self._by_address[address.lower()]
                raise _bad("code is wrong, for the fifth time; sign up again to get another")
            why = f"code is wrong; {found.guesses_left} attempts are left"
            raise Refused(HTTPStatus.BAD_REQUEST, why, code_form(address))

    def finish_by_link(self, address: str, token: str) -> SignUp:
        """Refuses a link that is not the newest one of the address."""
        with self._lock:
            if not secrets.compare_digest(self._find(address).token, token):
                raise _bad("this link is not valid; use that of the newest mail")
            return self._by_address.pop(address.lower())

    def _find(self, address: str) -> SignUp:
        found = self._by_address.get(address.lower())
        if not found or found.ends_at < time.monotonic():
            raise _bad(f"no sign-up of {address} is under way; codes and links end after 10 min")
        return found


def compose(sign_up: SignUp, sender: str, link: str) -> EmailMessage:
    """The mail with both ways to finish."""
    mail = EmailMessage()
    mail["From"] = sender
    mail["To"] = sign_up.address
    mail["Subject"] = "Confirm your sign-up"
    mail["Date"] = formatdate()
    mail["Message-ID"] = make_msgid(domain=sender.rpartition("@")[2])
    greeting = f"Hello {sign_up.name}" if sign_up.name else "Hello"
    mail.set_content(
        f"{greeting},\n\nyour verification code is {sign_up.code}\n\n"
        f"Or open this link to confirm your address:\n{link}\n\nBoth are valid for 10 minutes.\n"
    )
    mail.add_alternative(
        f"<p>{html.escape(greeting)},</p><p>your verification code is <b>{sign_up.code}</b></p>"
        f'<p><a href="{html.escape(link)}">Confirm your address</a></p>'
        "<p>Both are valid for 10 minutes.</p>",
        subtype="html",
    )
    return mail


def send(mail: EmailMessage, smtp: MailServer, sender: str, address: str) -> None:
    """Hands it to the mail server, or refuses the sign-up with what that said."""
    server = f"the mail server {smtp.host}:{smtp.port}"
    try:
        with smtp.connect() as connection:
            connection.send_message(mail, sender, [address])
    except smtplib.SMTPRecipientsRefused as refusal:
        code, text = next(iter(refusal.recipients.values()))
        said = text.decode("ascii", "replace")
        raise _bad(f"email is refused by {server}: {code} {said}") from refusal
    except (smtplib.SMTPException, OSError) as failure:
        raise Refused(
            HTTPStatus.BAD_GATEWAY, f"{server} did not take the mail: {failure}"
        ) from failure


def read_form(text: str, most: dict[str, int], required: set[str]) -> dict[str, str]:
    """The fields of a form or a query, each given at most once and within its bound."""
    try:
        given = parse_qs(text, keep_blank_values=True, max_num_fields=10, errors="strict")
    except ValueError as failure:  # of which a UnicodeDecodeError is one
        raise _bad("the form must have at most 10 fields in UTF-8") from failure
    for name in given.keys() - most.keys():
        raise _bad(f"unknown field {name[:50]!r}; there are: {', '.join(most)}")
    read = {}
    for name, bound in most.items():
        values = [value.strip() for value in given.get(name, [""])]
        if len(values) > 1:
            raise _bad(f"{name} must be given once")
        if not values[0] and name in required:
            raise _bad(f"{name} is missing")
        if len(values[0]) > bound:
            raise _bad(f"{name} must have at most {bound} characters, not {len(values[0])}")
        if not values[0].isprintable():
            raise _bad(f"{name} must have no control characters")
        read[name] = values[0]
    return read


def checked_address(address: str) -> str:
    """Refuses what is no email address in ASCII."""
    if not _ADDRESS.fullmatch(address):
        raise _bad(f"email must be an address such as you@example.com, not {address!r}")
    return address


def page(title: str, body: str) -> bytes:
    """A whole page; the body is HTML, the title text."""
    return (
        f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{html.escape(title)}</title>'
        '<meta name="viewport" content="width=device-width"><style>body{font:16px sans-serif;'
        "max-width:30em;margin:3em auto;padding:0 1em}input,button{font:inherit;padding:.4em}"
        f"[role=alert]{{color:#a00}}</style><h1>{html.escape(title)}</h1>{body}</html>"
    ).encode()


def alert(why: str) -> str:
    """An error for the page's body."""
    return f'<p role="alert">{html.escape(why)}</p>'


SIGN_UP_FORM = (
    '<form method="post" action="signup">'
    '<p><label>Email <input name="email" type="email" maxlength="254" required></label></p>'
    '<p><label>Name <input name="name" maxlength="100"></label></p>'
    "<p><button>Sign up</button></p></form>"
)


def code_form(address: str) -> str:
    """Asks for the code that was sent."""
    shown = html.escape(address)
    return (
        f"<p>We sent a mail to {shown}. Enter its code, or open its link.</p>"
        f'<form method="post" action="verify"><input type="hidden" name="email" value="{shown}">'
        '<p><label>Code <input name="code" inputmode="numeric" maxlength="6" required></label></p>'
        "<p><button>Confirm</button></p></form>"
    )


class Handler(BaseHTTPRequestHandler):
    """A connection of the server below; a request is answered and the connection closed."""

    server: "SignUpServer"
    server_version = "signup-app"
    sys_version = ""
    timeout = _CLIENT_SECONDS

    def do_GET(self) -> None:
        """The sign-up page, and the link of the mail."""
        self._answer({"/": self._show_sign_up, "/confirm": self._confirm})

    def do_POST(self) -> None:
        """Handles the two forms."""
        self._answer({"/signup": self._sign_up, "/verify": self._verify})

    def _answer(self, routes: dict[str, Callable[[], tuple[str, str]]]) -> None:
        path = self.path.partition("?")[0]
        try:
            title, body = routes.get(path, self._find_nothing)()
            self._send(HTTPStatus.OK, title, body)
        except Refused as refusal:
            form = SIGN_UP_FORM if path == "/signup" else '<p><a href="./">Sign up</a></p>'
            body = alert(str(refusal)) + (refusal.form or form)
            self._send(refusal.status, "That did not work", body)

    def _find_nothing(self) -> tuple[str, str]:
        raise Refused(HTTPStatus.NOT_FOUND, "there is no such page")

    def _show_sign_up(self) -> tuple[str, str]:
        return "Sign up", SIGN_UP_FORM

    def _sign_up(self) -> tuple[str, str]:
        given = read_form(self._body(), {"email": _MAX_ADDRESS, "name": _MAX_NAME}, {"email"})
        address = checked_address(given["email"])
        sign_up = self.server.sign_ups.begin(address, given["name"])
        link = f"{self.server.url}/confirm?" + urlencode({"email": address, "token": sign_up.token})
        settings = self.server.settings
        try:
            mail = compose(sign_up, settings.sender, link)
            send(mail, settings.smtp, settings.sender, address)
        except Refused:
            self.server.sign_ups.drop(sign_up)
            raise
        return "Check your mail", code_form(address)

    def _verify(self) -> tuple[str, str]:
        given = read_form(self._body(), {"email": _MAX_ADDRESS, "code": 6}, {"email", "code"})
        if not _CODE.fullmatch(given["code"]):
            raise _bad("code must be the 6 digits from the mail")
        address = checked_address(given["email"])
        return _welcome(self.server.sign_ups.finish_by_code(address, given["code"]))

    def _confirm(self) -> tuple[str, str]:
        # An application for strangers asks for a click here: mail scanners open links, too.
        query = self.path.partition("?")[2]
        given = read_form(query, {"email": _MAX_ADDRESS, "token": 64}, {"email", "token"})
        if not _TOKEN.fullmatch(given["token"]):
            raise _bad("this link is not whole; copy all of it from the mail")
        address = checked_address(given["email"])
        return _welcome(self.server.sign_ups.finish_by_link(address, given["token"]))

    def _body(self) -> str:
        kind = self.headers.get_content_type()
        if kind != "application/x-www-form-urlencoded":
            raise Refused(
                HTTPStatus.UNSUPPORTED_MEDIA_TYPE,
                f"Content-Type must be application/x-www-form-urlencoded, not {kind}",
            )
        length = self.headers.get("Content-Length", "")
        if not re.fullmatch("[0-9]{1,9}", length):
            raise Refused(HTTPStatus.LENGTH_REQUIRED, "Content-Length is needed")
        if int(length) > _MAX_BODY_BYTES:
            raise Refused(
                HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"the form is over {_MAX_BODY_BYTES} bytes"
            )
        try:
            return self.rfile.read(int(length)).decode("ascii")
        except (UnicodeDecodeError, TimeoutError) as failure:
            raise _bad("the form did not come whole, or is not encoded") from failure

    def log_request(self, code: int | str = "-", _size: int | str = "-") -> None:
        """Logs the request without the query, which holds the link's token."""
        path = self.path.partition("?")[0] if hasattr(self, "path") else "-"
        self.log_message("%s %s %s", self.command, path, int(code))

    def _send(self, status: HTTPStatus, title: str, body: str) -> None:
        content = page(title, body)
        self.send_response(status)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(content)))
        self.send_header("Cache-Control", "no-store")
        self.send_header("Referrer-Policy", "no-referrer")
        self.end_headers()
        self.wfile.write(content)


def _welcome(sign_up: SignUp) -> tuple[str, str]:
    title = f"Welcome, {sign_up.name}" if sign_up.name else "Welcome"
    return title, f"<p>{html.escape(sign_up.address)} is confirmed.</p>"


class SignUpServer(ThreadingHTTPServer):
    """The application; at most 64 requests at a time, the others wait in the listener's queue."""

    daemon_threads = True
    request_queue_size = 256

    def __init__(self, settings: Settings) -> None:
        super().__init__(settings.listen, Handler)
        self.settings = settings
        self.sign_ups = SignUps()
        self._connections = threading.BoundedSemaphore(_MAX_CONNECTIONS)
        host, port = settings.listen[0], self.server_address[1]
        self.url = settings.public_url or f"http://{host}:{port}"

    def process_request(self, request: object, client_address: object) -> None:
        """Handles a request in a thread of its own, as soon as one is free."""
        self._connections.acquire()
        super().process_request(request, client_address)  # type: ignore[arg-type]

    def process_request_thread(self, request: object, client_address: object) -> None:
        """Runs in that thread."""
        try:
            super().process_request_thread(request, client_address)  # type: ignore[arg-type]
        finally:
            self._connections.release()

    def handle_error(self, request: object, client_address: object) -> None:
        """A client that went away is no error of ours."""
        if not isinstance(sys.exc_info()[1], ConnectionError | TimeoutError):
            super().handle_error(request, client_address)  # type: ignore[arg-type]


def _host_and_port(text: str) -> tuple[str, int]:
    host, _, port = text.rpartition(":")
    if not host or not re.fullmatch("[0-9]{1,5}", port) or int(port) > 65535:
        raise argparse.ArgumentTypeError(f"must be HOST:PORT, such as 127.0.0.1:2525, not {text!r}")
    return host, int(port)


def _as_given(text: str) -> str:
    return text


def _tls(text: str) -> str:
    if text not in _TLS:
        raise argparse.ArgumentTypeError(f"must be one of {', '.join(_TLS)}, not {text!r}")
    return text


def _sender(text: str) -> str:
    if len(text) > _MAX_ADDRESS or not _ADDRESS.fullmatch(text):
        raise argparse.ArgumentTypeError(f"must be an address such as a@b.example, not {text!r}")
    return text


def _public_url(text: str) -> str:
    parts = urlsplit(text)
    if text and (parts.scheme not in ("http", "https") or not parts.netloc or parts.query):
        raise argparse.ArgumentTypeError(f"must be such as https://host/path, not {text!r}")
    return text.rstrip("/")


def read_settings(arguments: list[str]) -> Settings:
    """Flags win over the environment; ends the program where one is wrong."""
    parser = argparse.ArgumentParser(description="An application with a sign-up by email.")
    for name, variable, default, read, means in [
        ("--listen", "SIGNUP_LISTEN", "127.0.0.1:8080", _host_and_port, "port 0: a free one"),
        ("--smtp", "SIGNUP_SMTP", "127.0.0.1:25", _host_and_port, "the mail server"),
        ("--smtp-tls", "SIGNUP_SMTP_TLS", "none", _tls, f"one of {', '.join(_TLS)}"),
        ("--smtp-user", "SIGNUP_SMTP_USER", "", _as_given, "of the login there"),
        ("--smtp-password", "SIGNUP_SMTP_PASSWORD", "", _as_given, "of the login there"),
        ("--sender", "SIGNUP_SENDER", "robot@shop.example", _sender, "From of the mails"),
        ("--public-url", "SIGNUP_PUBLIC_URL", "", _public_url, "of links, if not where it listens"),
    ]:
        parser.add_argument(
            name,
            type=read,
            default=os.environ.get(variable) or default,
            help=f"{means} (or {variable}; default: {default or 'none'})",
        )
    chosen = parser.parse_args(arguments)
    if bool(chosen.smtp_user) != bool(chosen.smtp_password):
        parser.error("--smtp-user and --smtp-password must be given together")
    host, port = chosen.smtp
    smtp = MailServer(host, port, chosen.smtp_tls, chosen.smtp_user, chosen.smtp_password)
    return Settings(chosen.listen, smtp, chosen.sender, chosen.public_url)


def main() -> int:
    """Serves until it is interrupted."""
    settings = read_settings(sys.argv[1:])
    try:
        server = SignUpServer(settings)
    except OSError as failure:
        host, port = settings.listen
        print(f"cannot listen at {host}:{port}: {failure}", file=sys.stderr)
        return 1
    print(f"listening at {server.url}", flush=True)
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        server.server_close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
