"""The API calls of an upgrade: each must be answered, and well."""

import http.client
import json
import threading
from typing import Any

from chaos.calls import Calls

_CALL_SECONDS = 30.0
_TRIES = 200  # connections that no gateway takes, one after the other
_BETWEEN_TRIES_SECONDS = 0.02
_TOO_MANY, _BROKEN = 429, 500


class StrictCalls(Calls):
    """A gateway that takes no connection is passed over, as a balancer would. Whatever else fails
    is a violation: a connection that breaks, 429, 5xx.
    """

    passed_over = 0

    def _round(self, number: int) -> None:
        super()._round(number)
        self._read("/v1/webhooks")  # of the dispatcher

    def _call(
        self, method: str, path: str, body: Any = None, headers: dict[str, str] | None = None
    ) -> tuple[int, Any]:
        """Status and JSON; 0 where no answer came."""
        content = None if body is None else json.dumps(body)
        own = {"X-API-Key": self._key, "Content-Type": "application/json"}
        status, answer = 0, None
        try:
            connection = self._connect()
            try:
                connection.request(method, path, content, own | (headers or {}))
                response = connection.getresponse()
                status = response.status
                answer = json.loads(response.read())
            finally:
                connection.close()
        except (OSError, http.client.HTTPException, ValueError) as problem:
            self.violations.append(f"{method} {path}: {problem!r}")
            status = 0
        if status == _TOO_MANY or status >= _BROKEN:
            self.violations.append(f"{method} {path} was answered {status}: {answer}")
        self.answers[str(status) if status else "none"] += 1
        return status, answer

    def _connect(self) -> http.client.HTTPConnection:
        for _ in range(_TRIES):
            connection = http.client.HTTPConnection(next(self._gateways), timeout=_CALL_SECONDS)
            try:
                connection.connect()
            except ConnectionRefusedError:
                self.passed_over += 1
                threading.Event().wait(_BETWEEN_TRIES_SECONDS)
                continue
            return connection
        raise OSError("no gateway takes connections")
