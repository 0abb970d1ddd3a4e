"""A schema registry as far as the suite and a deserializer call it: Confluent's protocol, kept in
memory.
"""

import base64
import json
import threading
import uuid
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self
from urllib.parse import parse_qs, urlsplit

from harness.schemas import compile_schema


class SchemaRegistry:
    """Serves until the end of the block. With a password it wants the user `publisher`."""

    def __init__(self, password: str = "") -> None:
        self.schemas: dict[str, str] = {}  # by subject
        self._password = password
        registry = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                if registry._refuses(self.headers.get("Authorization", "")):
                    self._answer(401, {"error_code": 401, "message": "Unauthorized"})
                else:
                    self._answer(200, registry._register(self.path, body))

            def do_GET(self) -> None:
                found = registry._find(self.path)
                if found is None:
                    self._answer(404, {"error_code": 40403, "message": "Schema not found"})
                else:
                    self._answer(200, found)

            def _answer(self, status: int, body: dict[str, Any]) -> None:
                text = json.dumps(body).encode()
                self.send_response(status)
                self.send_header("Content-Type", "application/vnd.schemaregistry.v1+json")
                self.send_header("Content-Length", str(len(text)))
                self.end_headers()
                self.wfile.write(text)

            def log_message(self, *_: object) -> None:
                """Keeps the log off the test's output."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"

    def __enter__(self) -> Self:
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    def guid(self, subject: str) -> uuid.UUID:
        """Returns the id of the subject's schema: the same text has the same one."""
        return uuid.uuid5(uuid.NAMESPACE_OID, self.schemas[subject])

    def _refuses(self, authorization: str) -> bool:
        expected = base64.b64encode(f"publisher:{self._password}".encode()).decode()
        return bool(self._password) and authorization != f"Basic {expected}"

    def _register(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        assert body["schemaType"] == "PROTOBUF"
        subject = path.removeprefix("/subjects/").removesuffix("/versions")
        self.schemas[subject] = body["schema"]
        return {"id": list(self.schemas).index(subject) + 1, "guid": str(self.guid(subject))}

    def _find(self, path: str) -> dict[str, Any] | None:
        parts = urlsplit(path)
        for number, (subject, text) in enumerate(self.schemas.items(), start=1):
            guid = str(self.guid(subject))
            if parts.path != f"/schemas/guids/{guid}":
                continue
            is_binary = parse_qs(parts.query).get("format") == ["serialized"]
            shown = (
                base64.b64encode(compile_schema(text).SerializeToString()).decode()
                if is_binary
                else text
            )
            return {"id": number, "guid": guid, "schemaType": "PROTOBUF", "schema": shown}
        return None
