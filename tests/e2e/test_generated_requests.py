"""Requests made up by Schemathesis from docs/openapi.yaml, sound and unsound ones: no 5xx, nothing
undocumented, no body out of shape.
"""

import re
import subprocess
import sys
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
import schemathesis
from harness import Account, Suite, send
from harness.contract import Answer, contract
from hypothesis import HealthCheck, settings
from schemathesis.checks import not_a_server_error
from schemathesis.config import CacheConfig, SchemathesisConfig
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    negative_data_rejection,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)

_EXAMPLES = 60  # of each operation
_SECONDS = 30.0
_UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_UNKNOWN_NAME = re.compile("is unknown here; ")
_CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    negative_data_rejection,
]

# Without the security scheme: requests that lack the key would use up what an address has of them,
# which others test. Without a cache: it would be a folder of the checkout, and make later runs
# differ.
schema = schemathesis.openapi.from_dict(
    {name: part for name, part in contract().content.items() if name != "security"},
    config=SchemathesisConfig(cache=CacheConfig(enabled=False)),
)


class Things:
    """Objects that exist, so that not every made-up request ends with 404.

    What a request deleted is made anew.
    """

    def __init__(self, suite: Suite) -> None:
        self._suite = suite
        self.account = Account.make(suite)
        self._known: dict[str, str] = {}

    def id_of(self, kind: str) -> str:
        """Returns the id of a living inbox, email or webhook."""
        if not self._lives(kind):
            self._known[kind] = self._make(kind)
        return self._known[kind]

    def _lives(self, kind: str) -> bool:
        if kind not in self._known:
            return False
        path = {
            "inboxId": "/v1/inboxes/{}/emails",
            "emailId": "/v1/emails/{}",
            "webhookId": "/v1/webhooks/{}",
        }[kind]
        return self.account.api.call("GET", path.format(self._known[kind])).status_code == 200

    def _make(self, kind: str) -> str:
        api = self.account.api
        if kind == "inboxId":
            return str(api.new_inbox(ttlSeconds=3600)["inboxId"])
        if kind == "webhookId":
            for webhook in api.get("/v1/webhooks")["webhooks"]:
                api.delete("/v1/webhooks/" + webhook["webhookId"])
            return str(api.post("/v1/webhooks", {"url": "https://hooks.example.com/"})["webhookId"])
        address = api.get("/v1/inboxes/" + self.id_of("inboxId"))["emailAddress"]
        return send(self._suite, address, more=("--attach", "a file")).email_id


@pytest.fixture(scope="module")
def things(suite: Suite) -> Things:
    """Makes the objects for all operations."""
    return Things(suite)


def _aim(case: Any, things: Things) -> None:
    """Half of the ids made up become ones that exist; waits become short."""
    for name, given in (case.path_parameters or {}).items():
        if (
            name not in ("attachmentId", "deliveryId")
            and _UUID.fullmatch(str(given))
            and str(given)[-1] in "02468ace"
        ):
            case.path_parameters[name] = things.id_of(name)
    query = case.query or {}
    if case.operation.path.endswith("/wait") and _is_wait(query.get("timeoutSeconds", 30)):
        case.query = {**query, "timeoutSeconds": 1}
    if _is_wait(query.get("waitSeconds")):
        case.query = {**query, "waitSeconds": 1}


def _is_wait(seconds: object) -> bool:
    """A wait that is out of its bounds is left as it is."""
    return isinstance(seconds, int) and 1 <= seconds <= 60


@schema.parametrize()
@settings(
    max_examples=_EXAMPLES,
    deadline=None,
    derandomize=True,  # the same requests in every run: what was found once stays found
    database=None,
    suppress_health_check=list(HealthCheck),
)
def test_made_up_requests_are_answered_as_documented(
    case: Any, suite: Suite, things: Things
) -> None:
    _aim(case, things)

    answer = case.call(
        base_url=suite["API"], headers={"X-API-Key": things.account.key}, timeout=_SECONDS
    )

    headers = {name.lower(): ", ".join(values) for name, values in answer.headers.items()}
    seen = Answer(
        case.method.upper(),
        urlsplit(answer.request.url).path,
        answer.status_code,
        headers,
        answer.content,
    )
    if answer.status_code == 400 and headers.get("connection") == "close":
        contract().check_error(
            seen
        )  # a header that HTTP does not allow: refused before anything of the API
        return
    case.validate_response(answer, checks=_CHECKS)
    contract().check(seen)
    if case.meta.generation.mode.is_positive:
        assert not _UNKNOWN_NAME.search(answer.text), (
            f"the file has a name that the gateway does not know: {answer.text}"
        )


def test_made_up_requests_leave_no_files_in_the_current_folder(
    suite: Suite, tmp_path: Path
) -> None:
    assert suite["API"]
    command = [sys.executable, "-B", "-m", "pytest", "-p", "no:cacheprovider", __file__]
    done = subprocess.run(
        [*command, "-k", "v1/domains"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=120,
    )

    assert done.returncode == 0, done.stdout + done.stderr
    assert list(tmp_path.iterdir()) == []
