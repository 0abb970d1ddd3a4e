"""The harness of the end-to-end tests: clients written by others, pointed at a running suite."""

from harness.accounts import Account
from harness.api import Api, outcome
from harness.authorizing_kafka import AuthorizingKafka
from harness.belongings import Belongings
from harness.capture import Capture, base64_of, plain_response
from harness.certificates import Authority, client_context, make_certificate
from harness.cluster import Cluster
from harness.dashboard import Dashboard, User
from harness.far_host import FarHost
from harness.faults import Faults
from harness.haproxy import HAProxy
from harness.mail import SENDER, Delivery, send, send_raw
from harness.mail_server import MailServer
from harness.mounted_secret import MountedSecret
from harness.name_server import NameServer
from harness.network_namespace import Island
from harness.otlp_sink import OtlpSink, Span
from harness.own_kafka import write_acl_tool
from harness.postbox import Postbox
from harness.propagation import in_force, status_is
from harness.proxy import Proxy
from harness.quota import in_time, let_through
from harness.receiver import Receiver, Request
from harness.relay import Relay
from harness.replica import Gateway, Inbox, MailIngest, RateLimit, Replica, WebhookDispatcher
from harness.schema_registry import SchemaRegistry
from harness.schemas import event_class, message_class
from harness.secure_kafka import SecureKafka
from harness.secure_suite import SecureSuite
from harness.senders import postfix_to, run_nodemailer
from harness.smtp_session import SmtpSession, queued_id
from harness.strangers import Strangers
from harness.suite import Suite
from harness.token_issuer import TokenIssuer
from harness.topics import Event, Topic
from harness.trusting_suite import TrustingSuite
from harness.waiting import eventually

__all__ = [
    "SENDER",
    "Account",
    "Api",
    "Authority",
    "AuthorizingKafka",
    "Belongings",
    "Capture",
    "Cluster",
    "Dashboard",
    "Delivery",
    "Event",
    "FarHost",
    "Faults",
    "Gateway",
    "HAProxy",
    "Inbox",
    "Island",
    "MailIngest",
    "MailServer",
    "MountedSecret",
    "NameServer",
    "OtlpSink",
    "Postbox",
    "Proxy",
    "RateLimit",
    "Receiver",
    "Relay",
    "Replica",
    "Request",
    "SchemaRegistry",
    "SecureKafka",
    "SecureSuite",
    "SmtpSession",
    "Span",
    "Strangers",
    "Suite",
    "TokenIssuer",
    "Topic",
    "TrustingSuite",
    "User",
    "WebhookDispatcher",
    "base64_of",
    "client_context",
    "event_class",
    "eventually",
    "in_force",
    "in_time",
    "let_through",
    "make_certificate",
    "message_class",
    "outcome",
    "plain_response",
    "postfix_to",
    "queued_id",
    "run_nodemailer",
    "send",
    "send_raw",
    "status_is",
    "write_acl_tool",
]
