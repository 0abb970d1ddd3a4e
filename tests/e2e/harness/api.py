"""The public REST API, by python-requests."""

from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import requests

from harness.contract import Answer, contract

_SECONDS = 70.0  # past the longest wait the API offers


def outcome(answer: requests.Response) -> tuple[int, str]:
    """Returns the status and, of an error, the reason."""
    return answer.status_code, answer.headers.get("X-Error-Code", "")


class Api:
    """The API as one key sees it; with a file of authorities, over TLS that trusts them alone.

    `call` answers the response whatever its status; `get`, `post`, `put`, `patch` and `delete`
    insist on success and answer the JSON.
    """

    def __init__(self, base: str, key: str | None, ca_file: Path | None = None) -> None:
        self.base = base
        self._session = requests.Session()
        if ca_file:
            self._session.trust_env = False  # its bundle would win over `verify`
            self._session.verify = str(ca_file)
        if key is not None:
            self._session.headers["X-API-Key"] = key

    @property
    def headers(self) -> dict[str, str]:
        """Returns the headers of each request, for those who send one by other means."""
        return {name: str(value) for name, value in self._session.headers.items()}

    def call(self, method: str, path: str, **more: Any) -> requests.Response:
        """Any request; `more` as for requests.request.

        The answer is held against docs/openapi.yaml.
        """
        answer = self._session.request(method, self.base + path, timeout=_SECONDS, **more)
        headers = {name.lower(): value for name, value in answer.headers.items()}
        contract().check(
            Answer(method, urlsplit(answer.url).path, answer.status_code, headers, answer.content)
        )
        return answer

    def _insist(self, method: str, path: str, **more: Any) -> Any:
        answer = self.call(method, path, **more)
        assert answer.ok, f"{method} {path} answered {answer.status_code}: {answer.text}"
        return answer.json()

    def get(self, path: str, **query: Any) -> Any:
        """Query parameters by name; `from_` for a name Python keeps to itself."""
        return self._insist(
            "GET", path, params={name.rstrip("_"): value for name, value in query.items()}
        )

    def post(self, path: str, body: Any = None) -> Any:
        """Sends a POST; without a body nothing is sent."""
        return self._insist("POST", path, json=body)

    def patch(self, path: str, body: Any) -> Any:
        """A JSON merge patch."""
        return self._insist("PATCH", path, json=body)

    def put(self, path: str, body: Any) -> Any:
        """Replaces what is there."""
        return self._insist("PUT", path, json=body)

    def delete(self, path: str) -> Any:
        """The deleted object's id."""
        return self._insist("DELETE", path)

    def new_inbox(self, **params: Any) -> dict[str, Any]:
        """A fresh inbox."""
        inbox: dict[str, Any] = self.post("/v1/inboxes", params or None)
        return inbox
