"""A capture inbox: what is sent with its login, to whomever, lands there."""

import base64
import email as email_parser
import ssl
from typing import Any

from harness.accounts import Account
from harness.api import Api
from harness.suite import Suite


class Capture:
    """A capture of the account's, and where it is sent to: PORT of `ports` is the listener in the
    clear.
    """

    def __init__(self, suite: Suite, account: Account) -> None:
        self.suite = suite
        self.api: Api = account.api
        self.inbox: dict[str, Any] = account.api.new_inbox(capture=True)
        self.host = suite["SUBMISSION_HOST"]
        self.ca_file = suite["SUBMISSION_CA"]
        names = ("PORT", "STARTTLS_PORT", "TLS_PORT")
        self.ports = {name: int(suite["SUBMISSION_" + name]) for name in names}
        self.user = str(self.inbox["capture"]["user"])
        self.password = str(self.inbox["capture"]["password"])

    def server(self, port: str = "PORT") -> str:
        """host:port."""
        return f"{self.host}:{self.ports[port]}"

    def trusting(self) -> ssl.SSLContext:
        """TLS that trusts the suite's authority alone."""
        return ssl.create_default_context(cafile=self.ca_file)

    def auth(self, password: str | None = None, user: str | None = None) -> str:
        """`AUTH PLAIN` with its response."""
        return "AUTH PLAIN " + plain_response(user or self.user, password or self.password)

    def emails(self) -> list[dict[str, Any]]:
        """Everything in the inbox, the oldest first."""
        path = f"/v1/inboxes/{self.inbox['inboxId']}"
        listed = self.api.get(path + "/emails", limit=100)["emails"]
        return [self.api.get("/v1/emails/" + entry["emailId"]) for entry in reversed(listed)]

    def check_trace(self, email: dict[str, Any], *, tls: bool = True) -> None:
        """Asserts that an email came by this login, and what its Received says of that."""
        assert email["envelope"]["login"] == self.user
        assert bool(email["envelope"]["tls"]) == tls
        path = f"/v1/emails/{email['emailId']}/raw"
        raw = self.api.call("GET", path, headers={"Accept": "message/rfc822"}).content
        trace = " ".join(str(email_parser.message_from_bytes(raw)["Received"]).split())
        assert f" with ESMTP{'S' if tls else ''}A id {email['emailId']}" in trace
        assert (" for <" in trace) == (len(email["recipients"]) == 1), trace
        assert self.user not in trace


def base64_of(text: str) -> str:
    """The text as AUTH has it."""
    return base64.b64encode(text.encode()).decode()


def plain_response(user: str, password: str, acts_as: str = "") -> str:
    """The response of AUTH PLAIN (RFC 4616)."""
    return base64_of(f"{acts_as}\0{user}\0{password}")
