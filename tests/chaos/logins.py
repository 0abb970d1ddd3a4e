"""The senders of a chaos run that log in: where they send to, and what may not happen to them.

Whatever dies, a good login is never told that it is wrong: clients take that for final.
"""

import ssl
from collections.abc import Iterable, Iterator

from dev import services
from dev.suite import Suite

from chaos.checks import Mailboxes
from chaos.load import Mail, SubmissionListener

_FINAL = ("5", "421 4.7.0 Login is no longer valid")


def listeners(suite: Suite) -> list[SubmissionListener]:
    """Both listeners with TLS of each mail-ingest."""
    trusted = ssl.create_default_context(cafile=str(suite.context.keys.certificate))
    host = services.SUBMISSION_HOST
    ports = [it.submission for it in services.of("mail-ingest", suite.replicas) if it.submission]
    return [
        SubmissionListener(f"{host}:{port}", is_tls_at_once, trusted)
        for replica in ports
        for port, is_tls_at_once in ((replica.starttls, False), (replica.tls, True))
    ]


def check(
    mails: list[Mail], failures: Iterable[tuple[float, Exception]], mailboxes: Mailboxes
) -> Iterator[str]:
    """What was refused for good, and each mail that does not name all to whom it was sent; that
    each is there is checked as that of all mails.
    """
    if not any(mail.email_id for mail in mails):
        yield "no mail by login was accepted"
    for _, failure in failures:
        if str(failure).startswith(_FINAL):
            yield f"a sender with a good login was answered {failure}"
    captures = {mail.inboxes[0].inbox_id: mail.inboxes[0] for mail in mails}
    named = {
        row["emailId"]: row["recipients"]
        for capture in captures.values()
        for row in mailboxes.list(capture)
    }
    for mail in mails:
        if mail.email_id in named and named[mail.email_id] != mail.recipients:
            yield (
                f"{mail.chaos_id}: was sent to {', '.join(mail.recipients)}, its email names "
                f"{', '.join(named[mail.email_id])}"
            )
