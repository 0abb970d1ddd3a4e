"""An operator's mail relay."""

import email.message
import email.policy
import ssl
from pathlib import Path
from typing import Any, Literal, Self

from aiosmtpd.controller import Controller
from aiosmtpd.smtp import SMTP, AuthResult, Envelope, LoginPassword, Session
from dev.ports import free_port

from harness.waiting import eventually

Protection = Literal["none", "starttls", "tls"]


class Postbox:
    """A mail server on 127.0.0.1, with the certificate of a folder; takes mail from who signs in,
    for all but those in `replies`. Use as a context manager.
    """

    def __init__(self, folder: Path, user: str, password: str, protection: Protection) -> None:
        self._login = LoginPassword(user.encode(), password.encode())
        self._letters: list[email.message.EmailMessage] = []
        self.greeted = 0  # EHLOs
        self.refused: list[str] = []  # users whose password was wrong
        self.replies: dict[str, str] = {}  # what is said of a recipient
        self.recipients: list[str] = []
        self._tls = context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.use_certificate(folder)
        offered: dict[str, Any] = {
            "none": {},
            "starttls": {"tls_context": context},
            "tls": {"ssl_context": context},
        }[protection]
        port = free_port()
        self.address = f"127.0.0.1:{port}"
        # The library takes a connection that was TLS all along for a plain one, so it must not ask
        # for STARTTLS there.
        offered |= {
            "auth_require_tls": protection == "starttls",
            "auth_required": True,
            "authenticator": self._check,
        }
        self._server = Controller(self, hostname="127.0.0.1", port=port, **offered)

    def __enter__(self) -> Self:
        self._server.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.stop()

    def use_certificate(self, folder: Path) -> None:
        """Shows another certificate on connections from now on."""
        self._tls.load_cert_chain(folder / "certificate.pem", folder / "key.pem")

    def use_password(self, user: str, password: str) -> None:
        """Expects another password of those who sign in from now on."""
        self._login = LoginPassword(user.encode(), password.encode())

    async def handle_EHLO(  # noqa: N802 - the library calls it so
        self,
        _server: SMTP,
        session: Session,
        _envelope: Envelope,
        hostname: str,
        responses: list[str],
    ) -> list[str]:
        """Called by the library."""
        session.host_name = hostname
        self.greeted += 1
        return responses

    async def handle_RCPT(  # noqa: N802 - the library calls it so
        self,
        _server: SMTP,
        _session: Session,
        envelope: Envelope,
        address: str,
        _options: list[str],
    ) -> str:
        """Called by the library."""
        self.recipients.append(address)
        if address in self.replies:
            return self.replies[address]
        envelope.rcpt_tos.append(address)
        return "250 known"

    async def handle_DATA(  # noqa: N802 - the library calls it so
        self, _server: SMTP, _session: Session, envelope: Envelope
    ) -> str:
        """Called by the library."""
        assert isinstance(envelope.content, bytes)
        message = email.message_from_bytes(envelope.content, policy=email.policy.default)
        assert isinstance(message, email.message.EmailMessage)
        self._letters.append(message)
        return "250 kept"

    def _check(
        self, _server: SMTP, _session: Session, _envelope: Envelope, _mechanism: str, given: Any
    ) -> AuthResult:
        is_right = given == self._login
        if not is_right:
            self.refused.append(given.login.decode())
        return AuthResult(success=is_right)

    def next(self, seconds: float = 30.0) -> email.message.EmailMessage:
        """The next letter, once it is there."""
        eventually(lambda: self._letters, "a letter came", seconds=seconds)
        return self._letters.pop(0)

    def was_attempted(self, address: str) -> bool:
        """Returns whether somebody tried to write to the address."""
        return address in self.recipients

    @property
    def is_empty(self) -> bool:
        """Returns whether nothing came."""
        return not self._letters
