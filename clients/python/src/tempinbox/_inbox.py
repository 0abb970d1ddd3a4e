"""An inbox with the calls that block."""

# Made by tools/generate/python_client.py; ./dev check python --fix makes it again.

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tempinbox import types
from tempinbox._values import CodeConditions, EmailConditions, LinkConditions, LinkKind
from tempinbox._waiting import Position

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from tempinbox._client import Tempinbox


@dataclass(frozen=True, kw_only=True)
class Inbox(types.Inbox):
    """An inbox as it was when it was read, with the calls about it.

    Its waits are for mail that came since: for a new inbox, all. For the mail behind another one
    give that email, or a `mark`, as `after`.
    """

    client: "Tempinbox" = field(repr=False, compare=False)

    def wait_for_email(
        self,
        *,
        after: Position | None = None,
        timeout: float = 60,
        **conditions: "Unpack[EmailConditions]",
    ) -> types.Email:
        """Calls the client's method of the same name."""
        return self.client.wait_for_email(self, after=after, timeout=timeout, **conditions)

    def wait_for_emails(
        self,
        min_count: int,
        *,
        after: Position | None = None,
        timeout: float = 60,
        **conditions: "Unpack[EmailConditions]",
    ) -> list[types.EmailSummary]:
        """Calls the client's method of the same name."""
        return self.client.wait_for_emails(
            self, min_count, after=after, timeout=timeout, **conditions
        )

    def wait_for_code(
        self,
        *,
        after: Position | None = None,
        timeout: float = 60,
        **conditions: "Unpack[CodeConditions]",
    ) -> str:
        """Calls the client's method of the same name."""
        return self.client.wait_for_code(self, after=after, timeout=timeout, **conditions)

    def wait_for_link(
        self,
        *,
        kind: LinkKind | None = None,
        url: str | None = None,
        after: Position | None = None,
        timeout: float = 60,
        **conditions: "Unpack[LinkConditions]",
    ) -> str:
        """Calls the client's method of the same name."""
        return self.client.wait_for_link(
            self, kind=kind, url=url, after=after, timeout=timeout, **conditions
        )

    def expect_no_email(
        self,
        *,
        after: Position | None = None,
        timeout: float = 5,
        **conditions: "Unpack[EmailConditions]",
    ) -> None:
        """Calls the client's method of the same name."""
        self.client.expect_no_email(self, after=after, timeout=timeout, **conditions)

    def mark(self) -> int:
        """The position now, for `after`: take it before you trigger the mail."""
        return self.client.mark(self)

    def refresh(self) -> "Inbox":
        """The inbox as it is now."""
        return self.client.get_inbox(self)

    def delete(self) -> None:
        """Ends it."""
        self.client.delete_inbox(self)
