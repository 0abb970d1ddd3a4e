"""Wrong ids, query parameters, cursors, paths and methods."""

from urllib.parse import quote

from wrong_requests.row import UNKNOWN, Row, get

_BAD_IDS = [
    "1", "x", "null", "undefined", "-1", "%20", UNKNOWN[:-1], UNKNOWN + "0",
    UNKNOWN.replace("-", ""), "{" + UNKNOWN + "}", "urn:uuid:" + UNKNOWN,
    UNKNOWN.replace("-", "_"), UNKNOWN[:-1] + "g", UNKNOWN + "%20", "%20" + UNKNOWN,
    UNKNOWN + "%0A", UNKNOWN + "%0D%0AX-A:%20b", UNKNOWN + "%2F",
    "01934f2e7-b1c-7d3a-9f00-5a1b2c3d4e5f", quote("０1934f2e-7b1c-7d3a-9f00-5a1b2c3d4e5f"),
    "%27%20OR%201=1--", "..%2f..%2fetc%2fpasswd", "*",
    "0x01934f2e-7b1c-7d3a-9f00-5a1b2c3d4e", "a" * 5_000,
]  # fmt: skip
_BY_ID = {
    "inboxId": "/v1/inboxes/{id}",
    "emailId": "/v1/emails/{id}",
    "webhookId": "/v1/webhooks/{id}",
}
_UNDECODABLE = ["%", "%2", "%zz", "%ff", "%00", "%c0%80", "%ed%a0%80", "a%fe"]

_LISTS = [
    "/v1/inboxes",
    "/v1/inboxes/{inbox}/emails",
    "/v1/emails",
    "/v1/webhooks",
    "/v1/webhooks/{webhook}/deliveries",
]
_BAD_ORDERS = ["", "ASC", "newest", "asc,desc", "-createdAt", "1"]
_BAD_LIMITS = [
    "0",
    "101",
    "-1",
    "abc",
    "",
    "1.5",
    "1e1",
    "0x10",
    "%2B5",
    "%205",
    "5%20",
    "99999999999999999999",
    "-99999999999999999999",
    "5,6",
    "null",
    "٥",
]
_BAD_CURSORS = [
    "x",
    "",
    "%20",
    "null",
    "AAAA",
    "A" * 501,
    "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
    "====",
    "%7B%7D",
    "a%0Ab",
    "🙂",
]

_QUERIES = [
    ("/v1/inboxes?status=dead", "status must be one of active, expired, all"),
    ("/v1/inboxes?status=ACTIVE", "status must"),
    ("/v1/inboxes?status=", "status must"),
    ("/v1/inboxes?status=active,expired", "status must"),
    ("/v1/inboxes?status=active&status=expired", "status is given more than once"),
    ("/v1/inboxes?tag=", "tag must"),
    ("/v1/inboxes?tag=" + "x" * 51, "tag must"),
    ("/v1/inboxes?tag=a&tag=b", "tag is given more than once"),
    ("/v1/inboxes?tag=%01", "tag must not contain control characters"),
    ("/v1/inboxes?address=", "address must"),
    ("/v1/inboxes?address=" + "x" * 400, "address must"),
    ("/v1/inboxes?limit=5&limit=5", "limit is given more than once"),
    ("/v1/inboxes?order=asc&order=desc", "order is given more than once"),
    ("/v1/inboxes/{inbox}/rejections?order=asc", "takes no query"),
    ("/v1/inboxes/{inbox}/sender-report?limit=1", "takes no query"),
    ("/v1/domains?order=asc", "takes no query"),
    ("/v1/inboxes?limt=5", "limt"),
    ("/v1/inboxes?Limit=5", "Limit"),
    ("/v1/inboxes?=5", '"" is unknown here'),
    ("/v1/inboxes?limit%5B%5D=5", "limit[]"),
    ("/v1/inboxes?offset=5", "offset"),
    ("/v1/inboxes?" + "x" * 2_000 + "=1", "is unknown here"),
    ("/v1/inboxes/{inbox}/emails?after=-1", "after must be an integer from 0"),
    ("/v1/inboxes/{inbox}/emails?after=x", "after must"),
    ("/v1/inboxes/{inbox}/emails?after=1.0", "after must"),
    ("/v1/inboxes/{inbox}/emails?after=9223372036854775808", "after must"),
    ("/v1/inboxes/{inbox}/emails?after=", "after must"),
    ("/v1/inboxes/{inbox}/emails?status=active", "status"),
    ("/v1/inboxes/{inbox}?limit=5", "takes no query"),
    ("/v1/emails/{email}?x=1", "takes no query"),
    ("/v1/webhooks/{webhook}?x", "takes no query"),
    ("/v1/webhooks?status=active", "status"),
    (
        "/v1/webhooks/{webhook}/deliveries?status=exhausted",
        "status must be one of pending, succeeded, failed",
    ),
    ("/v1/webhooks/{webhook}/deliveries?status=", "status must"),
    ("/v1/webhooks/{webhook}/deliveries?status=failed,pending", "status must"),
    ("/v1/webhooks/{webhook}/deliveries?state=failed", "state"),
    ("/v1/domains?limit=5", "takes no query"),
    ("/v1/account?verbose=true", "takes no query"),
    ("/v1/account/usage?days=7", "takes no query"),
    ("/v1/account/usage?limit=5", "takes no query"),
]

_NO_PATHS = [
    "/v1", "/v1/", "/v1/nothing", "/v1/inboxes/", "/v1//inboxes", "/v1/Inboxes",
    "/v1/inboxes/{inbox}/", "/v1/inboxes/{inbox}/nothing",
    "/v1/inboxes/{inbox}/emails/", "/v1/emails/{email}/nothing", "/v1/webhooks/{webhook}/nothing",
    "/v1/account/nothing", "/v1/./inboxes",
    "/v1/inboxes;a=b", "/v1/inboxes%2F{inbox}", "/v1/inboxes%20", "/v1/" + "a/" * 500,
]  # fmt: skip

_WRONG_METHODS = [
    ("PUT", "/v1/inboxes", "GET, HEAD, "),
    ("PATCH", "/v1/inboxes", "POST"),
    ("POST", "/v1/inboxes/{inbox}", "GET"),
    ("PUT", "/v1/inboxes/{inbox}", "DELETE"),
    ("POST", "/v1/inboxes/{inbox}/emails", "GET"),
    ("POST", "/v1/emails/{email}", "GET"),
    ("PUT", "/v1/emails/{email}", "GET"),
    ("PUT", "/v1/webhooks", "POST"),
    ("POST", "/v1/webhooks/{webhook}", "GET"),
    ("DELETE", "/v1/webhooks", "POST"),
    ("GET", "/v1/webhooks/{webhook}/test", "POST"),
    ("GET", "/v1/webhooks/{webhook}/replay", "POST"),
    ("POST", "/v1/webhooks/{webhook}/deliveries", "GET"),
    ("POST", "/v1/webhooks/{webhook}/deliveries/" + UNKNOWN, "GET"),
    ("GET", "/v1/webhooks/{webhook}/deliveries/" + UNKNOWN + "/retry", "POST"),
    ("POST", "/v1/emails", "GET"),
    ("DELETE", "/v1/emails", "GET"),
    ("DELETE", "/v1/emails/{email}/raw", "GET"),
    ("POST", "/v1/emails/{email}/attachments/1", "GET"),
    ("POST", "/v1/domains", "GET"),
    ("DELETE", "/v1/account", "GET"),
    ("POST", "/v1/account/usage", "GET"),
    ("TRACE", "/v1/inboxes", "GET"),
    ("FOO", "/v1/inboxes", "GET"),
    ("get", "/v1/inboxes", "GET"),
    ("PROPFIND", "/v1/account", "GET"),
    ("M-SEARCH", "/v1/account", "GET"),
]

ROWS: list[Row] = [
    *(
        get(path.format(id=bad), name + " must be a UUID")
        for name, path in _BY_ID.items()
        for bad in _BAD_IDS
    ),
    *(get(f"/v1/inboxes/{bad}/emails", "inboxId must be a UUID") for bad in _BAD_IDS[:4]),
    *(
        Row(f"DELETE {path} x", "DELETE", path.format(id="x"), 400, (name,))
        for name, path in _BY_ID.items()
        if name != "emailId"
    ),
    *(
        get(f"/v1/webhooks/{{webhook}}/deliveries/{bad}", "deliveryId must be a UUID")
        for bad in _BAD_IDS
    ),
    get(f"/v1/webhooks/{{webhook}}/deliveries/{UNKNOWN}?x=1", "takes no query"),
    *(
        Row(
            f"POST …/{bad[:40]}/retry",
            "POST",
            f"/v1/webhooks/{{webhook}}/deliveries/{bad}/retry",
            400,
            ("deliveryId must be a UUID",),
        )
        for bad in _BAD_IDS
    ),
    *(
        Row(f"POST …/{last} x", "POST", f"/v1/webhooks/x/{last}", 400, ("webhookId",))
        for last in ("test", "replay", f"deliveries/{UNKNOWN}/retry")
    ),
    Row("POST …/test?x", "POST", "/v1/webhooks/{webhook}/test?x=1", 400, ("takes no query",)),
    Row(
        "POST …/retry?x",
        "POST",
        f"/v1/webhooks/{{webhook}}/deliveries/{UNKNOWN}/retry?x=1",
        400,
        ("takes no query",),
    ),
    Row(
        "POST …/replay?x",
        "POST",
        "/v1/webhooks/{webhook}/replay?since=2026-01-01T00:00:00Z",
        400,
        ("takes no query",),
    ),
    *(get("/v1/inboxes/" + bad, "path") for bad in _UNDECODABLE),
    *(get("/v1/inboxes?tag=" + bad, "query") for bad in _UNDECODABLE),
    get("/v1/inboxes?%ff=1", "query"),
    *(
        get(f"{path}?limit={quote(bad, safe='%')}", "limit must be an integer from 1 to 100")
        for path in _LISTS
        for bad in _BAD_LIMITS
    ),
    *(
        get(f"{path}?cursor={quote(bad, safe='%')}", "cursor")
        for path in _LISTS
        for bad in _BAD_CURSORS
    ),
    *(
        get(f"{path}?order={quote(bad, safe='%')}", "order must be one of desc, asc")
        for path in _LISTS
        for bad in _BAD_ORDERS
    ),
    *(get(target, mention) for target, mention in _QUERIES),
    *(get(target, status=404) for target in _NO_PATHS),
    *(get(path.format(id=UNKNOWN), UNKNOWN, status=404) for path in _BY_ID.values()),
    get(f"/v1/webhooks/{UNKNOWN}/deliveries", UNKNOWN, status=404),
    get(f"/v1/webhooks/{{webhook}}/deliveries/{UNKNOWN}", UNKNOWN, status=404),
    Row(
        "POST …/retry of no delivery",
        "POST",
        f"/v1/webhooks/{{webhook}}/deliveries/{UNKNOWN}/retry",
        404,
        (UNKNOWN,),
    ),
    Row("POST …/test of no webhook", "POST", f"/v1/webhooks/{UNKNOWN}/test", 404, (UNKNOWN,)),
    *(
        Row(f"{method} {target}", method, target, 405, (f'"{method}"', allowed))
        for method, target, allowed in _WRONG_METHODS
    ),
]
