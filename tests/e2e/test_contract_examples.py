"""The examples of docs/openapi.yaml: each operation has one of its request and one of its response,
the requests do what they say, and the responses have the form they show.
"""

from collections.abc import Iterator
from typing import Any

import pytest
from harness import Account, Receiver, Suite, send
from harness.contract import contract

_OPERATIONS = list(contract().operations())
_IDS = [f"{method} {path}" for method, path in _OPERATIONS]
_OF_LOGINS = {  # what only an inbox with a login has
    ("POST", "/v1/inboxes/{inboxId}/capture/rotate"),
    ("DELETE", "/v1/inboxes/{inboxId}/capture"),
    ("GET", "/v1/inboxes/{inboxId}/sender-report"),
}
_DOMAIN = "inbox.example.com"  # stands for the installation's own


def _examples(media: dict[str, Any]) -> list[Any]:
    """The examples of a body, its own or its schema's."""
    if "examples" in media:
        return [one["value"] for one in media["examples"].values()]
    if "example" in media:
        return [media["example"]]
    schema = contract().resolve(media["schema"])
    return [schema["example"]] if "example" in schema else []


def _success(operation: dict[str, Any]) -> tuple[int, dict[str, Any]]:
    """Its first status of success, and what is answered with it."""
    status = min(status for status in operation["responses"] if status.startswith("2"))
    return int(status), contract().resolve(operation["responses"][status])


def _bodies(operation: dict[str, Any]) -> list[Any]:
    """The bodies to send; one without a body for an operation that takes none."""
    if "requestBody" not in operation:
        return [None]
    return _examples(operation["requestBody"]["content"]["application/json"])


@pytest.mark.parametrize(("method", "path"), _OPERATIONS, ids=_IDS)
def test_an_operation_has_examples_that_its_schemas_allow(method: str, path: str) -> None:
    operation = contract().operation(method, path)
    _, answer = _success(operation)
    answered = answer["content"]["application/json"]

    bodies, answers = _bodies(operation), _examples(answered)

    assert bodies
    assert answers
    for shown in answers:
        contract().validate(shown, answered["schema"], f"{method} {path}: example of the answer")
    for shown in bodies if "requestBody" in operation else []:
        taken = operation["requestBody"]["content"]["application/json"]["schema"]
        contract().validate(shown, taken, f"{method} {path}: example of the body")
    for parameter in map(contract().resolve, operation["parameters"]):
        where = f"{method} {path}: example of {parameter['name']}"
        assert "example" in parameter or not parameter.get("required"), where
        if "example" in parameter:
            contract().validate(parameter["example"], parameter["schema"], where)


def test_the_groups_stand_in_the_order_of_the_specification() -> None:
    groups = [contract().operation(*operation)["tags"] for operation in _OPERATIONS]

    assert [tag["name"] for tag in contract().content["tags"]] == [
        "Inboxes",
        "Emails",
        "Webhooks",
        "Account",
    ]
    order = [tag["name"] for tag in contract().content["tags"]]
    assert all(len(tags) == 1 for tags in groups)
    assert [tags[0] for tags in groups] == sorted((tags[0] for tags in groups), key=order.index)


class _World:
    """An account with an inbox, an email with an attachment, and a webhook with a delivery."""

    def __init__(self, suite: Suite, receiver: Receiver) -> None:
        self.api = Account.make(suite).api
        self._receiver = receiver
        [default] = [it for it in self.api.get("/v1/domains")["domains"] if it["isDefault"]]
        self._domain = default["domain"]
        inbox = self.api.new_inbox(tags=["run-4711"])
        attached = ("--attach-name", "hello.txt", "--attach", "hello")
        email = send(suite, inbox["emailAddress"], more=attached).email_id
        (attachment,) = self.api.get("/v1/emails/" + email)["attachments"]
        webhook = self.api.post("/v1/webhooks", {"url": receiver.url})["webhookId"]
        delivery = self.api.post(f"/v1/webhooks/{webhook}/test")["deliveryId"]
        self.ids = {
            "inboxId": inbox["inboxId"],
            "emailId": email,
            "attachmentId": attachment["attachmentId"],
            "webhookId": webhook,
            "deliveryId": delivery,
        }

    def here(self, example: Any) -> Any:
        """The example with this installation's own names, where it has made-up ones."""
        if isinstance(example, dict):
            return {name: self.here(inner) for name, inner in example.items()}
        if isinstance(example, list):
            return [self.here(inner) for inner in example]
        if isinstance(example, str) and example.startswith("https://example.com/"):
            return self._receiver.url
        return example.replace(_DOMAIN, self._domain) if isinstance(example, str) else example

    def query(self, operation: dict[str, Any]) -> dict[str, Any]:
        """What its parameters show, as a URL has it."""
        shown = {
            parameter["name"]: parameter["example"]
            for parameter in map(contract().resolve, operation["parameters"])
            if parameter["in"] == "query" and "example" in parameter
        }
        named = {name: value for name, value in shown.items() if not isinstance(value, dict)}
        for value in shown.values():
            named |= value if isinstance(value, dict) else {}
        return {name: self._in_url(value) for name, value in named.items()}

    def _in_url(self, value: Any) -> Any:
        if isinstance(value, bool):
            return "true" if value else "false"
        return ",".join(value) if isinstance(value, list) else self.here(value)


@pytest.fixture
def world(suite: Suite) -> Iterator[_World]:
    """Makes what the examples speak of."""
    with Receiver() as receiver:
        yield _World(suite, receiver)


@pytest.mark.parametrize(("method", "path"), _OPERATIONS, ids=_IDS)
def test_the_example_of_an_operation_is_executed(world: _World, method: str, path: str) -> None:
    operation = contract().operation(method, path)
    query = world.query(operation) | ({"timeoutSeconds": 1} if path.endswith("/wait") else {})
    status, _ = _success(operation)
    if (method, path) in _OF_LOGINS:
        world.api.post(f"/v1/inboxes/{world.ids['inboxId']}/capture")

    for body in _bodies(operation):
        done = world.api.call(
            method,
            path.format(**world.ids),
            params=query,
            **({} if body is None else {"json": world.here(body)}),
        )

        # The answer was held against the contract.
        assert done.status_code == status, f"{body}: {done.text}"
