"""What end-to-end tests use: clients written by others, pointed at a running suite."""

from harness.accounts import Account
from harness.api import Api
from harness.cluster import Cluster
from harness.dashboard import Dashboard, User
from harness.dialogue import Dialogue, queued_id
from harness.mail import SENDER, Delivery, send, send_raw
from harness.mail_server import MailServer
from harness.receiver import Receiver, Request
from harness.relay import Relay
from harness.replica import Gateway, RateLimit
from harness.suite import Suite
from harness.topics import Event, Topic
from harness.waiting import eventually

__all__ = [
    "SENDER",
    "Account",
    "Api",
    "Cluster",
    "Dashboard",
    "Delivery",
    "Dialogue",
    "Event",
    "Gateway",
    "MailServer",
    "RateLimit",
    "Receiver",
    "Relay",
    "Request",
    "Suite",
    "Topic",
    "User",
    "eventually",
    "queued_id",
    "send",
    "send_raw",
]
