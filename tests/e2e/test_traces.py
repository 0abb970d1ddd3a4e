"""Traces as an OTLP receiver sees them."""

import requests
from harness import (
    Account,
    Gateway,
    Inbox,
    MailIngest,
    OtlpSink,
    Receiver,
    Span,
    Suite,
    WebhookDispatcher,
    eventually,
    send,
)

_STRANGER = "4bf92f3577b34da6a3ce929d0e0e4736"
_TRACEPARENT = f"00-{_STRANGER}-00f067aa0ba902b7-01"
_WHOLE = {
    "smtp transaction",
    "commit mail",
    "send email.received",
    "process email.received",
    "POST",
}
_CREATE = "tempinbox.inbox.v1.InboxService/CreateInbox"


def _trace_with(spans: list[Span], name: str, key: str, value: object) -> list[Span]:
    """The spans of the trace that has such a span."""
    ids = [s.trace_id for s in spans if s.name == name and s.attributes.get(key) == value]
    return [span for span in spans if ids and span.trace_id == ids[0]]


def _one(spans: list[Span], name: str) -> Span:
    named = [span for span in spans if span.name == name]
    assert len(named) == 1, f"{len(named)} spans {name}"
    return named[0]


def test_a_mail_and_its_webhook_are_one_trace(suite: Suite, account: Account) -> None:
    with (
        OtlpSink() as sink,
        Receiver() as receiver,
        MailIngest(suite, **sink.settings) as ingest,
        WebhookDispatcher(suite, **sink.settings),
    ):
        account.api.post("/v1/webhooks", {"url": receiver.url, "events": ["email.received"]})
        # The suite's own dispatcher has its share of the partitions, and of these mails.
        sent: list[str] = []

        def whole_trace() -> tuple[str, list[Span]] | None:
            address = account.api.new_inbox()["emailAddress"]
            sent.append(send(suite, address, subject="Traced", server=ingest.address).email_id)
            spans = sink.spans
            for email_id in sent:
                trace = _trace_with(spans, "POST", "tempinbox.event.id", email_id)
                if {it.name for it in trace} >= _WHOLE:
                    return email_id, trace
            return None

        email_id, trace = eventually(whole_trace, "a mail's trace", seconds=60)
        request = receiver.wait_for(lambda it: it.webhook_id == email_id, "the webhook")

    transaction = _one(trace, "smtp transaction")
    send_span = _one(trace, "send email.received")
    process = _one(trace, "process email.received")
    attempt = _one(trace, "POST")
    # Every span but the first hangs on another one.
    known = {span.span_id for span in trace}
    assert [span.name for span in trace if span.parent_id not in known] == ["smtp transaction"]
    assert transaction.parent_id == ""
    assert _one(trace, "commit mail").parent_id == transaction.span_id
    assert send_span.parent_id == transaction.span_id
    assert process.parent_id == send_span.span_id
    assert {s.parent_id for s in trace if s.name == "match rules"} == {process.span_id}
    assert attempt.parent_id == process.span_id
    # The receiver can go on from the attempt.
    assert request.headers["traceparent"] == f"00-{attempt.trace_id}-{attempt.span_id}-01"
    assert {span.service for span in trace} == {
        "tempinbox-mail-ingest",
        "tempinbox-webhook-dispatcher",
    }
    assert transaction.attributes["smtp.reply.code"] == "250"
    assert transaction.attributes["network.protocol.name"] == "smtp"
    assert attempt.attributes["http.response.status_code"] == "200"
    assert process.attributes["messaging.system"] == "kafka"
    assert process.attributes["messaging.operation.name"] == "process"
    assert process.attributes["messaging.destination.name"] == "email.received"
    assert process.attributes["messaging.consumer.group.name"] == "tempinbox-webhook-dispatcher"
    assert process.attributes["messaging.client.id"] == "tempinbox-webhook-dispatcher"
    assert send_span.attributes["messaging.client.id"] == "tempinbox-mail-ingest"


def test_a_mail_that_is_not_sampled_has_flag_00(suite: Suite, account: Account) -> None:
    with (
        OtlpSink() as sink,
        Receiver() as receiver,
        MailIngest(suite, otel_traces_sampler_arg="0", **sink.settings) as ingest,
    ):
        account.api.post("/v1/webhooks", {"url": receiver.url, "events": ["email.received"]})
        inbox = account.api.new_inbox()
        sent = send(suite, inbox["emailAddress"], server=ingest.address)
        request = receiver.wait_for(lambda it: it.webhook_id == sent.email_id, "the webhook")

        assert request.headers["traceparent"].endswith("-00")
        assert ingest.metric("tempinbox_spans_exported_total") == 0


def test_a_strangers_traceparent_is_a_link(suite: Suite, account: Account) -> None:
    with OtlpSink() as sink, Gateway(suite, **sink.settings) as gateway:
        answer = requests.get(
            f"http://{gateway.address}/v1/domains",
            headers={"X-API-Key": account.key, "traceparent": _TRACEPARENT},
            timeout=10,
        )
        assert answer.status_code == 200
        spans = sink.wait_for(
            lambda them: any(span.name == "GET /v1/domains" for span in them), "the request"
        )

    served = _one(spans, "GET /v1/domains")
    assert served.trace_id != _STRANGER
    assert served.parent_id == ""
    assert served.links == ((_STRANGER, "00f067aa0ba902b7"),)
    assert all(span.trace_id != _STRANGER for span in spans)


def test_behind_a_trusted_proxy_a_trace_goes_on_through_calls_and_events(
    suite: Suite, account: Account
) -> None:
    with (
        OtlpSink() as sink,
        Inbox(suite, **sink.settings) as inbox,
        Gateway(
            suite, trusted_proxies="127.0.0.0/8", inbox_rpc=inbox.address, **sink.settings
        ) as gateway,
    ):
        answer = requests.post(
            f"http://{gateway.address}/v1/inboxes",
            json={},
            headers={"X-API-Key": account.key, "traceparent": _TRACEPARENT},
            timeout=10,
        )
        assert answer.status_code == 201
        spans = sink.wait_for(
            lambda them: {"POST /v1/inboxes", "send inbox.created"} <= {it.name for it in them},
            "the request and its event",
        )

    trace = [span for span in spans if span.trace_id == _STRANGER]
    served = _one(trace, "POST /v1/inboxes")
    assert served.parent_id == "00f067aa0ba902b7"
    called, answered = sorted((s for s in trace if s.name == _CREATE), key=lambda s: -s.kind)
    assert called.parent_id == served.span_id
    assert answered.parent_id == called.span_id
    assert _one(trace, "send inbox.created").parent_id == answered.span_id
