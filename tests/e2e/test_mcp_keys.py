"""Tests what a restricted key may do by the tools at /mcp."""

import json
from typing import Any

import pytest
from harness import Account, Suite
from harness.mail import send_raw
from harness.mcp_endpoint import McpEndpoint

_NOBODY = "00000000-0000-7000-8000-000000000000"
_INBOX: dict[str, Any] = {"inboxId": _NOBODY}
# The arguments of each tool, and the scope that it needs.
_TOOLS: dict[str, tuple[dict[str, Any], str]] = {
    "create_inbox": ({"localPart": "not valid because of spaces"}, "inboxes:write"),
    "list_inboxes": ({}, "inboxes:read"),
    "wait_for_email": (_INBOX, "emails:read"),
    "get_code": (_INBOX, "emails:read"),
    "get_link": (_INBOX, "emails:read"),
    "find_emails": ({"from": "nobody.example"}, "emails:read"),
    "read_email": ({"emailId": _NOBODY}, "emails:read"),
    "extend_inbox": (_INBOX | {"ttlSeconds": 600}, "inboxes:write"),
    "delete_inbox": (_INBOX, "inboxes:write"),
    "set_faults": (_INBOX | {"steps": []}, "inboxes:write"),
    "get_faults": (_INBOX, "inboxes:read"),
    "sender_report": (_INBOX, "emails:read"),
}
# All that there are. The last four open no tool: none changes mail or looks at the account or its
# webhooks.
_SCOPES = [
    "inboxes:read",
    "inboxes:write",
    "emails:read",
    "emails:write",
    "account:read",
    "webhooks:read",
    "webhooks:write",
]


def _key(suite: Suite, account: Account, *options: str) -> McpEndpoint:
    made = suite.operate("key", "create", account.account_id, "--label", "less", *options)
    return McpEndpoint(suite["API"], made["key"])


@pytest.fixture(scope="module")
def keys(suite: Suite) -> dict[str, McpEndpoint]:
    """A key of each scope."""
    # Premium has five keys, and each account has one already.
    owners = [Account.make(suite), Account.make(suite)]
    return {
        scope: _key(suite, owners[number // 4], "--scope", scope)
        for number, scope in enumerate(_SCOPES)
    }


def test_every_tool_has_a_row(keys: dict[str, McpEndpoint]) -> None:
    tools = keys["emails:read"].ask("tools/list")["tools"]

    assert {tool["name"] for tool in tools} == set(_TOOLS)


@pytest.mark.parametrize("scope", _SCOPES)
@pytest.mark.parametrize("tool", _TOOLS)
def test_a_scope_opens_its_tools_alone(keys: dict[str, McpEndpoint], tool: str, scope: str) -> None:
    arguments, needed = _TOOLS[tool]

    result = keys[scope].call_any(tool, **arguments)

    if needed != scope:
        assert result["isError"]
        assert result["content"][0]["text"] == (
            f"This operation needs an API key with the scope {needed}; this key has {scope}"
        )
    else:
        assert "scope" not in json.dumps(result)


def test_a_key_with_a_tag_makes_and_sees_its_inboxes_alone(suite: Suite, account: Account) -> None:
    everything = McpEndpoint(suite["API"], account.key)
    tagged = _key(suite, account, "--tag", "agent")
    outside = everything.call("create_inbox", tags=["other"])
    assert send_raw(suite, [outside["emailAddress"]], b"Subject: x\r\n\r\nsecret 482913\r\n") == {}
    email = everything.call("wait_for_email", inboxId=outside["inboxId"])["email"]

    inside = tagged.call("create_inbox")

    assert inside["tags"] == ["agent"]
    seen = tagged.call("list_inboxes", status="all")["inboxes"]
    assert [inbox["inboxId"] for inbox in seen] == [inside["inboxId"]]
    for tool, (arguments, _) in _TOOLS.items():
        if "inboxId" in arguments:
            said = tagged.error(tool, **(arguments | {"inboxId": outside["inboxId"]}))
            assert said == tagged.error(tool, **arguments).replace(_NOBODY, outside["inboxId"])
    assert "does not exist" in tagged.error("read_email", emailId=email["emailId"])
    assert everything.call("list_inboxes")["inboxes"][-1]["inboxId"] == outside["inboxId"]
