"""Wrong filters of lists of emails, and wrong waits."""

from urllib.parse import quote

from wrong_requests.row import UNKNOWN, Row, get

_LISTS = ["/v1/inboxes/{inbox}/emails", "/v1/emails"]
_WAIT = "/v1/inboxes/{inbox}/emails/wait"

_TEXTS = ["", "x" * 501, "é" * 501, "%00", "%ff", "%01", "a%7F", "%C2%85"]
_INCLUDES = ["", "html", "text,html", ",", "TEXT", "text;codes", "text codes", "all"]
_TIMES = ["", "yesterday", "1h", "2026-11-21", "2026-02-30T00:00:00Z", "1763719200", "%00"]
_TIMEOUTS = ["0", "61", "-1", "", "abc", "1.5", "30s", "99999999999999999999", "1e1", "0x1"]

ROWS: list[Row] = [
    *(
        get(f"{path}?{name}={quote(text, safe='%')}")
        for path in [*_LISTS, _WAIT]
        for name in ("from", "to", "recipient", "subject", "text", "header.x-run")
        for text in _TEXTS
    ),
    *(
        get(
            f"{path}?include={quote(text, safe='')}",
            "include must be a comma-separated list of text, codes, links",
        )
        for path in _LISTS
        for text in _INCLUDES
    ),
    *(
        get(f"{path}?include=text&include=codes", "include is given more than once")
        for path in _LISTS
    ),
    *(
        get(
            f"/v1/emails?after={text}",
            "after belongs to one inbox; follow an account with GET /v1/events",
        )
        for text in ("1", "", "x")
    ),
    get("/v1/emails?inboxId=" + UNKNOWN, "inboxId"),
    *(get(f"/v1/emails?tag={text}", "tag must") for text in ("", "x" * 51, "%01")),
    *(get(f"{path}?tag=a", "tag") for path in (_LISTS[0], _WAIT)),
    *(get(f"{path}?authenticated=true", "authenticated") for path in [*_LISTS, _WAIT]),
    *(
        get(
            f"{_WAIT}?timeoutSeconds={quote(text, safe='')}",
            "timeoutSeconds must be an integer from 1 to 60",
        )
        for text in _TIMEOUTS
    ),
    *(
        get(f"{_WAIT}?after={text}", "after must be an integer from 0")
        for text in ("-1", "", "x", "9223372036854775808")
    ),
    *(
        get(f"{path}?{name}={text}", f"{name} must be one of true, false")
        for path in [*_LISTS, _WAIT]
        for name in ("hasCode", "hasLink", "hasAttachment", "isRead")
        for text in ("", "1", "yes", "TRUE")
    ),
    *(
        get(f"{path}?linkKind={text}", "linkKind must be one of verify, reset, unsubscribe, other")
        for path in [*_LISTS, _WAIT]
        for text in ("", "Verify", "magic", "verify,reset")
    ),
    *(
        get(f"{path}?hasLink=false&linkKind=verify", "linkKind must be left out with hasLink=false")
        for path in [*_LISTS, _WAIT]
    ),
    *(
        get(f"{path}?{name}={quote(text, safe='')}", f"{name} must be a time such as")
        for path in [*_LISTS, _WAIT]
        for name in ("since", "until")
        for text in _TIMES
    ),
    *(
        get(f"{path}?since=2026-11-21T10:00:00Z&until={until}", "until must be later than since")
        for path in [*_LISTS, _WAIT]
        for until in ("2026-11-21T10:00:00Z", "2026-11-21T09:59:59.999Z", "1970-01-01T00:00:00Z")
    ),
    *(
        get(f"{_WAIT}?expect={text}", "expect must be one of one, none")
        for text in ("", "two", "NONE", "1")
    ),
    *(
        get(f"{path}?{query}", mentioned)
        for path in [*_LISTS, _WAIT]
        for query, mentioned in (
            ("text=%20%20", "text must have a character that is shown"),
            ("text=%C2%A0%C2%AD", "text must have a character that is shown"),
            ("header.=a", "header."),
            ("header.a%20b=c", "header.a b"),
            ("header.a:b=c", "header.a:b"),
            (f"header.{'x' * 101}=c", "a header's name of 1 to 100 characters"),
            ("header.a=b&header.A=b", "header.A is given more than once"),
            ("header.a=b&header.a=b", "header.a is given more than once"),
            ("&".join(f"header.{name}=x" for name in "abcde"), "header.e is one too many"),
        )
    ),
    *(
        get(f"{_WAIT}?minCount={text}", "minCount must be an integer from 1 to 100")
        for text in ("0", "101", "-1", "", "x")
    ),
    get(f"{_WAIT}?minCount=2&expect=none", "minCount must be 1"),
    get(_WAIT + "?timeout=5", "timeout"),
    get(_WAIT + "?limit=5", "limit"),
    get(_WAIT + "?include=text", "include"),
    get(_WAIT + "?from=a&from=b", "from is given more than once"),
    get("/v1/inboxes/x/emails/wait", "inboxId must be a UUID"),
    get(f"/v1/inboxes/{UNKNOWN}/emails/wait?timeoutSeconds=60", UNKNOWN, status=404),
    *(
        get(f"/v1/events?{query}", mentioned)
        for query, mentioned in (
            ("limit=0", "limit must be an integer from 1 to 500"),
            ("limit=501", "limit must be an integer from 1 to 500"),
            ("waitSeconds=61", "waitSeconds must be an integer from 0 to 60"),
            ("types=", "types must be a comma-separated list of email.received"),
            ("types=email.sent", "types must be a comma-separated list of email.received"),
            ("tag=", "tag must have 1 to 50 characters"),
            ("inboxId=x", "inboxId must be a UUID"),
            ("after=", "after must have 1 to 64 characters"),
            ("after=x", "after must be a cursor of this account"),
            ("after=" + UNKNOWN, UNKNOWN),
            ("since=yesterday", "since must be a time of the last 72 hours"),
            ("since=2020-01-01T00:00:00Z", "since must be a time of the last 72 hours"),
            ("after=latest&since=2020-01-01T00:00:00Z", "since"),
            ("cursor=x", "cursor"),
        )
    ),
    get(f"/v1/events?inboxId={UNKNOWN}", UNKNOWN, status=404),
    Row("POST events", "POST", "/v1/events", 405, ("GET",)),
    Row("POST a wait", "POST", _WAIT, 405, ("GET",)),
]
