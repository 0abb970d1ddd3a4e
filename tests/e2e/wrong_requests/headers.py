"""Wrong keys, content types, codings and sizes."""

from wrong_requests.row import JSON, UNKNOWN, Row

_POST = ("POST", "/v1/inboxes")
_GET = ("GET", "/v1/account")
_TYPES = [
    "text/plain", "text/json", "application/x-www-form-urlencoded",
    "multipart/form-data; boundary=x", "application/jsonx", "application/json5",
    "application/json/x", "application", "json", "*/*", "application/*", "", ";charset=utf-8",
    "application/xml", "application/octet-stream",
    "application/json,text/plain", '"application/json"',
]  # fmt: skip
_CODINGS = ["gzip", "deflate", "br", "identity, gzip", "utf-8"]

# Few: an address has 60 refused keys a minute.
_KEYS: dict[str, str | bytes] = {
    "empty": "",
    "nonsense": "nonsense",
    "a wrong checksum": "ti_live_" + "0" * 38,
    "a test key": "ti_test_" + "a" * 38,
    "not ASCII": "schlüssel",
    "long": "ti_live_" + "a" * 8_000,
    "not UTF-8": b"\xff\xfe",
}

ROWS: list[Row] = [
    *(
        Row(
            f"content type {kind!r}",
            *_POST,
            415,
            ("Content-Type must be application/json",),
            b"{}",
            {"Content-Type": kind},
        )
        for kind in _TYPES
    ),
    Row("no content type", *_POST, 415, ("Content-Type must be application/json", "absent"), b"{}"),
    Row(
        "a content type for webhooks",
        "POST",
        "/v1/webhooks",
        415,
        ("Content-Type",),
        b"{}",
        {"Content-Type": "text/plain"},
    ),
    *(
        Row(
            f"coding {coding!r}",
            *_POST,
            415,
            ("Content-Encoding must be absent",),
            b"{}",
            JSON | {"Content-Encoding": coding},
        )
        for coding in _CODINGS
    ),
    *(
        Row(
            f"two of {name}",
            *_POST,
            400,
            (f"Header {name} is given more than once",),
            b"{}",
            JSON | {name: value, name.lower(): value},
        )
        for name, value in (
            ("Content-Type", "application/json"),
            ("Idempotency-Key", "k"),
            ("Content-Encoding", "identity"),
        )
    ),
    Row("a body one byte too large", *_POST, 413, ("64 KiB",), b" " * 65_535 + b"{}", JSON),
    Row("a body much too large", *_POST, 413, ("64 KiB",), b'{"name":"' + b"x" * 5_000_000, JSON),
    Row(
        "a large body of another type",
        *_POST,
        413,
        ("64 KiB",),
        b"x" * 70_000,
        {"Content-Type": "text/plain"},
    ),
    Row(
        "a large body where none is taken",
        "DELETE",
        "/v1/inboxes/{inbox}",
        413,
        ("64 KiB",),
        b"x" * 70_000,
        JSON,
    ),
    Row(
        "a form there is not",
        "GET",
        "/v1/emails/{email}/raw",
        406,
        ("Accept must allow application/json",),
        headers={"Accept": "video/mp4"},
    ),
    Row(
        "a form there is not, of nothing",
        "GET",
        f"/v1/emails/{UNKNOWN}/raw",
        404,
        ("does not exist",),
        headers={"Accept": "video/mp4"},
    ),
    Row("no key", *_GET, 401, ("X-API-Key is missing",), has_key=False),
    Row(
        "a malformed key in Authorization",
        *_GET,
        401,
        ("Authorization: Bearer is not a valid API key",),
        headers={"Authorization": "Bearer ti_live_x"},
        has_key=False,
        code="key_invalid",
    ),
    Row(
        "another scheme in Authorization",
        *_GET,
        401,
        ("must be Bearer",),
        headers={"Authorization": "Basic dTpw"},
        has_key=False,
        code="key_missing",
    ),
    Row(
        "another key in Authorization",
        *_GET,
        401,
        ("two different API keys",),
        headers={"Authorization": "Bearer ti_live_x"},
        code="key_conflict",
    ),
    Row(
        "a key in the query",
        "GET",
        "/v1/account?X-API-Key=x",
        401,
        ("X-API-Key", "revoke"),
        has_key=False,
        code="key_in_url",
    ),
    Row("no key before an unknown path", "GET", "/v1/nothing", 401, ("X-API-Key",), has_key=False),
    Row(
        "no key before a target that cannot be decoded",
        "GET",
        "/v1/inboxes?tag=%ff",
        401,
        ("X-API-Key",),
        has_key=False,
    ),
    Row("two keys", *_GET, 401, ("X-API-Key is given more than once",), headers={"x-api-key": "x"}),
    *(
        Row(
            f"key: {name}",
            *_GET,
            401,
            ("X-API-Key is not a valid API key",),
            headers={"X-API-Key": key},
            has_key=False,
        )
        for name, key in _KEYS.items()
    ),
]
