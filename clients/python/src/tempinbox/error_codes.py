"""The reasons of errors: what `ApiError.code` has for each.

A service may have newer ones.
"""

# Made by tools/generate/error_reasons.py; do not edit.

INVALID_FIELD = "invalid_field"
"""400: A field or parameter is wrong; the message begins with its name.

Mend the field; the message says what is allowed.
"""

INVALID_JSON = "invalid_json"
"""400: The body is no JSON object. Send a JSON object; the message names line and column."""

INVALID_CURSOR = "invalid_cursor"
"""400: The cursor is not of this list with these filters and this order.

Read the list from its first page, without a cursor, or, of events, begin with `latest`.
"""

INVALID_REQUEST = "invalid_request"
"""400: The request itself is malformed: its target, or a header.

Mend what the message names; this is often the HTTP client's fault.
"""

KEY_MISSING = "key_missing"
"""401: The request has no API key. Send the key in X-API-Key or as Authorization: Bearer."""

KEY_INVALID = "key_invalid"
"""401: The API key is malformed, unknown, revoked or expired.

Make a key in the dashboard under Settings, API Keys.
"""

KEY_CONFLICT = "key_conflict"
"""401: The request has two API keys. Send one key in one header."""

KEY_IN_URL = "key_in_url"
"""401: The API key is in the URL, which logs store.

Send it in a header, and revoke the one that was in the URL.
"""

PLAN_REQUIRED = "plan_required"
"""403: The plan does not include this, or no further catch-all. Choose a plan that does."""

KEY_INACTIVE = "key_inactive"
"""403: The plan has no room for this key: older keys come first.

Use an older key, revoke one, or choose a larger plan.
"""

SCOPE_REQUIRED = "scope_required"
"""403: The API key lacks the scope that the message names. Use a key with this scope."""

INBOX_LIMIT = "inbox_limit"
"""403: All live inboxes of the plan are used. End an inbox with DELETE, or let one expire."""

WEBHOOK_LIMIT = "webhook_limit"
"""403: All webhooks of the plan are used, or it has no place for this one.

Delete a webhook, or choose a larger plan.
"""

CAPTURE_LIMIT = "capture_limit"
"""403: The plan has no room for another inbox with a login.

End a login with DELETE, or choose a larger plan.
"""

ACCOUNT_DELETED = "account_deleted"
"""403: The account was deleted. Use another account."""

FORBIDDEN = "forbidden"
"""403: The request is not allowed. Read the message."""

NOT_FOUND = "not_found"
"""404: The object does not exist for this key, or does not any more.

Check the id, and the account and tag of the key.
"""

INBOX_ENDED = "inbox_ended"
"""404: The inbox has ended, and its mail is gone.

Make a new inbox; this one stays readable by its id for 30 days.
"""

UNKNOWN_PATH = "unknown_path"
"""404: There is no such path. Check the base address and the path."""

METHOD_NOT_ALLOWED = "method_not_allowed"
"""405: The path does not have this method. Use one that Allow names."""

NOT_ACCEPTABLE = "not_acceptable"
"""406: Accept allows none of the forms there are. Allow one that the message names."""

REQUEST_TIMEOUT = "request_timeout"
"""408: The request did not arrive in time. Send it again."""

ADDRESS_TAKEN = "address_taken"
"""409: The address is taken, reserved, or ended less than 30 days ago.

Choose another local part, or leave it out for a random one.
"""

CAPTURE_EXISTS = "capture_exists"
"""409: The inbox has a login. Rotate its password for a new one."""

IDEMPOTENCY_IN_PROGRESS = "idempotency_in_progress"
"""409: A request with this Idempotency-Key is under way. Send it again after Retry-After."""

WEBHOOK_IN_USE = "webhook_in_use"
"""409: Routing rules name the webhook. Delete the rules that the message names first."""

WEBHOOK_DISABLED = "webhook_disabled"
"""409: The webhook is switched off. PATCH it with isEnabled true first."""

DELIVERY_IN_PROGRESS = "delivery_in_progress"
"""409: The delivery is being sent, or is due. Read the delivery by its id again in a moment."""

REPLAY_IN_PROGRESS = "replay_in_progress"
"""409: As many replays as there can be are under way. Wait for one to end."""

SECRET_LIMIT = "secret_limit"  # noqa: S105
"""409: The webhook signs with as many secrets as it can have.

Rotate at the time that the message names.
"""

CONFLICT = "conflict"
"""409: The request does not fit the object's state. Read the object again."""

CURSOR_EXPIRED = "cursor_expired"
"""410: Events behind the cursor are gone: older than 72 hours, or not recorded.

Go on after X-Resume-After; X-Missed-Events says how many are missing.
"""

CURSOR_RESET = "cursor_reset"
"""410: The events were put back to an earlier moment than the cursor's.

Go on after X-Resume-After, and drop what you have by its eventId.
"""

TOO_LARGE = "too_large"
"""413: The body is too large. Send at most 64 KiB."""

UNSUPPORTED_TYPE = "unsupported_type"
"""415: The body's Content-Type or Content-Encoding is not taken.

Send application/json, not compressed.
"""

IDEMPOTENCY_REUSED = "idempotency_reused"
"""422: The Idempotency-Key was used for another body. Choose a new key for a new request."""

DAILY_LIMIT = "daily_limit"
"""429: The plan's requests of the UTC day are used up.

Wait until X-RateLimit-Reset, or choose a larger plan.
"""

BURST = "burst"
"""429: The key sent more requests in a second than the plan allows, each inbox of a batch counted
as one; this one did not count against the day.

Send it again after Retry-After.
"""

AUTHENTICATION_LIMIT = "authentication_limit"
"""429: Too many requests without a valid key came from this address.

Wait for Retry-After, with a valid key.
"""

WAIT_LIMIT = "wait_limit"
"""429: Too many requests of the account wait for mail or events.

Wait for fewer inboxes at a time; try again after Retry-After.
"""

MANUAL_LIMIT = "manual_limit"
"""429: Too many tests, retries or replays of webhooks were asked for.

Try again after Retry-After.
"""

IDEMPOTENCY_LIMIT = "idempotency_limit"
"""429: The account has used all Idempotency-Keys of 24 hours.

Send the request without the key, or after Retry-After.
"""

RATE_LIMITED = "rate_limited"
"""429: Too many requests of this kind. Try again after Retry-After."""

HEAD_TOO_LARGE = "head_too_large"
"""431: The head of the request is larger than 16 KiB. Send shorter headers."""

INTERNAL = "internal"
"""500: The service failed. Try again; name X-Request-Id to the operator."""

NOT_IMPLEMENTED = "not_implemented"
"""501: The Transfer-Encoding is not known here. Send Content-Length or chunked."""

UNAVAILABLE = "unavailable"
"""503: A part of the service cannot be reached.

Try again after Retry-After; repeat a POST with its Idempotency-Key.
"""

BUSY = "busy"
"""503: Too much of this kind is under way. Try again after Retry-After."""

SEARCH_BUSY = "search_busy"
"""503: Other searches of text or headers are under way.

Try again after Retry-After; read the pages of an account one by one.
"""

VERSION_NOT_SUPPORTED = "version_not_supported"
"""505: The request is of another version than HTTP 1.1 or 1.0. Use HTTP/1.1."""
