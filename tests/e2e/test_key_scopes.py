"""A key with scopes may do what they name and nothing else: every operation by every scope."""

import uuid
from typing import Any

import pytest
import requests
from harness import Account, Api, Dashboard, Suite, User, eventually
from harness.belongings import NOBODY
from harness.contract import contract
from harness.mail import send_raw

_SCOPES = [
    "inboxes:read",
    "inboxes:write",
    "emails:read",
    "emails:write",
    "webhooks:read",
    "webhooks:write",
    "account:read",
]
# The scope of each operation, by the name that docs/openapi.yaml gives it; None: any.
_NEEDED = {
    "listInboxes": "inboxes:read",
    "createInbox": "inboxes:write",
    "createInboxes": "inboxes:write",
    "deleteInboxesByTag": "inboxes:write",
    "getInbox": "inboxes:read",
    "updateInbox": "inboxes:write",
    "deleteInbox": "inboxes:write",
    "createCapture": "inboxes:write",
    "rotateCapture": "inboxes:write",
    "endCapture": "inboxes:write",
    "getFaults": "inboxes:read",
    "setFaults": "inboxes:write",
    "clearFaults": "inboxes:write",
    "getSenderReport": "emails:read",
    "listInboxEmails": "emails:read",
    "emptyInbox": "emails:write",
    "waitForEmail": "emails:read",
    "listRejections": "emails:read",
    "listDomains": None,
    "listEmails": "emails:read",
    "getEmail": "emails:read",
    "updateEmail": "emails:write",
    "deleteEmail": "emails:write",
    "getRawEmail": "emails:read",
    "getEmailTimeline": "emails:read",
    "getAttachment": "emails:read",
    "listEvents": None,
    "listWebhooks": "webhooks:read",
    "createWebhook": "webhooks:write",
    "getWebhook": "webhooks:read",
    "updateWebhook": "webhooks:write",
    "deleteWebhook": "webhooks:write",
    "rotateWebhookSecret": "webhooks:write",
    "testWebhook": "webhooks:write",
    "listDeliveries": "webhooks:read",
    "getDelivery": "webhooks:read",
    "retryDelivery": "webhooks:write",
    "replayDeliveries": "webhooks:write",
    "getAccount": "account:read",
    "getUsage": "account:read",
}
# Of two scopes each opens a part: the types of events that it is about.
_EITHER = {"listEvents": {"emails:read", "inboxes:read"}}
_OPERATIONS = [
    (method, path, contract().content["paths"][path][method.lower()])
    for method, path in contract().operations()
]
_IDS = [operation["operationId"] for _, _, operation in _OPERATIONS]


def _path(path: str) -> str:
    """Returns the path with ids of nothing."""
    names = ("inboxId", "emailId", "webhookId", "deliveryId")
    return path.format(**dict.fromkeys(names, NOBODY), attachmentId="1")


def _send(api: Api, method: str, path: str) -> requests.Response:
    """A request that changes nothing, whoever may make it."""
    more: dict[str, Any] = {} if method in ("GET", "DELETE") else {"json": {"no such field": 1}}
    return api.call(method, _path(path), **more)


@pytest.fixture(scope="module")
def keys(suite: Suite) -> dict[str, Api]:
    """A key of each scope, and `everything` of one that has no scopes."""
    # Premium has five keys.
    first, second = Account.make(suite), Account.make(suite)
    made = {"everything": first.api}
    for number, scope in enumerate(_SCOPES):
        owner = first if number < 4 else second
        made[scope] = _key(suite, owner, "--scope", scope)
    return made


def _key(suite: Suite, account: Account, *options: str) -> Api:
    key = suite.operate("key", "create", account.account_id, "--label", "less", *options)["key"]
    return Api(suite["API"], key)


def test_every_operation_has_a_row_and_names_its_scope_in_the_contract() -> None:
    named = {
        operation["operationId"]: [
            scope for each in operation.get("security", []) for scope in each.get("apiKey", [])
        ]
        for _, _, operation in _OPERATIONS
    }

    assert named == {name: [scope] if scope else [] for name, scope in _NEEDED.items()}
    assert {scope for scope in _NEEDED.values() if scope} == set(_SCOPES)


@pytest.mark.parametrize("scope", _SCOPES)
@pytest.mark.parametrize(("method", "path", "operation"), _OPERATIONS, ids=_IDS)
def test_a_scope_opens_its_operations_alone(
    keys: dict[str, Api], method: str, path: str, operation: dict[str, Any], scope: str
) -> None:
    needed = _NEEDED[operation["operationId"]]

    answer = _send(keys[scope], method, path)

    if scope not in _EITHER.get(operation["operationId"], {scope}):
        assert answer.status_code == 403
    elif needed in (None, scope):
        assert answer.status_code in (200, 400, 404), answer.text
    else:
        assert answer.status_code == 403
        assert answer.json()["message"] == (
            f"This operation needs an API key with the scope {needed}; this key has {scope}"
        )
        assert int(answer.headers["X-RateLimit-Limit"]) > 0


@pytest.mark.parametrize(("method", "path", "operation"), _OPERATIONS, ids=_IDS)
def test_a_key_without_scopes_may_do_everything(
    keys: dict[str, Api], method: str, path: str, operation: dict[str, Any]
) -> None:
    assert _send(keys["everything"], method, path).status_code in (200, 400, 404), operation


def test_several_scopes_are_all_in_force(suite: Suite, account: Account) -> None:
    api = _key(suite, account, "--scope", "inboxes:write", "--scope", "emails:read")

    inbox = api.new_inbox()

    assert api.get(f"/v1/inboxes/{inbox['inboxId']}/emails")["emails"] == []
    assert api.call("GET", "/v1/inboxes").status_code == 403
    assert api.call("HEAD", "/v1/inboxes").status_code == 403
    assert api.call("HEAD", "/v1/emails").status_code == 200


def test_a_key_without_the_scope_of_webhooks_sees_none_in_an_email(
    suite: Suite, account: Account
) -> None:
    api = _key(suite, account, "--scope", "emails:read")
    inbox = account.api.new_inbox()
    assert send_raw(suite, [inbox["emailAddress"]], b"Subject: hi\r\n\r\nhi\r\n") == {}
    (email,) = api.get(f"/v1/inboxes/{inbox['inboxId']}/emails")["emails"]

    timeline = api.get(f"/v1/emails/{email['emailId']}/timeline")

    assert timeline["missing"] == ["webhooks_scope_required"]
    eventually(
        lambda: account.api.get(f"/v1/emails/{email['emailId']}/timeline")["missing"] == [],
        "the dispatcher answers in time",
    )
    assert api.get(f"/v1/emails/{email['emailId']}")["routing"] is None


def test_the_scope_is_judged_before_a_stored_response_is_given_again(
    suite: Suite, account: Account
) -> None:
    reader = _key(suite, account, "--scope", "webhooks:read")
    body = {
        "json": {"url": "http://127.0.0.1:49151/hook"},
        "headers": {"Idempotency-Key": uuid.uuid4().hex},
    }
    made = account.api.call("POST", "/v1/webhooks", **body)
    assert made.status_code == 201

    refused = reader.call("POST", "/v1/webhooks", **body)

    assert refused.status_code == 403
    assert "webhooks:write" in refused.json()["message"]
    assert made.json()["secret"] not in refused.text


def test_a_stored_response_belongs_to_its_key(suite: Suite, account: Account) -> None:
    other = _key(suite, account)
    writer = _key(suite, account, "--scope", "inboxes:write")
    headers = {"Idempotency-Key": uuid.uuid4().hex}

    answers = [
        api.call("POST", "/v1/inboxes", headers=headers)
        for api in (account.api, other, writer, account.api, other, writer)
    ]

    assert {answer.status_code for answer in answers} == {201}
    made = [answer.json()["inboxId"] for answer in answers]
    assert made[:3] == made[3:]
    assert len(set(made)) == 3
    replayed = [answer.headers.get("Idempotency-Replayed") for answer in answers]
    assert replayed == [None] * 3 + ["true"] * 3


def test_no_key_makes_a_key(suite: Suite, account: Account) -> None:
    body = {"label": "wider"}

    assert account.api.call("POST", "/v1/keys", json=body).status_code == 404
    dashboard = Dashboard(suite["API"])
    answer = dashboard.call("POST", "/keys", headers={"X-API-Key": account.key}, json=body)
    assert answer.status_code == 401
    assert len(suite.operate("key", "list", account.account_id)["keys"]) == 1


def test_a_restricted_key_is_one_of_the_plans_five(suite: Suite, account: Account) -> None:
    for _ in range(4):
        _key(suite, account, "--scope", "account:read")

    with pytest.raises(AssertionError, match="5 API keys, all in use"):
        _key(suite, account, "--tag", "ci")


def test_the_dashboard_makes_and_shows_what_a_key_may_do(suite: Suite) -> None:
    user = User.make(suite)
    made = user.dashboard.post(
        "/keys",
        {
            "label": "CI",
            "scopes": ["emails:read", "inboxes:write", "emails:read"],
            "tag": "ci",
            "expiresAt": "2099-01-31T10:00:00+01:00",
        },
    )
    user.dashboard.post("/keys", {"label": "all"})

    restricted, plain = user.dashboard.get("/keys")["keys"]

    assert made == restricted | {"key": made["key"]}
    assert restricted["scopes"] == ["inboxes:write", "emails:read"]
    assert restricted["tag"] == "ci"
    assert restricted["expiresAt"] == "2099-01-31T09:00:00.000Z"
    assert (restricted["isActive"], restricted["isExpired"]) == (True, False)
    assert (plain["scopes"], plain["tag"], plain["expiresAt"]) == (None, None, None)
    api = Api(suite["API"], made["key"])
    assert api.new_inbox()["tags"] == ["ci"]
    assert api.call("GET", "/v1/inboxes").status_code == 403
