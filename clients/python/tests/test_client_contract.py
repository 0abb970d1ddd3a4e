"""The client has all of the contract, and refuses what the contract refuses."""

import inspect
import re
from collections.abc import Callable
from typing import Any

import pytest
import yaml
from suite_tools import ROOT

import tempinbox
from tempinbox import AsyncTempinbox, ConfigurationError, InvalidArgument, Tempinbox
from tempinbox._calls import Send, call

ID = "01934f2e-7b1c-7d3a-9f00-5a1b2c3d4e5f"


def _operations() -> set[str]:
    contract = yaml.safe_load((ROOT / "docs" / "openapi.yaml").read_text(encoding="utf-8"))
    methods = [node for path in contract["paths"].values() for node in path.values()]
    ids = [node["operationId"] for node in methods if isinstance(node, dict)]
    return {re.sub(r"([A-Z])", lambda found: "_" + found[1].lower(), one) for one in ids}


@pytest.mark.parametrize("kind", [Tempinbox, AsyncTempinbox])
def test_every_operation_is_a_method(kind: type) -> None:
    methods = {name for name, _ in inspect.getmembers(kind, inspect.isfunction)}

    assert len(_operations()) >= 30
    assert _operations() - methods == set()


def test_both_clients_have_the_same_methods() -> None:
    blocking, awaiting = (
        {
            name: list(inspect.signature(method).parameters)
            for name, method in inspect.getmembers(kind, inspect.isfunction)
            if not name.startswith("_")
        }
        for kind in (Tempinbox, AsyncTempinbox)
    )

    assert blocking.pop("close") == awaiting.pop("aclose")
    assert blocking == awaiting


def test_the_version_is_that_of_the_api() -> None:
    version = (ROOT / "VERSION").read_text(encoding="ascii").strip()
    assert tempinbox.__version__ == version.replace("-dev", ".dev0")  # PEP 440


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"ttl_seconds": 59}, "ttl_seconds must be an integer from 60, not 59"),
        ({"ttl_seconds": "60"}, "ttl_seconds must be an integer from 60"),
        ({"ttl_seconds": True}, "ttl_seconds must be an integer from 60, not True"),
        ({"name": "x" * 101}, "name must be a string of 1 to 100 characters"),
        ({"name": "a\x07"}, "no control characters"),
        ({"local_part": "a..b"}, "local_part must be a string of 1 to 63 characters that matches"),
        ({"local_part": "ab\n"}, "local_part must be"),
        ({"tags": "one"}, "tags must be a list of 0 to 10 items"),
        ({"tags": ["x"] * 11}, "tags must be a list of 0 to 10 items, not 11 items"),
        ({"tags": ["ok", ""]}, r"tags\[1\] must be a string of 1 to 50 characters"),
        ({"metadata": {"a": 1}}, r"metadata\['a'\] must be a string of 0 to 500 characters"),
        ({"metadata": {"k" * 51: "x"}}, "a name in metadata must be a string of 1 to 50"),
        ({"metadata": {str(n): "" for n in range(21)}}, "a dict of at most 20 pairs"),
        ({"idempotency_key": "ä"}, "idempotency_key must be 1 to 255 printable ASCII"),
    ],
)
def test_a_wrong_argument_is_refused_before_the_call(given: dict[str, Any], says: str) -> None:
    with Tempinbox(base_url="http://127.0.0.1:1", api_key="x") as client:
        with pytest.raises(InvalidArgument, match=says) as caught:
            client.create_inbox(**given)

        assert caught.value.argument


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ([], "inboxes must be a list of 1 to 100 items, not an empty one"),
        ([{}] * 101, "inboxes must be a list of 1 to 100 items, not 101 items"),
        ({}, "inboxes must be a list"),
        ([{}, "x"], r"inboxes\[1\] must be a dict, not \"x\""),
        ([{"nme": "x"}], r"inboxes\[0\]\['nme'\] is unknown; known are local_part, domain"),
        ([{"ttl_seconds": 59}], r"inboxes\[0\]\['ttl_seconds'\] must be an integer from 60"),
        ([{"tags": ["ok", ""]}], r"inboxes\[0\]\['tags'\]\[1\] must be a string of 1 to 50"),
    ],
)
def test_a_wrong_inbox_of_a_batch_is_refused_before_the_call(given: Any, says: str) -> None:
    with (
        Tempinbox(base_url="http://127.0.0.1:1", api_key="x") as client,
        pytest.raises(InvalidArgument, match=says),
    ):
        client.create_inboxes(given)


def test_other_calls_refuse_theirs() -> None:
    wrong: Any = "x"
    with Tempinbox(base_url="http://127.0.0.1:1", api_key="x") as client:
        calls: list[tuple[str, Callable[[], object]]] = [
            ("inbox_id must be a UUID", lambda: client.get_inbox("../account")),
            ("status must be one of active", lambda: next(client.list_inboxes(status=wrong))),
            ("order must be one of desc, asc", lambda: next(client.list_webhooks(order=wrong))),
            ("page_size must be an integer", lambda: next(client.list_emails(page_size=0))),
            ("has_code must be True or", lambda: client.wait_for_email(ID, has_code=wrong)),
            ("timeout must be a number from 1", lambda: client.wait_for_email(ID, timeout=0)),
            ("after must be a sequence from 0", lambda: client.wait_for_email(ID, after=-1)),
            ("from_ must be a string of 1 to 500", lambda: client.wait_for_code(ID, from_="")),
            ("kind must be one of verify", lambda: client.wait_for_link(ID, kind=wrong)),
            ("must have at least one of: ttl_seconds", lambda: client.update_inbox(ID)),
            ("since must be a time with a zone", lambda: client.replay_deliveries(ID, since="now")),
            ("is_read must be True or False", lambda: client.update_email(ID, is_read=wrong)),
        ]
        for says, call in calls:
            with pytest.raises(InvalidArgument, match=says):
                call()


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"base_url": ""}, "address of the service is missing: give it as .*TEMPINBOX_BASE_URL"),
        ({"base_url": "ftp://host"}, "must be http"),
        ({"base_url": "https://user@host"}, "without user name"),
        ({"base_url": "https://host/v1"}, "must be without /v1"),
        ({"base_url": "https://host:99999"}, "must be http"),
        ({"api_key": ""}, "API key is missing: .*TEMPINBOX_API_KEY"),
        ({"api_key": "se cret"}, "printable ASCII characters without spaces"),
        ({"timeout": 0}, "timeout must be a number above 0"),
    ],
)
def test_a_wrong_setting_is_refused_at_construction(given: dict[str, Any], says: str) -> None:
    known: dict[str, Any] = {"base_url": "http://127.0.0.1:1", "api_key": "x"}
    with pytest.raises(ConfigurationError, match=says) as caught:
        Tempinbox(**(known | given))

    assert "se cret" not in str(caught.value)


def test_the_key_is_not_shown() -> None:
    with Tempinbox(base_url="http://127.0.0.1:1", api_key="secret") as client:
        assert "secret" not in repr(client.settings)
        request = next(call(client.settings, "getAccount", {}))
        assert isinstance(request, Send)
        assert request.headers["X-API-Key"] == "secret"
        assert "secret" not in repr(request)
