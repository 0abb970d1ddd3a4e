"""The client that blocks."""

# Made by tools/generate/python_client.py; ./dev check python --fix makes it again.

import base64
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import fields
from datetime import datetime
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from tempinbox import _waiting, types
from tempinbox._answers import Answer, read
from tempinbox._arguments import UNSET, Unset, unset_removed
from tempinbox._calls import Deadline, call, read_json
from tempinbox._inbox import Inbox
from tempinbox._transport import Transport
from tempinbox._values import (
    AttachmentFile,
    CodeConditions,
    EmailConditions,
    EventName,
    LinkConditions,
    LinkKind,
    NewFaultStep,
    NewInbox,
    Retention,
    conditions_of,
    fields_of,
    in_contract,
    items_of,
    moment,
    without_none,
)
from tempinbox._waiting import InboxReference, Position, id_of
from tempinbox.errors import NotFound, TempinboxError
from tempinbox.settings import read_settings

if TYPE_CHECKING:
    from typing_extensions import Unpack

A = TypeVar("A", bound=Answer)
Order = Literal["desc", "asc"]  # newest first, which is the default, or oldest first
_HOLD_SECONDS = 55  # of a request that waits for events: proxies often cut at 60
_MAX_OUTAGE_SECONDS = 86_400.0  # of the service, while events are followed
_END_SECONDS = 10.0  # for the end of an inbox whose block failed


class Tempinbox:
    """The API of a Temporary Inbox Service.

    What is not given comes from TEMPINBOX_BASE_URL and TEMPINBOX_API_KEY. `timeout` is how many
    seconds a call may take with all its retries (waits have their own). Use it in a `with` block,
    or end it with `close`.
    """

    def __init__(
        self,
        *,
        base_url: str | None = None,
        api_key: str | None = None,
        timeout: float = 30,
        transport: Transport | None = None,
    ) -> None:
        self.settings = read_settings(base_url, api_key, timeout)
        self._transport = transport or Transport()

    def __enter__(self) -> "Tempinbox":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Closes its connections."""
        self._transport.close()

    # Waiting.

    def wait_for_email(
        self,
        inbox: InboxReference,
        *,
        after: Position | None = None,
        timeout: float = 60,
        **conditions: "Unpack[EmailConditions]",
    ) -> types.Email:
        """The matching email with the lowest sequence, or WaitTimeout.

        Without `after` those emails count that came since the inbox object was read: for a new
        inbox, or where only an id is given, all.
        """
        filters = conditions_of(EmailConditions, conditions)
        wait = _waiting.begin(self.settings, inbox, filters, after, timeout)
        return self._transport.run(_waiting.wait_for_email(wait))

    def wait_for_emails(
        self,
        inbox: InboxReference,
        min_count: int,
        *,
        after: Position | None = None,
        timeout: float = 60,
        **conditions: "Unpack[EmailConditions]",
    ) -> list[types.EmailSummary]:
        """The matching emails in the order of their sequence, once there are so many, or
        WaitTimeout, whose `emails` are those that came. For the next ones give the last one as
        `after`.
        """
        filters = conditions_of(EmailConditions, conditions)
        wait = _waiting.begin(self.settings, inbox, filters, after, timeout)
        return self._transport.run(_waiting.wait_for_emails(wait, min_count))

    def wait_for_code(
        self,
        inbox: InboxReference,
        *,
        after: Position | None = None,
        timeout: float = 60,
        **conditions: "Unpack[CodeConditions]",
    ) -> str:
        """The likeliest one-time code of the first matching email that has one, or WaitTimeout."""
        filters = conditions_of(CodeConditions, conditions)
        wait = _waiting.begin(self.settings, inbox, filters, after, timeout)
        return self._transport.run(_waiting.wait_for_code(wait))

    def wait_for_link(
        self,
        inbox: InboxReference,
        *,
        kind: LinkKind | None = None,
        url: str | None = None,
        after: Position | None = None,
        timeout: float = 60,
        **conditions: "Unpack[LinkConditions]",
    ) -> str:
        """The address of a link of the first matching email that has one, or WaitTimeout.

        Without `kind` the first of `verify`, `reset`, `other`, in this order; `url` is a part of
        the link's address.
        """
        filters = conditions_of(LinkConditions, conditions)
        wait = _waiting.begin(self.settings, inbox, filters, after, timeout)
        return self._transport.run(_waiting.wait_for_link(wait, kind, url))

    def expect_no_email(
        self,
        inbox: InboxReference,
        *,
        after: Position | None = None,
        timeout: float = 5,
        **conditions: "Unpack[EmailConditions]",
    ) -> None:
        """Returns when no email matched in the whole time; UnexpectedEmail as soon as one does."""
        filters = conditions_of(EmailConditions, conditions)
        wait = _waiting.begin(self.settings, inbox, filters, after, timeout)
        self._transport.run(_waiting.expect_no_email(wait))

    def mark(self, inbox: InboxReference) -> int:
        """The position now, for `after`: take it before you trigger the mail."""
        return (self.get_inbox(inbox)).last_sequence

    @contextmanager
    def with_inbox(self, **arguments: "Unpack[NewInbox]") -> Iterator[Inbox]:
        """An inbox that ends with the block, also when the block fails; made with the arguments of
        `create_inbox`.
        """
        inbox = self.create_inbox(**arguments)
        try:
            yield inbox
        except BaseException:
            # The block's own error is the one to see, also where it is that it was cancelled.
            with self._transport.shielded(_END_SECONDS), suppress(TempinboxError):
                self.delete_inbox(inbox)
            raise
        with self._transport.shielded(), suppress(NotFound):  # the block ended it
            self.delete_inbox(inbox)

    # Inboxes.

    def create_inbox(
        self,
        *,
        local_part: str | None = None,
        domain: str | None = None,
        ttl_seconds: int | None = None,
        name: str | None = None,
        tags: Sequence[str] | None = None,
        metadata: Mapping[str, str] | None = None,
        capture: bool | None = None,
        retention: Retention | None = None,
        renew_on_use: bool | None = None,
        idempotency_key: str | None = None,
    ) -> Inbox:
        """A new inbox; without arguments one with a random address. With `capture` it has a login,
        whose password is shown this once: `inbox.capture.url`.
        """
        given = without_none(
            localPart=local_part,
            domain=domain,
            ttlSeconds=ttl_seconds,
            name=name,
            tags=items_of(tags),
            metadata=metadata,
            capture=capture,
            retention=fields_of(retention),
            renewOnUse=renew_on_use,
        )
        return self._inbox(self._json("createInbox", given, key=idempotency_key))

    def create_inboxes(
        self, inboxes: Sequence[NewInbox], *, idempotency_key: str | None = None
    ) -> "list[Inbox | types.CreationError]":
        """Up to 100 new inboxes by one request of the day, each with the arguments of
        `create_inbox`; in the place of one that was refused, why.
        """
        given = {"inboxes": in_contract(inboxes)}
        found = self._json("createInboxes", given, key=idempotency_key)
        return [
            read(types.CreationError, one["error"]) if one["error"] else self._inbox(one["inbox"])
            for one in found["results"]
        ]

    def list_inboxes(
        self,
        *,
        status: Literal["active", "expired", "all"] | None = None,
        tag: str | None = None,
        address: str | None = None,
        order: Order | None = None,
        page_size: int | None = None,
    ) -> Iterator[Inbox]:
        """All that fit, newest first unless `order` is "asc", page by page; without `status` those
        that take mail.
        """
        given = without_none(status=status, tag=tag, address=address, order=order, limit=page_size)
        for one in self._pages("listInboxes", given, "inboxes"):
            yield self._inbox(one)

    def delete_inboxes_by_tag(self, tag: str) -> int:
        """Ends all live inboxes with the tag; how many."""
        found = self._json("deleteInboxesByTag", {"tag": tag})
        return read(types.DeletedInboxes, found).deleted_count

    def get_inbox(self, inbox: InboxReference) -> Inbox:
        """The inbox as it is now."""
        return self._inbox(self._json("getInbox", {"inboxId": id_of(inbox)}))

    def update_inbox(
        self,
        inbox: InboxReference,
        *,
        ttl_seconds: int | Unset = UNSET,
        name: str | Unset | None = UNSET,
        tags: Sequence[str] | Unset | None = UNSET,
        metadata: Mapping[str, str | None] | Unset | None = UNSET,
        retention: Retention | Unset | None = UNSET,
        renew_on_use: bool | Unset = UNSET,
    ) -> Inbox:
        """Changes what is given, removes what is given as None; `ttl_seconds` count from now."""
        change = unset_removed(
            {
                "ttlSeconds": ttl_seconds,
                "name": name,
                "tags": items_of(tags),
                "metadata": metadata,
                "retention": fields_of(retention),
                "renewOnUse": renew_on_use,
            }
        )
        return self._inbox(self._json("updateInbox", {"inboxId": id_of(inbox), **change}))

    def delete_inbox(self, inbox: InboxReference) -> None:
        """Ends it and deletes its mail; NotFound where it ended already."""
        self._json("deleteInbox", {"inboxId": id_of(inbox)})

    def list_inbox_emails(
        self,
        inbox: InboxReference,
        *,
        after: Position | None = None,
        include: Sequence[Literal["text", "codes", "links"]] | None = None,
        order: Order | None = None,
        page_size: int | None = None,
        **conditions: "Unpack[EmailConditions]",
    ) -> Iterator[types.EmailSummary]:
        """The inbox's emails that match, newest first, page by page; with `order` as "asc" and
        `after` those that came since, in their order.
        """
        given = conditions_of(EmailConditions, conditions)
        given |= without_none(inboxId=id_of(inbox), include=items_of(include))
        given |= without_none(order=order, limit=page_size)
        given |= {} if after is None else {"after": _waiting.sequence_of(after)}
        for one in self._pages("listInboxEmails", given, "emails"):
            yield read(types.EmailSummary, one)

    def empty_inbox(self, inbox: InboxReference) -> int:
        """Deletes the mail that is there now; how many emails."""
        found = self._json("emptyInbox", {"inboxId": id_of(inbox)})
        return read(types.EmptiedInbox, found).deleted_count

    def create_capture(
        self, inbox: InboxReference, *, idempotency_key: str | None = None
    ) -> types.Capture:
        """Gives an inbox a login: what is sent with it lands there. The password is shown once."""
        given = {"inboxId": id_of(inbox)}
        found = self._json("createCapture", given, key=idempotency_key)
        return read(types.Capture, found)

    def rotate_capture(
        self,
        inbox: InboxReference,
        *,
        grace_seconds: int | None = None,
        idempotency_key: str | None = None,
    ) -> types.Capture:
        """A new password of the login, shown once; that before is good for `grace_seconds` more."""
        given = without_none(inboxId=id_of(inbox), graceSeconds=grace_seconds)
        found = self._json("rotateCapture", given, key=idempotency_key)
        return read(types.Capture, found)

    def end_capture(self, inbox: InboxReference) -> None:
        """Ends the login of an inbox; its mail stays."""
        self._json("endCapture", {"inboxId": id_of(inbox)})

    def get_faults(self, inbox: InboxReference) -> list[types.FaultStep]:
        """What the inbox plays on purpose, in its order, with how often each step was played."""
        found = self._json("getFaults", {"inboxId": id_of(inbox)})
        return read(types.Faults, found).steps

    def set_faults(
        self, inbox: InboxReference, steps: Sequence[NewFaultStep]
    ) -> list[types.FaultStep]:
        """Lets the inbox refuse, delay or cut mail on purpose, in place of the steps it has:
        `[{"stage": "rcpt", "reply": "451 4.7.1 Later", "times": 2}]`.
        """
        given = {"inboxId": id_of(inbox), "steps": in_contract(steps)}
        return read(types.Faults, self._json("setFaults", given)).steps

    def clear_faults(self, inbox: InboxReference) -> None:
        """Lets the inbox take mail as ever."""
        self._json("clearFaults", {"inboxId": id_of(inbox)})

    def get_sender_report(self, inbox: InboxReference) -> types.SenderReport:
        """What senders did with an inbox that has a login or faults, or is a catch-all: their
        attempts message by message, and marks by the RFCs.
        """
        return read(types.SenderReport, self._json("getSenderReport", {"inboxId": id_of(inbox)}))

    def list_rejections(self, inbox: InboxReference) -> list[types.Rejection]:
        """Lists what the mail server refused for the inbox in the last 24 hours."""
        found = self._json("listRejections", {"inboxId": id_of(inbox)})
        return read(types.RejectionList, found).rejections

    def list_domains(self) -> list[types.Domain]:
        """The domains an inbox can have, the default one first."""
        return read(types.DomainList, self._json("listDomains", {})).domains

    # Emails.

    def list_emails(
        self,
        *,
        tag: str | None = None,
        include: Sequence[Literal["text", "codes", "links"]] | None = None,
        order: Order | None = None,
        page_size: int | None = None,
        **conditions: "Unpack[EmailConditions]",
    ) -> Iterator[types.EmailSummary]:
        """Emails of all live inboxes that match, or of those with the tag, newest first unless
        `order` is "asc", page by page.
        """
        given = conditions_of(EmailConditions, conditions)
        given |= without_none(tag=tag, include=items_of(include), order=order, limit=page_size)
        for one in self._pages("listEmails", given, "emails"):
            yield read(types.EmailSummary, one)

    def get_email(self, email_id: str) -> types.Email:
        """The whole email, decoded, with its codes and links."""
        return read(types.Email, self._json("getEmail", {"emailId": email_id}))

    def update_email(self, email_id: str, *, is_read: bool) -> types.EmailSummary:
        """Marks it as read or unread."""
        given = {"emailId": email_id, "isRead": is_read}
        return read(types.EmailSummary, self._json("updateEmail", given))

    def delete_email(self, email_id: str) -> None:
        """Deletes it for good."""
        self._json("deleteEmail", {"emailId": email_id})

    def get_raw_email(self, email_id: str) -> bytes:
        """The message as it was received, behind `Return-Path` and the service's `Received`."""
        flow = call(self.settings, "getRawEmail", {"emailId": email_id}, accept="message/rfc822")
        return (self._transport.run(flow)).content

    def get_email_timeline(self, email_id: str) -> types.Timeline:
        """Returns the history of an email, from the connection to each attempt at a webhook."""
        found = self._json("getEmailTimeline", {"emailId": email_id})
        return read(types.Timeline, found)

    def get_attachment(self, email_id: str, attachment_id: str) -> "AttachmentFile":
        """An attachment with its bytes."""
        given = {"emailId": email_id, "attachmentId": attachment_id}
        found = read(types.AttachmentContent, self._json("getAttachment", given))
        return AttachmentFile(
            filename=found.filename,
            content_type=found.content_type,
            content=base64.b64decode(found.content),
        )

    # Events.

    def list_events(
        self,
        *,
        after: str | None = None,
        since: datetime | str | None = None,
        types_: Sequence[EventName] | None = None,
        tag: str | None = None,
        inbox: InboxReference | None = None,
        limit: int | None = None,
        wait_seconds: int | None = None,
    ) -> types.EventList:
        """A page of the account's events behind `after`, which is a cursor, "latest", "earliest" or
        the id of an event; the first call begins the feed.
        """
        given = _waiting.events_of(after, since, types_, tag, inbox, limit)
        given |= without_none(waitSeconds=wait_seconds)
        deadline = Deadline.after(self.settings.timeout + (wait_seconds or 0))
        flow = call(self.settings, "listEvents", given, deadline=deadline)
        return read(types.EventList, read_json(self._transport.run(flow)))

    def events(
        self,
        *,
        after: str | None = None,
        since: datetime | str | None = None,
        types_: Sequence[EventName] | None = None,
        tag: str | None = None,
        inbox: InboxReference | None = None,
    ) -> Iterator[types.FeedEvent]:
        """Follows the account's events, each once, for as long as you ask for the next one.

        Keep the `cursor` of the last event that you are done with, and give it as `after` the next
        time. CursorExpired and CursorReset say what would be skipped, or comes again.
        """
        given = _waiting.events_of(after, since, types_, tag, inbox, None)
        found = read(types.EventList, self._json("listEvents", given))
        given.pop("since", None)
        while True:
            for one in found.events:
                yield one
            given["after"] = found.next_cursor
            flow = call(
                self.settings,
                "listEvents",
                given,
                deadline=Deadline.after(_MAX_OUTAGE_SECONDS),
                hold=lambda: _HOLD_SECONDS,
                hold_name="waitSeconds",
                was_reached=True,
            )
            found = read(types.EventList, read_json(self._transport.run(flow)))

    # Webhooks.

    def create_webhook(
        self,
        url: str,
        *,
        events: Sequence[EventName] | None = None,
        description: str | None = None,
        idempotency_key: str | None = None,
    ) -> types.CreatedWebhook:
        """Registers a webhook, for all events unless some are named; its secret is shown once."""
        given = without_none(url=url, events=items_of(events), description=description)
        found = self._json("createWebhook", given, key=idempotency_key)
        return read(types.CreatedWebhook, found)

    def list_webhooks(
        self, *, order: Order | None = None, page_size: int | None = None
    ) -> Iterator[types.Webhook]:
        """All, newest first unless `order` is "asc", page by page."""
        given = without_none(order=order, limit=page_size)
        for one in self._pages("listWebhooks", given, "webhooks"):
            yield read(types.Webhook, one)

    def get_webhook(self, webhook_id: str) -> types.Webhook:
        """Returns a webhook: whether it is switched on, and why not."""
        return read(types.Webhook, self._json("getWebhook", {"webhookId": webhook_id}))

    def update_webhook(
        self,
        webhook_id: str,
        *,
        url: str | Unset = UNSET,
        events: Sequence[EventName] | Unset | None = UNSET,
        description: str | Unset | None = UNSET,
        is_enabled: bool | Unset = UNSET,
    ) -> types.Webhook:
        """Changes what is given; `events` as None are all, `description` as None is removed."""
        change = unset_removed(
            {
                "url": url,
                "events": items_of(events),
                "description": description,
                "isEnabled": is_enabled,
            }
        )
        found = self._json("updateWebhook", {"webhookId": webhook_id, **change})
        return read(types.Webhook, found)

    def delete_webhook(self, webhook_id: str) -> None:
        """Nothing is sent to it any more; Conflict where routing rules name it."""
        self._json("deleteWebhook", {"webhookId": webhook_id})

    def test_webhook(
        self,
        webhook_id: str,
        event: EventName | None = None,
        *,
        idempotency_key: str | None = None,
    ) -> types.Delivery:
        """Sends a made-up event now, by default of the first kind that the webhook subscribes to;
        the delivery with what the receiver answered.
        """
        given = {"webhookId": webhook_id, **without_none(event=event)}
        return read(types.Delivery, self._json("testWebhook", given, key=idempotency_key))

    def list_deliveries(
        self,
        webhook_id: str,
        *,
        status: Literal["pending", "succeeded", "failed"] | None = None,
        order: Order | None = None,
        page_size: int | None = None,
    ) -> Iterator[types.Delivery]:
        """Lists the deliveries of the last 30 days, newest event first unless `order` is "asc",
        page by page.
        """
        given = without_none(webhookId=webhook_id, status=status, order=order, limit=page_size)
        for one in self._pages("listDeliveries", given, "deliveries"):
            yield read(types.Delivery, one)

    def get_delivery(self, webhook_id: str, delivery_id: str) -> types.Delivery:
        """The delivery with its attempts, as it is now."""
        given = {"webhookId": webhook_id, "deliveryId": delivery_id}
        return read(types.Delivery, self._json("getDelivery", given))

    def retry_delivery(
        self, webhook_id: str, delivery_id: str, *, idempotency_key: str | None = None
    ) -> types.Delivery:
        """Sends a delivery again now."""
        given = {"webhookId": webhook_id, "deliveryId": delivery_id}
        return read(types.Delivery, self._json("retryDelivery", given, key=idempotency_key))

    def replay_deliveries(
        self,
        webhook_id: str,
        *,
        since: datetime | str,
        status: Literal["failed", "succeeded"] | None = None,
        idempotency_key: str | None = None,
    ) -> int:
        """Sends deliveries of all events since a moment again, in the background; how many."""
        given = without_none(webhookId=webhook_id, since=moment(since), status=status)
        found = self._json("replayDeliveries", given, key=idempotency_key)
        return read(types.Replay, found).replayed_count

    def rotate_webhook_secret(
        self, webhook_id: str, *, idempotency_key: str | None = None
    ) -> types.RotatedSecret:
        """A new secret, shown once; the one before it signs for 24 hours, too."""
        given = {"webhookId": webhook_id}
        found = self._json("rotateWebhookSecret", given, key=idempotency_key)
        return read(types.RotatedSecret, found)

    # Account.

    def get_account(self) -> types.Account:
        """The plan, what it allows, and what is in use now."""
        return read(types.Account, self._json("getAccount", {}))

    def get_usage(self) -> list[types.UsageOfDay]:
        """The last 30 UTC days, newest first."""
        return read(types.Usage, self._json("getUsage", {})).days

    def dashboard_link(self, inbox: InboxReference, email_id: str | None = None) -> str:
        """Returns the address at which people see an inbox, or one of its emails."""
        behind = f"/{email_id}" if email_id else ""
        return f"{self.settings.dashboard}/inboxes/{id_of(inbox)}{behind}"

    def _json(
        self, name: str, given: Mapping[str, Any], *, key: str | None = None
    ) -> dict[str, Any]:
        flow = call(self.settings, name, given, key=key)
        return read_json(self._transport.run(flow))

    def _pages(self, name: str, given: Mapping[str, Any], items: str) -> Iterator[dict[str, Any]]:
        cursor: str | None = None
        while True:
            params = given if cursor is None else {**given, "cursor": cursor}
            page = self._json(name, params)
            for one in page.get(items, []):
                yield one
            cursor = page.get("nextCursor")
            if cursor is None:
                return

    def _inbox(self, found: dict[str, Any]) -> Inbox:
        known = read(types.Inbox, found)
        values = {one.name: getattr(known, one.name) for one in fields(known)}
        return Inbox(client=self, **values)
