"""Accounts of a test's own, made as an operator makes them."""

import uuid
from dataclasses import dataclass

from harness.api import Api
from harness.suite import Suite


@dataclass(frozen=True)
class Account:
    """An account with one key."""

    account_id: str
    email: str
    key: str
    api: Api

    @classmethod
    def make(cls, suite: Suite, plan: str = "premium", email: str | None = None) -> "Account":
        """Makes an account on the named plan, which must allow keys."""
        email = email or f"{uuid.uuid4().hex[:12]}@example.com"
        made = suite.operate("account", "create", "--email", email, "--plan", plan)
        key = suite.operate("key", "create", made["accountId"], "--label", "test")["key"]
        return cls(made["accountId"], email, key, Api(suite["API"], key))
