"""Somebody with one of everything, for those who must not find it."""

import uuid
from dataclasses import dataclass

from harness.api import Api
from harness.dashboard import Dashboard
from harness.mail import send_raw
from harness.suite import Suite

# Some MiB, so that it would show if one was read for somebody else.
_LINE = b"a,b" * 23 + b"\r\n"
_MESSAGE = (
    b"Subject: private\r\nMIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n"
    b"--b\r\n\r\n" + _LINE * 15_000 + b"--b\r\nContent-Type: text/csv\r\n"
    b"Content-Disposition: attachment; filename=list.csv\r\n\r\n"
    + _LINE * 75_000 + b"--b--\r\n"
)  # fmt: skip
NOBODY = "01934f2e-7b1c-7d3a-9f00-5a1b2c3d4e5f"


@dataclass(frozen=True)
class Belongings:
    """The objects of an account, by the names the paths give them, and how it reaches them."""

    ids: dict[str, str]
    api: Api
    dashboard: Dashboard

    @classmethod
    def make(cls, suite: Suite) -> "Belongings":
        """An inbox, an email with an attachment, a webhook with a delivery, a rule that is off, and
        a key.
        """
        # On its plan from the beginning: mail-ingest hears later of one that is changed.
        email, password = f"{uuid.uuid4().hex[:12]}@example.com", "a good password"
        suite.operate(
            "account", "create", "--email", email, "--plan", "premium", "--password", password
        )
        dashboard = Dashboard(suite["API"])
        assert dashboard.sign_in(email, password).status_code == 200
        key = dashboard.post("/keys", {"label": "theirs"})
        api = Api(suite["API"], key["key"])
        inbox = api.new_inbox(tags=["theirs"])
        assert send_raw(suite, [inbox["emailAddress"]], _MESSAGE) == {}
        (summary,) = api.get(f"/v1/inboxes/{inbox['inboxId']}/emails")["emails"]
        (attachment,) = api.get("/v1/emails/" + summary["emailId"])["attachments"]
        webhook = api.post(
            "/v1/webhooks", {"url": "http://127.0.0.1:49151/hook", "events": ["inbox.expired"]}
        )
        delivery = api.post(f"/v1/webhooks/{webhook['webhookId']}/test")
        rule = dashboard.post(
            "/rules", {"name": "theirs", "webhookId": webhook["webhookId"], "isEnabled": False}
        )
        ids = {
            "inboxId": inbox["inboxId"],
            "emailId": summary["emailId"],
            "attachmentId": attachment["attachmentId"],
            "webhookId": webhook["webhookId"],
            "deliveryId": delivery["deliveryId"],
            "ruleId": rule["id"],
            "keyId": key["keyId"],
        }
        return cls(ids, api, dashboard)

    @property
    def missing(self) -> dict[str, str]:
        """Ids of nothing, in the same shape."""
        return dict.fromkeys(self.ids, NOBODY) | {"attachmentId": self.ids["attachmentId"]}
