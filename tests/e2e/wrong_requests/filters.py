"""Wrong filters of lists of emails, and wrong waits."""

from urllib.parse import quote

from wrong_requests.row import UNKNOWN, Row, get

_LISTS = ["/v1/inboxes/{inbox}/emails", "/v1/emails"]
_WAIT = "/v1/inboxes/{inbox}/emails/wait"

_TEXTS = ["", "x" * 501, "é" * 501, "%00", "%ff", "%01", "a%7F", "%C2%85"]
_INCLUDES = ["", "html", "text,html", ",", "TEXT", "text;codes", "text codes", "all"]
_TIMEOUTS = ["0", "61", "-1", "", "abc", "1.5", "30s", "99999999999999999999", "1e1", "0x1"]

ROWS: list[Row] = [
    *(
        get(f"{path}?{name}={quote(text, safe='%')}")
        for path in [*_LISTS, _WAIT]
        for name in ("from", "to", "subject")
        for text in _TEXTS
    ),
    *(
        get(
            f"{path}?include={quote(text, safe='')}",
            "include must be a comma-separated list of text, codes",
        )
        for path in _LISTS
        for text in _INCLUDES
    ),
    *(
        get(f"{path}?include=text&include=codes", "include is given more than once")
        for path in _LISTS
    ),
    get("/v1/emails?after=1", "after"),
    get("/v1/emails?hasCode=true", "hasCode"),
    get("/v1/emails?inboxId=" + UNKNOWN, "inboxId"),
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
        get(f"{_WAIT}?hasCode={text}", "hasCode must be one of true, false")
        for text in ("", "1", "yes", "TRUE")
    ),
    *(
        get(f"{_WAIT}?expect={text}", "expect must be one of one, none")
        for text in ("", "two", "NONE", "1")
    ),
    get(_WAIT + "?timeout=5", "timeout"),
    get(_WAIT + "?limit=5", "limit"),
    get(_WAIT + "?include=text", "include"),
    get(_WAIT + "?from=a&from=b", "from is given more than once"),
    get("/v1/inboxes/x/emails/wait", "inboxId must be a UUID"),
    get(f"/v1/inboxes/{UNKNOWN}/emails/wait?timeoutSeconds=60", UNKNOWN, status=404),
    Row("POST a wait", "POST", _WAIT, 405, ("GET",)),
]
