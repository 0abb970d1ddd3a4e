"""A client of the Temporary Inbox Service: inboxes for tests, one-time codes, links, webhooks."""

from tempinbox._arguments import UNSET
from tempinbox._async_client import AsyncTempinbox
from tempinbox._async_inbox import AsyncInbox
from tempinbox._client import Tempinbox
from tempinbox._inbox import Inbox
from tempinbox._values import (
    AttachmentFile,
    EmailConditions,
    NewFaultStep,
    NewInbox,
    Retention,
)
from tempinbox.errors import (
    ApiError,
    BadRequest,
    ConfigurationError,
    Conflict,
    ConnectionFailed,
    CursorExpired,
    CursorReset,
    Forbidden,
    InvalidArgument,
    NotFound,
    RateLimited,
    ServiceUnavailable,
    TempinboxError,
    Unauthorized,
    UnexpectedEmail,
    UnprocessableContent,
    WaitTimeout,
    WebhookVerificationError,
)
from tempinbox.webhooks import verify_webhook

__version__ = "0.3.0.dev0"
__all__ = [
    "UNSET",
    "ApiError",
    "AsyncInbox",
    "AsyncTempinbox",
    "AttachmentFile",
    "BadRequest",
    "ConfigurationError",
    "Conflict",
    "ConnectionFailed",
    "CursorExpired",
    "CursorReset",
    "EmailConditions",
    "Forbidden",
    "Inbox",
    "InvalidArgument",
    "NewFaultStep",
    "NewInbox",
    "NotFound",
    "RateLimited",
    "Retention",
    "ServiceUnavailable",
    "Tempinbox",
    "TempinboxError",
    "Unauthorized",
    "UnexpectedEmail",
    "UnprocessableContent",
    "WaitTimeout",
    "WebhookVerificationError",
    "verify_webhook",
]
