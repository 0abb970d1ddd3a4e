"""Mail is data for an agent: whatever tool reads a mail that gives orders, nothing of it is outside
the fence.
"""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from harness import Suite, send_raw
from harness.mcp_endpoint import McpEndpoint
from harness.suite import ROOT

_MAILS = sorted((ROOT / "tests" / "corpus" / "injection").glob("*.eml"))
_CONDITION = "nobody@else.example"  # the caller's own, which near misses name
_OWN_TEXT = re.compile(
    r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}"  # ids
    r"|\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z"  # times
    r"|matched|not_yet|found|none|verify|reset|unsubscribe|other"
    r"|\d+(\.\d+)*"  # attachmentId
    r"|[A-Za-z0-9-]{1,32}"  # a code
)


def _texts(value: Any, name: str = "") -> list[tuple[str, str]]:
    if isinstance(value, dict):
        return [leaf for key, inner in value.items() for leaf in _texts(inner, key)]
    if isinstance(value, list):
        return [leaf for inner in value for leaf in _texts(inner, name)]
    return [(name, value)] if isinstance(value, str) else []


def _assert_fenced(content: dict[str, Any]) -> str:
    """Every text is ours, the caller's or between the marks; gives all that is between them."""
    fence = content.pop("mailFence")
    assert re.fullmatch("\u27e6mail [0-9a-f]{16}\u27e7", fence["open"])
    assert fence["close"] == fence["open"].replace("mail", "/mail")
    inside = []
    for name, text in _texts(content):
        if text.startswith(fence["open"]):
            assert text.endswith(fence["close"]), (name, text)
            inside.append(text[len(fence["open"]) : -len(fence["close"])])
            assert not set("\u27e6\u27e7") & set(inside[-1]), (name, text)
            assert not re.search("[\u200b-\u200f\u202a-\u202e\U000e0000-\U000e0fff]", text)
        else:
            assert _OWN_TEXT.fullmatch(text) or text == _CONDITION, (name, text)
            assert "INJECT" not in text.upper(), (name, text)
    return "\n".join(inside)


@pytest.fixture(scope="module")
def mcp(suite: Suite) -> McpEndpoint:
    """The demo account's."""
    return McpEndpoint(suite["API"], suite["API_KEY"])


def test_none_is_left_out() -> None:
    assert len(_MAILS) == 45


@pytest.mark.parametrize("mail", _MAILS, ids=lambda path: path.stem)
def test_nothing_of_the_mail_is_outside_the_fence(
    suite: Suite, mcp: McpEndpoint, mail: Path
) -> None:
    inbox = mcp.call("create_inbox")
    assert send_raw(suite, [inbox["emailAddress"]], mail.read_bytes()) == {}

    missed = mcp.call(
        "wait_for_email", inboxId=inbox["inboxId"], from_=_CONDITION, timeoutSeconds=1
    )
    waited = mcp.call("wait_for_email", inboxId=inbox["inboxId"])
    emailed = waited["email"]["emailId"]
    read = mcp.call("read_email", emailId=emailed)
    link = mcp.call("get_link", emailId=emailed)
    code = mcp.call("get_code", emailId=emailed)
    fences = {each["mailFence"]["open"] for each in (missed, waited, read, link, code)}

    assert len(fences) == 5, "each result has a nonce of its own"
    text = _assert_fenced(read)
    for other in (missed, waited, link, code):
        text += _assert_fenced(other)
    assert "SEEN" in text
    assert "UNSEEN" not in text
    assert "UNSEEN" not in json.dumps([missed, waited, read, link, code])


def test_a_mail_cannot_write_where_its_links_lead(suite: Suite, mcp: McpEndpoint) -> None:
    inbox = mcp.call("create_inbox")
    (mail,) = (mail for mail in _MAILS if mail.name.startswith("44-"))
    assert send_raw(suite, [inbox["emailAddress"]], mail.read_bytes()) == {}

    waited = mcp.call("wait_for_email", inboxId=inbox["inboxId"])
    read = mcp.call("read_email", emailId=waited["email"]["emailId"])
    link = mcp.call("get_link", emailId=waited["email"]["emailId"])

    assert re.findall("\u27e8link: (.*?)\u27e9", read["text"]) == ["collect.example"] * 2
    del read["text"]
    assert "\u27e8" not in json.dumps([waited, read, link], ensure_ascii=False)
