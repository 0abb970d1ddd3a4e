"""`./dev demo`: the story of one mail on the running suite, step by step, and a check of what it
promises.
"""

import json
import re
import secrets
import shlex
import subprocess
import time
from typing import Any

from dev import packages, python_packages, suite_env
from dev.suite import Suite
from dev.terminal import Failure, fail, heading, paint, say
from dev.topic_reader import FoundEvent, find_email_received
from dev.webhook_receiver import Received, WebhookReceiver

_TIMEOUT_SECONDS = 20.0
_WORD = "verification"


class Demo:
    """The steps share what they find; `differences` collects what is not as promised."""

    def __init__(self, suite: Suite) -> None:
        self._suite = suite
        self._known = suite_env.variables(suite)
        self._step = 0
        self.differences: list[str] = []

    def run(self) -> None:
        """The whole story; what it made for itself is removed at the end."""
        inbox = self._make_inbox()
        with WebhookReceiver() as receiver:
            webhook, rule = self._register(receiver)
            try:
                code = f"{secrets.randbelow(900_000) + 100_000}"
                since_ms = int(time.time() * 1000) - 1000
                accepted_id = self._send_mail(inbox, code)
                email = self._read_mail(inbox, code)
                received = self._see_webhook(receiver, webhook)
                event = self._see_event(inbox, since_ms)
            finally:
                self._suite.operate("rule", "delete", self._known["TEMPINBOX_ACCOUNT"], rule["id"])
                self._call("DELETE", f"/v1/webhooks/{webhook['webhookId']}", quietly=True)
        self._compare(accepted_id, email, received, event)

    def _make_inbox(self) -> dict[str, Any]:
        self._begin("Make an inbox: one call, no body")
        inbox: dict[str, Any] = self._call("POST", "/v1/inboxes")
        _show(inbox, "inboxId", "emailAddress", "status", "expiresAt")
        return inbox

    def _register(self, receiver: WebhookReceiver) -> tuple[dict[str, Any], dict[str, Any]]:
        self._begin(f"Register a webhook: a receiver listens at {receiver.url}")
        webhook = self._call(
            "POST", "/v1/webhooks", {"url": receiver.url, "events": ["email.received"]}
        )
        _show(webhook, "webhookId", "url", "events", "secret")
        self._begin("Route to it: only mail whose subject has a word in it")
        arguments = [
            "rule",
            "create",
            self._known["TEMPINBOX_ACCOUNT"],
            "--name",
            "demo",
            "--webhook",
            webhook["webhookId"],
        ]
        arguments += ["--when", f"subject contains {_WORD}"]
        _show_command(["./dev", "ctl", *arguments])
        rule = self._suite.operate_json(*arguments)
        _show(rule, "id", "name", "conditions", "isEnabled")
        return webhook, rule

    def _send_mail(self, inbox: dict[str, Any], code: str) -> str | None:
        self._begin("Send it a real mail with a code, over SMTP")
        command = [
            "swaks",
            "--server",
            self._known["TEMPINBOX_SMTP"],
            "--from",
            "no-reply@shop.example",
            "--to",
            inbox["emailAddress"],
        ]
        command += [
            "--header",
            f"Subject: Your {_WORD} code",
            "--body",
            f"Welcome! Your {_WORD} code is {code}. It is valid for ten minutes.",
        ]
        _show_command(command)
        done = subprocess.run(command, capture_output=True, text=True, timeout=60)
        if done.returncode != 0:
            fail("the mail was not taken:\n" + done.stdout + done.stderr)
        answers = [line for line in done.stdout.splitlines() if re.match(r"<[~-]\s+250 ", line)]
        say("  " + answers[-1])
        found = re.search(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", answers[-1])
        return found[0] if found else None

    def _read_mail(self, inbox: dict[str, Any], code: str) -> dict[str, Any]:
        self._begin("Wait for it: one call, and the code has been found already")
        path = f"/v1/inboxes/{inbox['inboxId']}/emails/wait?timeoutSeconds={_TIMEOUT_SECONDS:.0f}"
        email: dict[str, Any] | None = self._call("GET", path)["email"]
        if email is None:
            fail(f"no mail in {_TIMEOUT_SECONDS:.0f} s")
        _show(email, "emailId", "sequence", "from", "subject", "codes", "receivedAt")
        self._expect(
            "the first code is the one sent",
            bool(email["codes"]) and email["codes"][0]["value"] == code,
        )
        return email

    def _see_webhook(self, receiver: WebhookReceiver, webhook: dict[str, Any]) -> Received:
        self._begin("See the webhook that the rule chose")
        received = receiver.wait(_TIMEOUT_SECONDS) or fail(
            f"no webhook arrived in {_TIMEOUT_SECONDS:.0f} s"
        )
        for name in ("webhook-id", "webhook-timestamp", "webhook-signature", "content-type"):
            say(f"  {name}: {received.headers.get(name)}")
        say("  " + received.body)
        self._expect(
            "the Standard Webhooks library takes its signature",
            received.is_signed_with(webhook["secret"]),
        )
        self._expect(
            "and refuses it under another secret",
            not received.is_signed_with("whsec_" + "A" * 43 + "="),
        )
        return received

    def _see_event(self, inbox: dict[str, Any], since_ms: int) -> FoundEvent:
        self._begin("Read the event from Kafka with nothing but proto-schemas/")
        found = find_email_received(
            self._known["TEMPINBOX_KAFKA"], inbox["inboxId"], since_ms, _TIMEOUT_SECONDS
        )
        if not found:
            fail(f"no event for the inbox on email.received in {_TIMEOUT_SECONDS:.0f} s")
        for line in found.commands:
            say(
                paint("  $ " if line == found.commands[0] else "    ", "dim") + paint(line, "green")
            )
        for name, value in found.headers.items():
            say(f"  {name}: {value}")
        say("".join(f"  {line}\n" for line in found.text.splitlines()).rstrip())
        return found

    def _compare(
        self, accepted_id: str | None, email: dict[str, Any], received: Received, event: FoundEvent
    ) -> None:
        self._begin("One id everywhere")
        payload = json.loads(received.body)
        email_id = email["emailId"]
        say(f"  emailId {email_id}")
        for what, other in {
            "the answer to the mail's final dot": accepted_id,
            "webhook-id": received.headers.get("webhook-id"),
            "data.emailId of the webhook": payload["data"]["emailId"],
            "ce_id of the event": event.headers.get("ce_id"),
            "email_id of the event": event.field("email_id"),
        }.items():
            self._expect(f"equals {what}", other == email_id)
        self._expect(
            "the webhook's timestamp is when the mail was received",
            payload["timestamp"] == email["receivedAt"],
        )

    def _begin(self, text: str) -> None:
        self._step += 1
        say()
        heading(f"{self._step}. {text}")

    def _expect(self, promise: str, holds: bool) -> None:
        say(f"  {paint('ok', 'green') if holds else paint('DIFFERS', 'red')}  {promise}")
        if not holds:
            self.differences.append(promise)

    def _call(
        self, method: str, path: str, body: dict[str, Any] | None = None, quietly: bool = False
    ) -> Any:
        """Sends one request by curl and returns its JSON. Anything but success ends the demo."""
        command = [
            "curl",
            "-sS",
            "-X",
            method,
            self._known["TEMPINBOX_API"] + path,
            "-H",
            "X-API-Key: " + self._known["TEMPINBOX_API_KEY"],
        ]
        if body is not None:
            command += ["-H", "Content-Type: application/json", "-d", json.dumps(body)]
        if not quietly:
            _show_command(
                [
                    part.replace(self._known["TEMPINBOX_API_KEY"], "$TEMPINBOX_API_KEY")
                    for part in command
                ]
            )
        done = subprocess.run(
            [*command, "--fail-with-body", "--max-time", "70"], capture_output=True, text=True
        )
        if done.returncode != 0:
            fail(f"{method} {path}: {done.stdout}{done.stderr}")
        return json.loads(done.stdout)


def _show_command(command: list[str]) -> None:
    say(
        paint("  $ ", "dim")
        + paint(
            " ".join(f'"{part}"' if "$" in part else shlex.quote(part) for part in command), "green"
        )
    )


def _show(value: dict[str, Any], *names: str) -> None:
    for name in names:
        say(f"  {name}: {json.dumps(value.get(name), ensure_ascii=False)}")


def run(suite: Suite) -> int:
    """The verb: 0 when everything is as promised."""
    packages.ensure("run", "test")
    python_packages.python()
    demo = Demo(suite)
    try:
        demo.run()
    except (subprocess.SubprocessError, ValueError, KeyError) as problem:
        raise Failure(f"the demo broke off: {problem!r}") from problem
    say()
    if demo.differences:
        say(paint("Not as promised: ", "red") + "; ".join(demo.differences))
        return 1
    say(paint("Everything as promised.", "green"))
    return 0
