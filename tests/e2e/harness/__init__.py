"""What end-to-end tests use: clients written by others, pointed at a running suite."""

from harness.accounts import Account
from harness.api import Api
from harness.gateway import Gateway
from harness.mail import Delivery, send, send_raw
from harness.receiver import Receiver, Request
from harness.relay import Relay
from harness.suite import Suite
from harness.topics import Event, Topic
from harness.waiting import eventually

__all__ = ["Account", "Api", "Delivery", "Event", "Gateway", "Receiver", "Relay", "Request", "Suite", "Topic", "eventually", "send", "send_raw"]
