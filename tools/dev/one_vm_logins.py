"""Mail by login to one machine: over both ports that Docker publishes, by a client that verifies
the certificate.

A program of its own, as one_vm_load is, with a plan and the two ports as arguments.
"""

import json
import smtplib
import ssl
import sys
from dataclasses import asdict

from dev.one_vm_load import Plan, call

_TIMEOUT = 30.0
_TO = "ann@elsewhere.test"


def arguments(plan: Plan, starttls: int, tls: int) -> list[str]:
    """Returns what follows the interpreter on the command line."""
    return ["-B", "-m", "dev.one_vm_logins", json.dumps(asdict(plan)), str(starttls), str(tls)]


def _send(client: smtplib.SMTP, login: dict[str, str], subject: str) -> None:
    client.login(login["user"], login["password"])
    client.sendmail("shop@sender.test", _TO, f"To: {_TO}\r\nSubject: {subject}\r\n\r\nHello\r\n")
    client.quit()


def main() -> int:
    """Sends a mail to somebody else over each port, and looks for both in the inbox."""
    plan, starttls, tls = Plan(**json.loads(sys.argv[1])), int(sys.argv[2]), int(sys.argv[3])
    inbox = call(plan, "POST", "/v1/inboxes", {"capture": True})
    login = inbox["capture"]
    if login["ports"] != {"starttls": [starttls], "tls": [tls], "clear": []}:
        sys.exit(f"the API names other ports: {login['ports']}")
    context = ssl.create_default_context(cafile=plan.authority)

    with smtplib.SMTP("127.0.0.1", starttls, timeout=_TIMEOUT) as client:
        client.ehlo()
        if client.has_extn("auth"):
            sys.exit("a login is offered before TLS")
        client.starttls(context=context)
        _send(client, login, "over STARTTLS")
    with smtplib.SMTP_SSL("127.0.0.1", tls, timeout=_TIMEOUT, context=context) as client:
        _send(client, login, "over TLS")

    emails = call(plan, "GET", f"/v1/inboxes/{inbox['inboxId']}/emails")["emails"]
    found = sorted((email["subject"], email["recipients"]) for email in emails)
    if found != [("over STARTTLS", [_TO]), ("over TLS", [_TO])]:
        sys.exit(f"the inbox has {found}")
    print(json.dumps({"host": login["host"], "mails": len(found)}))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
