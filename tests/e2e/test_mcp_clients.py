"""The official clients of the Model Context Protocol, and its official conformance suite, against a
gateway.
"""

import asyncio
import contextlib
import http.server
import json
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from dev import node_packages
from harness import Suite, send
from harness.mcp_endpoint import STATELESS, key_adder
from harness.suite import ROOT
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared._httpx_utils import create_mcp_http_client

_NODE = ROOT / "tests" / "e2e" / "node"
_CONFORMANCE = (
    _NODE / "node_modules" / "@modelcontextprotocol" / "conformance" / "dist" / "index.js"
)
_OLD_ENOUGH_FOR_CONFORMANCE = 22


@contextlib.contextmanager
def _sender(suite: Suite) -> Iterator[str]:
    """A server that sends a code to the address that is POSTed to it."""

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            address = self.rfile.read(int(self.headers["Content-Length"])).decode()
            sent = send(
                suite, address, subject="Your code", body="Your verification code is 482913."
            )
            self.send_response(200 if sent.is_accepted else 500)
            self.end_headers()

        def log_message(self, *_: Any) -> None:
            """Silence."""

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_the_typescript_client_signs_up(suite: Suite, mode: str) -> None:
    with _sender(suite) as send_url:
        given = {
            "url": suite["API"] + "/mcp",
            "key": suite["API_KEY"],
            "mode": mode,
            "sendUrl": send_url,
        }
        done = subprocess.run(
            ["node", str(_NODE / "mcp_client.mjs")],
            input=json.dumps(given),
            capture_output=True,
            text=True,
            timeout=90,
        )
    assert done.returncode == 0, done.stderr
    seen = json.loads(done.stdout)

    assert seen["tools"][0] == "create_inbox"
    assert len(seen["tools"]) == 12
    assert seen["early"]["outcome"] == "not_yet"
    assert seen["notices"], "progress was reported"
    assert seen["code"]["code"] == "482913"
    assert "482913" in seen["read"]["text"]
    assert "inboxId" in seen["wrong"]["error"]
    assert seen["gone"]["deleted"]
    assert (seen["revision"] == STATELESS) == (mode == "auto")


@pytest.mark.parametrize("mode", ["auto", "legacy", STATELESS])
def test_the_python_client_signs_up(suite: Suite, mode: str) -> None:
    seen = asyncio.run(_sign_up(suite, mode))

    assert seen["tools"][0] == "create_inbox"
    assert seen["early"]["outcome"] == "not_yet"
    assert seen["notices"], "progress was reported"
    assert seen["code"]["code"] == "482913"
    assert "482913" in seen["read"]["text"]
    assert (seen["revision"] == STATELESS) == (mode != "legacy")


async def _sign_up(suite: Suite, mode: str) -> dict[str, Any]:
    notices: list[float] = []

    async def note(progress: float, total: float | None, message: str | None) -> None:
        assert (total, message) == (12, "No matching email yet")
        notices.append(progress)

    http_client = create_mcp_http_client(headers={"X-API-Key": suite["API_KEY"]})
    transport = streamable_http_client(suite["API"] + "/mcp", http_client=http_client)
    async with http_client, Client(transport, mode=mode) as client:

        async def call(tool: str, **arguments: Any) -> dict[str, Any]:
            result = await client.call_tool(
                tool,
                arguments,
                progress_callback=note if "timeoutSeconds" in arguments else None,
            )
            assert not result.is_error, result
            content: dict[str, Any] = result.structured_content
            return content

        tools = [tool.name for tool in (await client.list_tools()).tools]
        inbox = await call("create_inbox", name="from Python")
        early = await call("wait_for_email", inboxId=inbox["inboxId"], timeoutSeconds=12)
        await asyncio.to_thread(
            send,
            suite,
            inbox["emailAddress"],
            subject="Your code",
            body="Your verification code is 482913.",
        )
        code = await call("get_code", inboxId=inbox["inboxId"])
        return {
            "tools": tools,
            "early": early,
            "notices": notices,
            "code": code,
            "read": await call("read_email", emailId=code["emailId"]),
            "revision": client.protocol_version,
        }


# The scenarios about this server, by revision. Others are left out: they need features that it
# does not have and does not announce (prompts, resources, completion, logging, sampling,
# elicitation), and for tools of the suite's own (`test_simple_text` …) that no other server has.
_SCENARIOS = {
    "2025-06-18": ["server-initialize", "ping", "tools-list"],
    "2025-11-25": [
        "server-initialize",
        "ping",
        "tools-list",
        "server-sse-multiple-streams",
        "dns-rebinding-protection",
    ],
    STATELESS: [
        "server-stateless",
        "tools-list",
        "server-sse-multiple-streams",
        "dns-rebinding-protection",
        "caching",
        "http-header-validation",
    ],
}


@pytest.fixture(scope="module")
def new_node() -> dict[str, str]:
    """An environment with a Node.js that the suite runs with."""
    return node_packages.ensure(_NODE, _OLD_ENOUGH_FOR_CONFORMANCE)


@pytest.mark.parametrize(
    ("revision", "scenario"),
    [(revision, name) for revision, names in _SCENARIOS.items() for name in names],
)
def test_the_conformance_suite_passes(
    suite: Suite, new_node: dict[str, str], tmp_path: Path, revision: str, scenario: str
) -> None:
    with key_adder(suite["API"], suite["API_KEY"]) as base:
        done = subprocess.run(
            [
                "node",
                str(_CONFORMANCE),
                "server",
                *("--url", base + "/mcp"),
                *("--scenario", scenario),
                *("--spec-version", revision),
                *("--expected-failures", str(_NODE / "mcp_conformance.yml")),
            ],
            cwd=tmp_path,  # it writes its results there
            env=new_node,
            capture_output=True,
            text=True,
            timeout=120,
        )

    assert done.returncode == 0, (done.stdout + done.stderr)[-8_000:]
