"""Bodies with a wrong field: type, range, length, characters, unknown names."""

from typing import Any

from wrong_requests.row import UNKNOWN, Row, create_inbox, create_webhook, send

_HUGE = 10**19
_TTL_RANGE = "ttlSeconds must be an integer from 60 to "

_NAMES: list[Any] = [
    1,
    1.5,
    True,
    [],
    {},
    ["x"],
    "",
    "x" * 101,
    "é" * 101,
    "a\u0000b",
    "bell\u0007",
    "\u0085",
    "\u007f",
    "\u001b[31m",
]
_LOCAL_PARTS: list[Any] = [
    "", 7, ["a"], "x" * 64, "x" * 65, "with space", "a@b", "a+b", "ü", ".a", "a.", "a..b", "-a",
    "_a", "**", "*a", "a/b", "a\nb", "\u0000", "а", "a'--", "%61",
]  # fmt: skip
_DOMAINS: list[Any] = [
    "", 7, {}, "elsewhere.example", "nodot", "[127.0.0.1]", "127.0.0.1", "ex ample.com",
    "-a.example", "a-.example", "a..example",
    "x" * 64 + ".example", "a." * 100 + "example", "bücher.example", "inbox.localhost\u0000",
    "inbox.localhost\r\nX: y",
]  # fmt: skip
_LIVES: list[Any] = [
    59, 0, -1, -60, 2_592_001, "60", "", 60.5, True, False, [60], {}, 2**31, 2**53, 2**63 - 1,
    2**63, -(2**63) - 1, _HUGE, -_HUGE, 10**300,
]  # fmt: skip
_TAGS: list[Any] = [
    "x",
    1,
    True,
    {},
    {"a": "b"},
    [1],
    [None],
    [True],
    [["a"]],
    [{}],
    [""],
    ["a", ""],
    ["x" * 51],
    ["a\u0001"],
    ["a"] * 11,
]
_METADATA: list[Any] = [
    "x", 1, [], ["a"], {"a": 1}, {"a": None}, {"a": True}, {"a": ["b"]}, {"a": {}}, {"": "x"},
    {"k" * 51: "x"}, {"a": "v" * 501},
    {"a\u0001": "x"}, {"a": "\u0000"}, {f"k{number}": "v" for number in range(21)},
]  # fmt: skip
_UNKNOWN: list[dict[str, Any]] = [
    {"nmae": "x"}, {"Name": "x"}, {"TTLSeconds": 60}, {"ttlseconds": 60}, {"inboxId": "x"},
    {"__proto__": {}}, {"": 1}, {"name ": "x"},
    {"name": "x", "extra": None}, {"\u0001": 1}, {"n" * 5_000: 1}, {"accountId": "x"},
]  # fmt: skip

_URLS: list[Any] = [
    None, 1, [], {}, "", "not a url", "example.com", "//example.com/", "/hook",
    "ftp://example.com/", "file:///etc/passwd", "javascript:alert(1)",
    "https://", "https:///x", "https://user@example.com/", "https://user:pass@example.com/",
    "https://example.com/#part", "https://exa mple.com/",
    "https://example.com/\u0000", "https://example.com\\@10.0.0.1/", "https://example.com:0/",
    "https://example.com:65536/", "https://example.com:x/",
    "https://example.com:22/", "https://example.com:25/", "https://example.com:6379/",
    "https://10.0.0.1/", "https://192.168.1.1/",
    "https://169.254.169.254/latest", "https://0.0.0.0/", "https://2130706433/", "https://0x7f.1/",
    "https://017700000001/", "https://127.1/",
    "https://[::]/", "https://[fe80::1]/", "https://[::ffff:10.0.0.1]/", "https://[fd00::1]/",
    "https://224.0.0.1/", "https://255.255.255.255/",
    "https://-a.example/", "https://a..example/", "https://bücher.example/",
    "https://" + "a" * 64 + ".example/", "https://example.com/" + "x" * 2_048,
]  # fmt: skip
_EVENTS: list[Any] = [
    "email.received",
    1,
    {},
    [],
    [1],
    [None],
    ["email.sent"],
    ["EMAIL.RECEIVED"],
    [""],
    ["email.received"] * 4,
    [["email.received"]],
]
_DESCRIPTIONS: list[Any] = [1, [], {}, True, "x" * 201, "a\u0000b", "\u0007"]
_FINE = "https://hooks.example.com/mail"
_MOMENTS: list[Any] = [
    1, 0, True, [], {}, "", "yesterday", "2026-11-21", "10:00", "2026-11-21T10:00:00",
    "2026-11-21 10:00", "2026-13-01T00:00:00Z", "2026-02-30T00:00:00Z",
    "1969-12-31T23:59:59Z", "2999-01-01T00:00:00Z", "1700000000",
    "2026-11-21T10:00:00Z; DROP TABLE", "2026-11-21T25:00:00Z", "x" * 41, "\u0000",
]  # fmt: skip
_PAST = "2026-01-01T00:00:00Z"
_TEST, _REPLAY, _RETRY = (
    f"/v1/webhooks/{{webhook}}/{last}" for last in ("test", "replay", f"deliveries/{UNKNOWN}/retry")
)

ROWS: list[Row] = [
    *(create_inbox({"name": given}, "name must") for given in _NAMES),
    *(create_inbox({"localPart": given}, "localPart must") for given in _LOCAL_PARTS),
    *(create_inbox({"domain": given}, "domain must") for given in _DOMAINS),
    *(create_inbox({"ttlSeconds": given}, _TTL_RANGE) for given in _LIVES),
    *(create_inbox({"tags": given}, "tags") for given in _TAGS),
    *(create_inbox({"metadata": given}, "metadata") for given in _METADATA),
    *(create_inbox(given, "is unknown here", "known are") for given in _UNKNOWN),
    *(create_webhook({"url": given}, "url ") for given in _URLS),
    *(create_webhook({"url": _FINE, "events": given}, "events") for given in _EVENTS),
    *(
        create_webhook({"url": _FINE, "description": given}, "description must")
        for given in _DESCRIPTIONS
    ),
    create_webhook({}, "url is required"),
    create_webhook(b"", "url is required", name="POST /v1/webhooks without a body"),
    create_webhook({"url": _FINE, "secret": "whsec_x"}, "is unknown here", "secret"),
    create_webhook({"url": _FINE, "isEnabled": True}, "is unknown here", "isEnabled"),
    create_webhook({"URL": _FINE}, "url is required"),
    *(send("POST", _REPLAY, {"since": given}, "since") for given in _MOMENTS),
    send("POST", _REPLAY, {}, "since is required"),
    send("POST", _REPLAY, b"", "since is required", name="POST …/replay without a body"),
    *(
        send("POST", _REPLAY, {"since": _PAST, "status": given}, "status")
        for given in ("pending", "FAILED", "", 1, ["failed"], True)
    ),
    send("POST", _REPLAY, {"since": _PAST, "until": _PAST}, "is unknown here", "until"),
    send("POST", _RETRY, {"event": "email.received"}, "is unknown here", "event"),
    *(
        send("POST", _TEST, {"event": given}, "event must be")
        for given in ("", "email.sent", "EMAIL.RECEIVED", 1, ["email.received"], True)
    ),
    send("POST", _TEST, {"events": ["email.received"]}, "is unknown here", "events"),
    *(
        send("POST", path, body, "body must be")
        for path in (_TEST, _RETRY, _REPLAY)
        for body in (b"[]", b"null", b'"x"')
    ),
]
