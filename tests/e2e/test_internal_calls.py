"""Calls between the services, as somebody sees them who reaches their ports."""

import pytest
from harness import Suite
from harness.raw import exchange

_METHODS = {
    "INBOX": "tempinbox.inbox.v1.InboxService/GetInbox",
    "RATE_LIMIT": "tempinbox.ratelimit.v1.RateLimitService/TakeQuota",
    "WEBHOOK_DISPATCHER": "tempinbox.webhooks.v1.WebhookService/ListWebhooks",
}
_LARGEST_MIB = {"INBOX": 1, "RATE_LIMIT": 4, "WEBHOOK_DISPATCHER": 1}


def _header(method: str, length: int, token: str | None) -> bytes:
    """Returns the header of a call whose body never comes."""
    credentials = f"Authorization: Bearer {token}\r\n" if token else ""
    return (
        f"POST /{method} HTTP/1.1\r\nHost: h\r\nContent-Type: application/proto\r\n{credentials}"
        f"Content-Length: {length}\r\n\r\n"
    ).encode()


@pytest.mark.parametrize("service", _METHODS)
def test_nobody_without_the_token_has_a_body_waited_for(suite: Suite, service: str) -> None:
    address = f"http://{suite[f'{service}_1_RPC']}"

    for token in (None, "wrong-token-0123456789"):
        answer = exchange(address, _header(_METHODS[service], 1000, token))

        assert answer.status == 401
        assert answer.headers["connection"] == "close"
        assert b'"code":"unauthenticated"' in answer.body


@pytest.mark.parametrize("service", _METHODS)
def test_a_body_over_the_limit_is_refused_before_it_comes(suite: Suite, service: str) -> None:
    length = _LARGEST_MIB[service] * 1024 * 1024

    answer = exchange(
        f"http://{suite[f'{service}_1_RPC']}",
        _header(_METHODS[service], length + 1, suite["RPC_TOKEN"]),
    )

    assert answer.status == 400
    assert b"too large" in answer.body
