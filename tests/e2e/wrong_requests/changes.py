"""Wrong changes: patches of inboxes and emails, ending by tag, repeatable requests."""

from typing import Any

from wrong_requests.row import JSON, UNKNOWN, Row, get, send

_INBOX = "/v1/inboxes/{inbox}"
_EMAIL = "/v1/emails/{email}"
_WEBHOOK = "/v1/webhooks/{webhook}"
_ROTATION = _WEBHOOK + "/rotate-secret"

_INBOX_CHANGES: list[tuple[Any, str]] = [
    ({}, "at least one of ttlSeconds, name, tags, metadata, retention, renewOnUse"),
    ([], "body must be a JSON object"),
    ([{"op": "replace", "path": "/name", "value": "x"}], "body must be a JSON object"),
    (None, "body must be a JSON object"),
    ({"ttlSeconds": None}, "ttlSeconds must"),
    ({"ttlSeconds": 59}, "ttlSeconds must be an integer from 60 to "),
    ({"ttlSeconds": 2_592_001}, "ttlSeconds must"),
    ({"ttlSeconds": "60"}, "ttlSeconds must"),
    ({"ttlSeconds": 60.5}, "ttlSeconds must"),
    ({"ttlSeconds": 10**19}, "ttlSeconds must"),
    ({"name": ""}, "name must"),
    ({"name": 1}, "name must"),
    ({"name": "x" * 101}, "name must"),
    ({"name": "\u0000"}, "name must"),
    ({"tags": "x"}, "tags must"),
    ({"tags": [""]}, "tags[0] must"),
    ({"tags": [None]}, "tags[0] must"),
    ({"tags": ["x"] * 11}, "tags must"),
    ({"tags": {"add": ["x"]}}, "tags must"),
    ({"metadata": []}, "metadata must"),
    ({"metadata": {"a": 1}}, "metadata.a must"),
    ({"metadata": {"": "x"}}, "metadata must"),
    ({"metadata": {"k" * 51: None}}, "metadata must"),
    (
        {"metadata": {f"k{number}": "v" for number in range(21)}},
        "metadata must have at most 20 pairs",
    ),
    ({"metadata": {f"k{number}": None for number in range(41)}}, "metadata must"),
    ({"localPart": "x"}, "is unknown here"),
    ({"emailAddress": "x@example.com"}, "is unknown here"),
    ({"status": "expired"}, "is unknown here"),
    ({"name": "x", "expiresAt": "2030-01-01T00:00:00Z"}, "is unknown here"),
]
_WEBHOOK_CHANGES: list[tuple[Any, str]] = [
    ({}, "at least one of url, events, description, isEnabled"),
    ([], "body must be a JSON object"),
    (None, "body must be a JSON object"),
    ({"url": None}, "url must be a string"),
    ({"url": ""}, "url must"),
    ({"url": 1}, "url must"),
    ({"url": "ftp://example.com/"}, "url must begin with"),
    ({"url": "https://10.0.0.1/"}, "url must lead to a public address"),
    ({"url": "https://169.254.169.254/latest"}, "url must lead to a public address"),
    ({"url": "https://0x7f.1/"}, "url "),
    ({"url": "https://[::ffff:10.0.0.1]/"}, "url "),
    ({"url": "https://example.com/" + "x" * 2_048}, "url must"),
    ({"events": []}, "events must name at least one"),
    ({"events": "email.received"}, "events must"),
    ({"events": ["email.sent"]}, "events must hold only"),
    ({"events": [None]}, "events[0] must"),
    ({"description": 1}, "description must"),
    ({"description": "x" * 201}, "description must"),
    ({"description": "a\u0000"}, "description must"),
    ({"isEnabled": None}, "isEnabled must be true or false"),
    ({"isEnabled": "true"}, "isEnabled must be true or false"),
    ({"isEnabled": 0}, "isEnabled must be true or false"),
    ({"disabledReason": None}, "is unknown here"),
    ({"secret": "whsec_x"}, "is unknown here"),
    ({"isEnabled": False, "webhookId": "x"}, "is unknown here"),
    (b'{"isEnabled":false,"isEnabled":true}', "isEnabled"),
]
_EMAIL_CHANGES: list[tuple[Any, str]] = [
    ({}, "isRead is required"),
    ([], "body must be a JSON object"),
    ({"isRead": None}, "isRead must be true or false"),
    ({"isRead": 1}, "isRead must be true or false"),
    ({"isRead": "true"}, "isRead must be true or false"),
    ({"isRead": [True]}, "isRead must be true or false"),
    ({"isread": True}, "is unknown here"),
    ({"isRead": True, "subject": "x"}, "is unknown here"),
    (b'{"isRead":true,"isRead":false}', "isRead"),
    (b'{"isRead":tru', "not valid JSON"),
]
_TAGS = [
    "",
    "?tag=",
    "?tag=" + "x" * 51,
    "?tag=a&tag=b",
    "?tag=%01",
    "?tag=%ff",
    "?tag=a&status=active",
    "?Tag=a",
    "?status=all",
]
_REPEAT_KEYS: dict[str, str | bytes] = {
    "empty": "",
    "too long": "k" * 256,
    "a tab": "a\tb",
    "not ASCII": "schlüssel",
    "a byte": b"\xff",
}


def _typed(method: str, target: str, kind: str) -> Row:
    return Row(
        f"{method} {target} as {kind}",
        method,
        target,
        415,
        ("Content-Type must be",),
        b'{"name":"x"}',
        {"Content-Type": kind},
    )


ROWS: list[Row] = [
    *(send("PATCH", _INBOX, body, mention) for body, mention in _INBOX_CHANGES),
    *(send("PATCH", _EMAIL, body, mention) for body, mention in _EMAIL_CHANGES),
    *(send("PATCH", _WEBHOOK, body, mention) for body, mention in _WEBHOOK_CHANGES),
    Row("PATCH a webhook without a body", "PATCH", _WEBHOOK, 400, ("at least one of",)),
    send("PATCH", "/v1/webhooks/x", {"isEnabled": False}, "webhookId must be a UUID"),
    send("PATCH", "/v1/webhooks/" + UNKNOWN, {"isEnabled": False}, UNKNOWN, status=404),
    send("PATCH", _WEBHOOK + "?dryRun=true", {"isEnabled": False}, "takes no query"),
    _typed("PATCH", _WEBHOOK, "application/json-patch+json"),
    send("POST", _ROTATION, {"secret": "whsec_x"}, "is unknown here"),
    send("POST", _ROTATION, [], "body must be a JSON object"),
    send("POST", _ROTATION + "?overlap=0", {}, "takes no query"),
    send("POST", "/v1/webhooks/x/rotate-secret", {}, "webhookId must be a UUID"),
    send("POST", f"/v1/webhooks/{UNKNOWN}/rotate-secret", {}, UNKNOWN, status=404),
    send("PATCH", _ROTATION, {"isEnabled": True}, status=405),
    _typed("POST", _ROTATION, "text/plain"),
    Row("PATCH an inbox without a body", "PATCH", _INBOX, 400, ("at least one of",)),
    Row("PATCH an email without a body", "PATCH", _EMAIL, 400, ("isRead",)),
    send("PATCH", "/v1/inboxes/x", {"name": "x"}, "inboxId must be a UUID"),
    send("PATCH", "/v1/emails/x", {"isRead": True}, "emailId must be a UUID"),
    send("PATCH", "/v1/inboxes/" + UNKNOWN, {"name": "x"}, UNKNOWN, status=404),
    send("PATCH", "/v1/emails/" + UNKNOWN, {"isRead": True}, UNKNOWN, status=404),
    send("PATCH", _INBOX + "?dryRun=true", {"name": "x"}, "dryRun"),
    send("PATCH", _EMAIL + "?x=1", {"isRead": True}, "takes no query"),
    *(
        _typed("PATCH", _INBOX, kind)
        for kind in (
            "application/json-patch+json",
            "text/plain",
            "application/x-www-form-urlencoded",
        )
    ),
    _typed("PATCH", _EMAIL, "application/json-patch+json"),
    _typed("POST", "/v1/inboxes", "application/merge-patch+json"),
    *(Row("DELETE /v1/inboxes" + query, "DELETE", "/v1/inboxes" + query, 400) for query in _TAGS),
    Row(
        "DELETE the emails of an unknown inbox",
        "DELETE",
        f"/v1/inboxes/{UNKNOWN}/emails",
        404,
        (UNKNOWN,),
    ),
    Row("DELETE emails with a filter", "DELETE", _INBOX + "/emails?subject=x", 400, ("subject",)),
    Row("DELETE an email by a bad id", "DELETE", "/v1/emails/x", 400, ("emailId must be a UUID",)),
    Row("DELETE an unknown email", "DELETE", "/v1/emails/" + UNKNOWN, 404, (UNKNOWN,)),
    *(
        Row(
            f"Idempotency-Key: {name}",
            "POST",
            "/v1/inboxes",
            400,
            ("Idempotency-Key must be 1 to 255",),
            b"{}",
            {**JSON, "Idempotency-Key": key},
        )
        for name, key in _REPEAT_KEYS.items()
    ),
    get("/v1/emails/x/raw", "emailId must be a UUID"),
    get(f"/v1/emails/{UNKNOWN}/raw", UNKNOWN, status=404),
    get(_EMAIL + "/raw?format=json", "format"),
    get("/v1/emails/x/attachments/1", "emailId must be a UUID"),
    get(_EMAIL + "/attachments/999", status=404),
    get(_EMAIL + "/attachments/%20", status=404),
    get(_EMAIL + "/attachments/..%2f..%2fetc", status=404),
    get(_EMAIL + "/attachments/" + "1" * 3_000, status=404),
    get(_EMAIL + "/attachments/", status=404),
    Row(
        "raw as HTML",
        "GET",
        _EMAIL + "/raw",
        406,
        ("Accept must allow",),
        headers={"Accept": "text/html"},
    ),
    Row(
        "raw as nothing",
        "GET",
        _EMAIL + "/raw",
        406,
        ("Accept must allow",),
        headers={"Accept": "application/json;q=0"},
    ),
]
