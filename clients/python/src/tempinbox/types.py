"""The answers of the API, as dataclasses with the names of the contract."""

# Made by tools/generate/python_client.py; ./dev check python --fix makes it again.

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from tempinbox._answers import Answer

__all__ = [
    "AcceptedStep",
    "Account",
    "Answer",
    "Attachment",
    "AttachmentContent",
    "AttemptStep",
    "Authentication",
    "Capture",
    "CapturePorts",
    "ConnectedStep",
    "CreatedInboxes",
    "CreatedWebhook",
    "CreationError",
    "CreationResult",
    "DeletedEmail",
    "DeletedInbox",
    "DeletedInboxes",
    "DeletedWebhook",
    "Delivery",
    "DeliveryAttempt",
    "DeliveryList",
    "DeliveryStep",
    "Domain",
    "DomainList",
    "DuplicateMark",
    "Email",
    "EmailCode",
    "EmailLink",
    "EmailList",
    "EmailReceivedEvent",
    "EmailReceivedEventData",
    "EmailSummary",
    "EmptiedInbox",
    "Envelope",
    "ErrorBody",
    "EventList",
    "FaultNotApplied",
    "FaultStep",
    "Faults",
    "FeedEvent",
    "Header",
    "HeaderAddress",
    "Inbox",
    "InboxCreatedEvent",
    "InboxCreatedEventData",
    "InboxExpiredEvent",
    "InboxExpiredEventData",
    "InboxList",
    "Limits",
    "NearMiss",
    "PublishedStep",
    "RawEmail",
    "RefusedRecipient",
    "Rejection",
    "RejectionList",
    "Replay",
    "Retention",
    "RotatedSecret",
    "RoutedRule",
    "RulesStep",
    "SearchedEmails",
    "SenderAttempt",
    "SenderMark",
    "SenderMarks",
    "SenderReport",
    "SentMessage",
    "StoredStep",
    "Timeline",
    "TimelineRule",
    "TimelineStep",
    "Usage",
    "UsageNow",
    "UsageOfDay",
    "WaitResult",
    "Webhook",
    "WebhookList",
]


@dataclass(frozen=True, kw_only=True)
class Retention(Answer):
    """How the inbox keeps mail while it lives."""

    max_age_seconds: int | None
    """Older emails are deleted, within a minute or so; null if they stay as long as the inbox."""
    when_full: Literal["refuse", "dropOldest"]
    """Whether senders are refused once the inbox has as many emails or bytes as an inbox may have
    (`refuse`), or the oldest emails are deleted before, from nine tenths down to eight
    (`dropOldest`).
    """


@dataclass(frozen=True, kw_only=True)
class CapturePorts(Answer):
    """`CapturePorts` of the contract."""

    starttls: list[int]
    """Ports that begin in plain text; TLS comes by STARTTLS."""
    tls: list[int]
    """Ports with TLS from the first byte."""
    clear: list[int]
    """Ports without TLS; the operator has them for tests alone."""


@dataclass(frozen=True, kw_only=True)
class Capture(Answer):
    """The login of an inbox. What is sent with it lands there, to whomever it is addressed."""

    host: str | None
    """Where to send; null if the service has stopped taking such mail."""
    ports: CapturePorts
    user: str
    """`cap_` and 12 characters"""
    password: str | None = None
    """Shown when it is made, by `POST` with or without rotation, and in the repeats of that
    request with its `Idempotency-Key`; then it is absent.
    """
    url: str | None = None
    """All of it as one URL; absent where the password is."""
    created_at: datetime
    last_used_at: datetime | None
    """The last login, to within an hour; null before the first."""
    previous_valid_until: datetime | None
    """Until then the password before the last rotation is good; null if it ended at once"""


@dataclass(frozen=True, kw_only=True)
class Inbox(Answer):
    """`Inbox` of the contract."""

    inbox_id: str
    """Names the inbox in every other call."""
    email_address: str
    """Send mail here."""
    name: str | None
    """Yours."""
    tags: list[str]
    """Yours: to find and end inboxes by."""
    metadata: dict[str, str]
    """Pairs of your own; the service does not interpret them."""
    status: Literal["active", "expired"]
    """Whether it takes mail."""
    email_count: int
    """Emails in it now."""
    last_sequence: int
    """The highest `sequence` given out; 0 before the first email."""
    last_email_at: datetime | None
    """When the newest email arrived."""
    created_at: datetime
    expires_at: datetime
    """When it ends by itself."""
    expired_at: datetime | None
    """When it ended; null while it takes mail."""
    renew_on_use: bool
    """Whether its use moves `expiresAt` to `ttlSeconds` from then, once a tenth of that has
    passed: a login where it has one, else a read by the API
    """
    retention: Retention
    capture: Capture | None
    """Its login; null if it has none or has ended."""


@dataclass(frozen=True, kw_only=True)
class InboxList(Answer):
    """`InboxList` of the contract."""

    inboxes: list[Inbox]
    next_cursor: str | None


@dataclass(frozen=True, kw_only=True)
class DeletedInboxes(Answer):
    """`DeletedInboxes` of the contract."""

    deleted_count: int
    """How many inboxes were ended."""


@dataclass(frozen=True, kw_only=True)
class CreationError(Answer):
    """Why one inbox of a batch was refused, as the response to its own request would say."""

    status_code: int
    """The HTTP status."""
    error: str
    """Its name."""
    message: str
    """For people."""
    code: str
    """The reason for programs, as in `X-Error-Code`."""


@dataclass(frozen=True, kw_only=True)
class CreationResult(Answer):
    """`CreationResult` of the contract."""

    inbox: Inbox | None
    """The new inbox; null if it was refused."""
    error: CreationError | None
    """Why it was refused; null if it was created."""


@dataclass(frozen=True, kw_only=True)
class CreatedInboxes(Answer):
    """`CreatedInboxes` of the contract."""

    results: list[CreationResult]
    """A result for each inbox of the request, in its order."""


@dataclass(frozen=True, kw_only=True)
class DeletedInbox(Answer):
    """`DeletedInbox` of the contract."""

    inbox_id: str
    deleted: Literal[True]


@dataclass(frozen=True, kw_only=True)
class HeaderAddress(Answer):
    """An address that a header names. Of a field the first 100 are shown, of an address and of a
    name the first 320 bytes; `headers` and the message itself (`/raw`) have all.
    """

    address: str
    """As it stands in the header - also a text that is no address."""
    name: str
    """The display name, decoded, or `""`."""


@dataclass(frozen=True, kw_only=True)
class EmailCode(Answer):
    """`EmailCode` of the contract."""

    value: str
    """Type this."""
    score: float
    """How likely it is a one-time code."""
    part: Literal["subject", "text", "html"]
    """Where it stands."""
    offset: int
    """In characters from the start of that part."""


@dataclass(frozen=True, kw_only=True)
class EmailLink(Answer):
    """`EmailLink` of the contract."""

    url: str
    text: str
    """What the link was shown as; `""` where the address stood alone."""
    kind: Literal["verify", "reset", "unsubscribe", "other"]


@dataclass(frozen=True, kw_only=True)
class EmailSummary(Answer):
    """`EmailSummary` of the contract."""

    email_id: str
    inbox_id: str
    """The inbox it is in."""
    sequence: int
    """Its place among the inbox's emails."""
    from_: str
    """The address in From; the envelope sender's where there is none, `""` where that is empty
    too.
    """
    from_name: str
    """The display name in From, or `""`."""
    to: list[HeaderAddress]
    """The To header; it need not name the recipients."""
    recipients: list[str]
    """This inbox's recipients as the sender gave them in the SMTP envelope, with their `+tag`."""
    subject: str
    """Decoded, in one line; `""` where there is none."""
    preview: str
    """How the text begins."""
    received_at: datetime
    size_bytes: int
    """Of the whole message as received."""
    attachment_count: int
    is_read: bool
    """Yours to set."""
    text: str | None = None
    """Only with `include=text`: as in the whole email."""
    codes: list[EmailCode] | None = None
    """Only with `include=codes`: as in the whole email."""
    links: list[EmailLink] | None = None
    """Only with `include=links`: as in the whole email."""


@dataclass(frozen=True, kw_only=True)
class SearchedEmails(Answer):
    """How far a list with filters looked for this page. Absent without filters."""

    emails: int
    """Emails looked at, at most 2,000."""
    texts: int
    """Messages opened for `text` and `header.<name>`, at most 500."""
    back_to: datetime | None
    """`receivedAt` of the last email looked at; null if there was none."""


@dataclass(frozen=True, kw_only=True)
class EmailList(Answer):
    """`EmailList` of the contract."""

    emails: list[EmailSummary]
    next_cursor: str | None
    searched: SearchedEmails | None = None


@dataclass(frozen=True, kw_only=True)
class EmptiedInbox(Answer):
    """`EmptiedInbox` of the contract."""

    inbox_id: str
    deleted_count: int
    """How many emails were deleted."""


@dataclass(frozen=True, kw_only=True)
class Header(Answer):
    """`Header` of the contract."""

    name: str
    value: str


@dataclass(frozen=True, kw_only=True)
class Attachment(Answer):
    """`Attachment` of the contract."""

    attachment_id: str
    """The part's place in the message."""
    filename: str
    """Safe to show; made up where there is none, such as `unnamed-1.ics`."""
    content_type: str
    size_bytes: int
    """Decoded."""
    content_id: str | None
    """What `cid:` links in the HTML name."""
    is_inline: bool
    """Meant to be shown within the text."""
    sha256: str | None
    """The SHA-256 of the decoded bytes; null for mails that are deep within attached mails."""


@dataclass(frozen=True, kw_only=True)
class Authentication(Answer):
    """Results of the sender's authentication; null until there are any."""

    spf: str | None
    dkim: str | None
    dmarc: str | None


@dataclass(frozen=True, kw_only=True)
class Envelope(Answer):
    """The values of the SMTP envelope, as opposed to those of the header. Its recipients stand in
    `recipients`.
    """

    mail_from: str
    """`""` for bounces."""
    remote_address: str
    helo: str
    tls: str | None
    """The TLS version; null for plain text."""
    login: str | None
    """The user of the login that it was sent with; null for mail from outside."""


@dataclass(frozen=True, kw_only=True)
class RoutedRule(Answer):
    """`RoutedRule` of the contract."""

    rule_id: str
    is_match: bool


@dataclass(frozen=True, kw_only=True)
class Email(Answer):
    """`Email` of the contract."""

    email_id: str
    inbox_id: str
    """The inbox it is in."""
    sequence: int
    """Its place among the inbox's emails."""
    from_: str
    """The address in From; the envelope sender's where there is none, `""` where that is empty
    too.
    """
    from_name: str
    """The display name in From, or `""`."""
    to: list[HeaderAddress]
    """The To header; it need not name the recipients."""
    recipients: list[str]
    """This inbox's recipients as the sender gave them in the SMTP envelope, with their `+tag`."""
    subject: str
    """Decoded, in one line; `""` where there is none."""
    preview: str
    """How the text begins."""
    received_at: datetime
    size_bytes: int
    """Of the whole message as received."""
    attachment_count: int
    is_read: bool
    """Yours to set."""
    cc: list[HeaderAddress]
    """The Cc header."""
    bcc: list[HeaderAddress]
    """Who got it unseen: of the Bcc header and of `recipients`, those that neither To nor Cc
    names.
    """
    reply_to: list[HeaderAddress]
    """The Reply-To header."""
    message_id: str | None
    """Of the Message-ID header."""
    date: datetime | None
    """Of the Date header - what the sender claims; null for what is no date with a time."""
    headers: list[Header]
    """All of them, decoded, in their order."""
    text: str | None
    """The plain text, of several parts one below the other; made from the HTML where there is only
    that.
    """
    html: str | None
    """As sent, decoded only: sanitize it before you show it"""
    attachments: list[Attachment]
    """Inline parts included."""
    codes: list[EmailCode]
    """One-time codes, likeliest first."""
    links: list[EmailLink]
    """In the order they appear."""
    authentication: Authentication | None
    envelope: Envelope
    routing: list[RoutedRule] | None
    """Every routing rule of when the email came, and whether it matched (Premium, for 30 days);
    null if that is not known, and for a key without `webhooks:read`.
    """
    defects: list[str]
    """The defects in the message's form, such as `missing_end_boundary`, and
    `signature_not_verified`, and `html_cut` (of the HTML, what is past its bound of work counts
    as hidden); empty for a valid message.
    """


@dataclass(frozen=True, kw_only=True)
class NearMiss(Answer):
    """`NearMiss` of the contract."""

    email_id: str
    field: str
    """The filter, such as `subject` or `header.x-run`; of several that fail the first in the order
    in which the operation lists them.
    """
    expected: str
    """Its value as it was given."""
    actual: str
    """What the email has there: of a link filter the kinds with their numbers, of `hasAttachment`
    the number, of `text` how it begins.
    """


@dataclass(frozen=True, kw_only=True)
class WaitResult(Answer):
    """`WaitResult` of the contract."""

    outcome: Literal["matched", "violated", "timeout", "inbox_ended", "draining"]
    """`matched` means that `email` is the matching one with the lowest sequence"""
    email: Email | None
    matched: int
    """How many match, at most `minCount`."""
    emails: list[EmailSummary]
    """With a `minCount` above 1 those that match, in the order of their `sequence`, also where
    they are fewer when the time is over; else empty.
    """
    last_sequence: int
    """The inbox's, at the time of the answer."""
    waited_ms: int
    near_misses: list[NearMiss]
    """The newest emails above `after` that did not match, each with the first filter it failed."""


@dataclass(frozen=True, kw_only=True)
class Rejection(Answer):
    """Refused attempts to mail an inbox, of one sender for one reason."""

    reason: Literal["too_large", "inbox_full", "over_rate", "inbox_ended", "bad_login", "fault"]
    """The message is larger than the plan allows (`too_large`); the inbox is full (`inbox_full`);
    it receives more mail a minute than it may (`over_rate`); it has ended (`inbox_ended`); the
    password was wrong for the user of its login (`bad_login`); the inbox's faults refused it on
    purpose (`fault`).
    """
    mail_from: str
    """The sender as given in MAIL, chosen by it; `""` for bounces, and for what was refused at the
    login.
    """
    reply: str
    """The last SMTP reply that the sender got."""
    attempt_count: int
    """How many times a recipient or a message was refused."""
    first_at: datetime
    """When the first of them was refused."""
    last_at: datetime
    """When the last of them was refused."""


@dataclass(frozen=True, kw_only=True)
class RejectionList(Answer):
    """`RejectionList` of the contract."""

    rejections: list[Rejection]


@dataclass(frozen=True, kw_only=True)
class FaultStep(Answer):
    """A step of an inbox's faults."""

    stage: Literal["auth", "mail", "rcpt", "data", "end"]
    reply: str | None
    """The reply; null if it is the ordinary one or there is none."""
    delay_seconds: int
    """Time before the reply or the cut."""
    cut: Literal["unstored", "stored", None] | None
    """Whether the connection is closed without a reply, and whether the message is stored then."""
    times: int | None
    """The first so many uses."""
    for_seconds: int | None
    """So long from the first use on."""
    above_per_minute: int | None
    """What is past so many transactions in each 60 s."""
    every: int | None
    """Each use that is a multiple of it."""
    to: str | None
    """For recipients that contain this text; null for all."""
    per: Literal["recipient", None] | None
    """Whether each recipient is counted by itself."""
    used: int
    """In how many transactions it was played; with `per` by recipient."""


@dataclass(frozen=True, kw_only=True)
class Faults(Answer):
    """`Faults` of the contract."""

    steps: list[FaultStep]


@dataclass(frozen=True, kw_only=True)
class RefusedRecipient(Answer):
    """A recipient that was refused at RCPT."""

    recipient: str
    """As given."""
    reply: str | None
    """The reply; null if the connection was closed without one."""
    step: int | None
    """The index of the inbox's fault step that refused it; null if none did."""


@dataclass(frozen=True, kw_only=True)
class SenderAttempt(Answer):
    """One SMTP transaction of a sender, as far as it was for this inbox."""

    number: int
    """From 1 on, in the order of time over all messages of the report; marks name it."""
    at: datetime
    """When it ended."""
    stage: Literal["auth", "mail", "rcpt", "data", "end"]
    """How far it came."""
    reply: str | None
    """The reply that ended it; null if the connection was closed without one."""
    step: int | None
    """The index of the inbox's fault step that was played there; null if none was."""
    refused: list[RefusedRecipient]
    """Recipients that were refused at RCPT, also where the transaction went on for others; of its
    first ten.
    """
    remote_address: str
    """The IP address it came from."""
    tls: str | None
    """The TLS version; null without TLS."""
    pipelined: bool
    """Whether MAIL or RCPT came together with the next command."""
    chunked: bool
    """Whether the message came by BDAT."""


@dataclass(frozen=True, kw_only=True)
class SentMessage(Answer):
    """The attempts to send one message."""

    message_id: str | None
    """The field Message-ID; null if it has none or was never read."""
    mail_from: str
    """The sender as given in MAIL; `""` for bounces, and if it is not known."""
    recipients: list[str]
    """Its recipients in this inbox; the first ten of them."""
    recipient_count: int
    """How many recipients it has in this inbox."""
    attempts: list[SenderAttempt]
    """The oldest first."""
    delays_seconds: list[float]
    """From each attempt to the next, to the millisecond."""
    state: Literal["accepted", "refused", "open"]
    """A recipient was deferred and did not get it yet (`open`); else somebody has it (`accepted`),
    or nobody has (`refused`).
    """
    email_ids: list[str]
    """The emails of it in this inbox."""
    ambiguous: bool
    """Whether other messages may be among its attempts, which then count as its own."""


@dataclass(frozen=True, kw_only=True)
class SenderMark(Answer):
    """What attempts show of their senders."""

    value: Literal["yes", "no", "not_seen"]
    attempts: list[int]
    """Numbers of the attempts that show it; the first hundred."""
    section: str
    """Where it is written, such as `RFC 5321 4.5.4.1`."""
    note: str | None
    """What is worth knowing beside it."""


@dataclass(frozen=True, kw_only=True)
class DuplicateMark(Answer):
    """Whether a message is there more than once, by its Message-ID."""

    value: Literal["yes", "no", "not_seen"]
    count: int
    """How many emails there are beyond the first of each message and recipient."""
    attempts: list[int]
    """Numbers of the attempts that show it; the first hundred."""
    section: str
    """Where it is written, such as `RFC 5321 6.1`."""
    note: str | None
    """What is worth knowing beside it."""


@dataclass(frozen=True, kw_only=True)
class SenderMarks(Answer):
    """`retriesAfter4xx`: a message that was deferred (4xx, or cut off without a reply) came again.
    `backsOff`: it did so after a pause of half a second or more, and pauses did not shrink to
    less than half of one of a minute or more; one below 60 s is noted, and after a connection
    that was cut none is asked for. `stopsAfter5xx`: a message that was refused for good did not
    come again within ten seconds. `keepsOtherRecipients`: where a recipient was refused the
    others got the message. `sameMessageId`: a message that came again had its Message-ID; `no`
    if the same subject and body came for the same recipients with another one. `duplicates`: a
    message is there more than once. The others say whether a sender used TLS, pipelining, QUIT,
    and SIZE at MAIL, at least once.
    """

    retries_after4xx: SenderMark
    backs_off: SenderMark
    stops_after5xx: SenderMark
    keeps_other_recipients: SenderMark
    same_message_id: SenderMark
    duplicates: DuplicateMark
    tls: SenderMark
    pipelining: SenderMark
    quit: SenderMark
    size: SenderMark


@dataclass(frozen=True, kw_only=True)
class FaultNotApplied(Answer):
    """A fault of the inbox that a sender did not meet, or not as long as it was to be."""

    at: datetime
    """When the attempt ended."""
    attempt: int
    """The attempt's number."""
    stage: Literal["auth", "mail", "rcpt", "data", "end"]
    """Where it was due."""
    reason: Literal["sharedTransaction", "noAnswer", "tooManyDelays", "tooManyRecipients"]
    """The message was for other inboxes too, which had not the same one due (`sharedTransaction`);
    it could not be counted within 2 s (`noAnswer`); as many replies as may wait did so already,
    or the message had waited for 60 s (`tooManyDelays`); the step counts as many recipients as
    it can (`tooManyRecipients`).
    """


@dataclass(frozen=True, kw_only=True)
class SenderReport(Answer):
    """`SenderReport` of the contract."""

    messages: list[SentMessage]
    marks: SenderMarks
    not_applied: list[FaultNotApplied]


@dataclass(frozen=True, kw_only=True)
class Domain(Answer):
    """`Domain` of the contract."""

    domain: str
    is_default: bool
    """Whether inboxes get it when you name none."""
    takes_subdomains: bool
    """Whether you may have catch-alls on names below it."""
    is_subdomain: bool
    """Whether it is a subdomain that your account alone holds."""


@dataclass(frozen=True, kw_only=True)
class DomainList(Answer):
    """`DomainList` of the contract."""

    domains: list[Domain]


@dataclass(frozen=True, kw_only=True)
class DeletedEmail(Answer):
    """`DeletedEmail` of the contract."""

    email_id: str
    deleted: Literal[True]


@dataclass(frozen=True, kw_only=True)
class RawEmail(Answer):
    """`RawEmail` of the contract."""

    email_id: str
    content: str


@dataclass(frozen=True, kw_only=True)
class ConnectedStep(Answer):
    """A mail server connected. The time is not stored."""

    step: Literal["connected"]
    at: datetime | None
    note: str | None
    remote_address: str
    """The mail server that delivered it."""
    helo: str
    """The name it gave."""
    tls: str | None
    """The version of TLS; null without encryption."""
    login: str | None
    """The user of its login; null without one."""


@dataclass(frozen=True, kw_only=True)
class AcceptedStep(Answer):
    """The whole message had been received."""

    step: Literal["accepted"]
    at: datetime
    note: str | None
    mail_from: str
    """The envelope sender; `""` for bounces."""
    recipients: list[str]
    """This inbox's recipients as the sender gave them."""
    size_bytes: int


@dataclass(frozen=True, kw_only=True)
class StoredStep(Answer):
    """The email was committed and can be read from then on. The time is known only until the event
    is published.
    """

    step: Literal["stored"]
    at: datetime | None
    note: str | None


@dataclass(frozen=True, kw_only=True)
class PublishedStep(Answer):
    """The event was published to webhooks. The time is not stored."""

    step: Literal["published"]
    at: datetime | None
    note: str | None
    is_published: bool
    """False while the event still waits."""


@dataclass(frozen=True, kw_only=True)
class TimelineRule(Answer):
    """`TimelineRule` of the contract."""

    rule_id: str
    name: str | None
    """As it is called today; null where it was deleted."""
    is_match: bool


@dataclass(frozen=True, kw_only=True)
class RulesStep(Answer):
    """Routing rules were evaluated. The step is absent without rules, or before they were
    evaluated.
    """

    step: Literal["rules"]
    at: datetime | None
    note: str | None
    rules: list[TimelineRule]
    """In their order."""


@dataclass(frozen=True, kw_only=True)
class DeliveryStep(Answer):
    """A webhook was chosen to receive the email."""

    step: Literal["delivery"]
    at: datetime
    note: str | None
    delivery_id: str
    """Readable with `webhookId`, as long as the webhook exists."""
    webhook_id: str
    url: str | None
    """As it is today; null where the webhook was deleted."""
    status: Literal["pending", "succeeded", "failed"]
    """What has become of it by now."""
    next_attempt_at: datetime | None
    """Of a pending one; null otherwise."""
    reason: str | None
    """Why it failed, where that is known."""
    rule_ids: list[str]
    """The routing rules that chose the webhook."""


@dataclass(frozen=True, kw_only=True)
class AttemptStep(Answer):
    """A request was sent to the webhook."""

    step: Literal["attempt"]
    at: datetime
    note: str | None
    webhook_id: str
    number: int
    """From 1 in each delivery."""
    status_code: int | None
    """What the receiver answered; null where no answer came."""
    duration_ms: int
    outcome: Literal["succeeded", "failed"]
    error: str | None
    """What went wrong on the way; null where nothing did."""
    next_attempt_at: datetime | None
    """After the newest attempt of a pending delivery; null otherwise."""


TimelineStep = (
    ConnectedStep
    | AcceptedStep
    | StoredStep
    | PublishedStep
    | RulesStep
    | DeliveryStep
    | AttemptStep
    | Answer
)


@dataclass(frozen=True, kw_only=True)
class Timeline(Answer):
    """`Timeline` of the contract."""

    email_id: str
    inbox_id: str
    """The inbox it is in."""
    steps: list[TimelineStep]
    """The steps in the order of time; one without a time stands behind its cause."""
    missing: list[Literal["webhooks_unavailable", "webhooks_scope_required"]]
    """Why the steps `rules`, `delivery` and `attempt` are absent, whatever happened"""
    is_truncated: bool
    """True if there are more than 100 deliveries, 10 attempts of one (the newest are listed) or
    100 rules (those that matched come first).
    """


@dataclass(frozen=True, kw_only=True)
class AttachmentContent(Answer):
    """`AttachmentContent` of the contract."""

    attachment_id: str
    filename: str
    content_type: str
    size_bytes: int
    content: str


@dataclass(frozen=True, kw_only=True)
class EmailReceivedEventData(Answer):
    """`EmailReceivedEventData` of the contract."""

    email_id: str
    inbox_id: str
    from_: str
    subject: str


@dataclass(frozen=True, kw_only=True)
class EmailReceivedEvent(Answer):
    """`EmailReceivedEvent` of the contract."""

    event: Literal["email.received"]
    timestamp: datetime
    """When it arrived."""
    data: EmailReceivedEventData


@dataclass(frozen=True, kw_only=True)
class InboxCreatedEventData(Answer):
    """`InboxCreatedEventData` of the contract."""

    inbox_id: str
    email_address: str
    created_at: datetime
    expires_at: datetime


@dataclass(frozen=True, kw_only=True)
class InboxCreatedEvent(Answer):
    """`InboxCreatedEvent` of the contract."""

    event: Literal["inbox.created"]
    timestamp: datetime
    data: InboxCreatedEventData


@dataclass(frozen=True, kw_only=True)
class InboxExpiredEventData(Answer):
    """`InboxExpiredEventData` of the contract."""

    inbox_id: str
    email_address: str
    expired_at: datetime
    reason: Literal["ttl", "deleted"]
    """Whether its time was over or it was ended."""


@dataclass(frozen=True, kw_only=True)
class InboxExpiredEvent(Answer):
    """`InboxExpiredEvent` of the contract."""

    event: Literal["inbox.expired"]
    timestamp: datetime
    data: InboxExpiredEventData


@dataclass(frozen=True, kw_only=True)
class FeedEvent(Answer):
    """`FeedEvent` of the contract."""

    event_id: str
    """The `webhook-id` of its webhooks and the `ce_id` of its record"""
    cursor: str
    """The place behind this event."""
    payload: EmailReceivedEvent | InboxCreatedEvent | InboxExpiredEvent | None
    """The body that a webhook gets, byte for byte."""


@dataclass(frozen=True, kw_only=True)
class EventList(Answer):
    """`EventList` of the contract."""

    events: list[FeedEvent]
    next_cursor: str
    """The place behind all events that were looked at, also those that the filters left out"""
    has_more: bool
    """Whether more was there already; ask again at once."""


@dataclass(frozen=True, kw_only=True)
class Webhook(Answer):
    """`Webhook` of the contract."""

    webhook_id: str
    url: str
    events: list[Literal["email.received", "inbox.created", "inbox.expired"]]
    description: str
    is_enabled: bool
    """Whether events are sent to it."""
    disabled_reason: str | None
    """Why the service switched it off; null otherwise."""
    created_at: datetime


@dataclass(frozen=True, kw_only=True)
class WebhookList(Answer):
    """`WebhookList` of the contract."""

    webhooks: list[Webhook]
    next_cursor: str | None


@dataclass(frozen=True, kw_only=True)
class CreatedWebhook(Answer):
    """`CreatedWebhook` of the contract."""

    webhook_id: str
    url: str
    events: list[Literal["email.received", "inbox.created", "inbox.expired"]]
    description: str
    is_enabled: bool
    """Whether events are sent to it."""
    disabled_reason: str | None
    """Why the service switched it off; null otherwise."""
    created_at: datetime
    secret: str
    """Signs every delivery"""


@dataclass(frozen=True, kw_only=True)
class DeletedWebhook(Answer):
    """`DeletedWebhook` of the contract."""

    webhook_id: str
    deleted: Literal[True]


@dataclass(frozen=True, kw_only=True)
class DeliveryAttempt(Answer):
    """`DeliveryAttempt` of the contract."""

    at: datetime
    status_code: int | None
    """What the receiver answered; null where no answer came."""
    duration_ms: int
    error: str | None
    """What went wrong on the way; null where nothing did."""
    response_body: str | None
    """The first KiB of the answer; null where it was empty."""


@dataclass(frozen=True, kw_only=True)
class Delivery(Answer):
    """`Delivery` of the contract."""

    delivery_id: str
    webhook_id: str
    """The webhook that it is for."""
    event_id: str
    """The `webhook-id` of every attempt"""
    event: Literal["email.received", "inbox.created", "inbox.expired"]
    status: Literal["pending", "succeeded", "failed"]
    attempts: list[DeliveryAttempt]
    """The newest twenty attempts, oldest first"""
    next_attempt_at: datetime | None
    """Of a pending one; null otherwise."""
    created_at: datetime
    rule_ids: list[str]
    """The routing rules that chose the webhook."""


@dataclass(frozen=True, kw_only=True)
class DeliveryList(Answer):
    """`DeliveryList` of the contract."""

    deliveries: list[Delivery]
    next_cursor: str | None


@dataclass(frozen=True, kw_only=True)
class Replay(Answer):
    """`Replay` of the contract."""

    webhook_id: str
    replayed_count: int
    """The number of deliveries that were found at the time of the request"""


@dataclass(frozen=True, kw_only=True)
class RotatedSecret(Answer):
    """`RotatedSecret` of the contract."""

    webhook_id: str
    secret: str
    """Signs every delivery from now on"""
    previous_secret_expires_at: datetime


@dataclass(frozen=True, kw_only=True)
class Limits(Answer):
    """The limits of the plan."""

    requests_per_day: int | None
    """A UTC day; null for no limit."""
    burst_per_second: int | None
    """The requests that one API key may send in a second; null for no limit."""
    live_inboxes: int
    """Inboxes that take mail at the same time."""
    max_ttl_seconds: int
    """The longest life of an inbox."""
    max_message_bytes: int
    """The largest mail an inbox takes."""
    webhooks: int
    api_keys: int
    routing_rules: int
    captures: int
    """Inboxes with a login."""
    catch_alls: int
    """The subdomains that the account may hold."""


@dataclass(frozen=True, kw_only=True)
class UsageNow(Answer):
    """The current usage."""

    requests_today: int
    """Counted since 00:00 UTC."""
    live_inboxes: int
    webhooks: int


@dataclass(frozen=True, kw_only=True)
class Account(Answer):
    """`Account` of the contract."""

    account_id: str
    """The account of the key"""
    email_address: str
    """What you sign in with."""
    plan: Literal["free", "starter", "pass7", "pro", "business", "premium"]
    plan_ends_at: datetime | None
    """When a pass ends; null for other plans."""
    limits: Limits
    usage: UsageNow


@dataclass(frozen=True, kw_only=True)
class UsageOfDay(Answer):
    """`UsageOfDay` of the contract."""

    day: str
    """The UTC day, such as `2026-11-21`."""
    requests: int
    """Counted API requests."""
    emails: int
    """Emails received."""
    deliveries: int
    """Webhook deliveries that ended, of the webhooks the account has now."""


@dataclass(frozen=True, kw_only=True)
class Usage(Answer):
    """`Usage` of the contract."""

    days: list[UsageOfDay]


@dataclass(frozen=True, kw_only=True)
class ErrorBody(Answer):
    """The body of every error."""

    status_code: int
    """The HTTP status."""
    error: str
    """Its name."""
    message: str
    """For people: the field, what was given, what is allowed."""
