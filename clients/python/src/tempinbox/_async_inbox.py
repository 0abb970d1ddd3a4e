"""An inbox with its calls; tools/generate/python_client.py makes the blocking one from it."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tempinbox import types
from tempinbox._values import CodeConditions, EmailConditions, LinkConditions, LinkKind
from tempinbox._waiting import Position

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from tempinbox._async_client import AsyncTempinbox


@dataclass(frozen=True, kw_only=True)
class AsyncInbox(types.Inbox):
    """An inbox as it was when it was read, with the calls about it.

    Its waits are for mail that came since: for a new inbox, all. For the mail behind another one
    give that email, or a `mark`, as `after`.
    """

    client: "AsyncTempinbox" = field(repr=False, compare=False)

    async def wait_for_email(
        self,
        *,
        after: Position | None = None,
        timeout: float = 60,
        **conditions: "Unpack[EmailConditions]",
    ) -> types.Email:
        """Calls the client's method of the same name."""
        return await self.client.wait_for_email(self, after=after, timeout=timeout, **conditions)

    async def wait_for_emails(
        self,
        min_count: int,
        *,
        after: Position | None = None,
        timeout: float = 60,
        **conditions: "Unpack[EmailConditions]",
    ) -> list[types.EmailSummary]:
        """Calls the client's method of the same name."""
        return await self.client.wait_for_emails(
            self, min_count, after=after, timeout=timeout, **conditions
        )

    async def wait_for_code(
        self,
        *,
        after: Position | None = None,
        timeout: float = 60,
        **conditions: "Unpack[CodeConditions]",
    ) -> str:
        """Calls the client's method of the same name."""
        return await self.client.wait_for_code(self, after=after, timeout=timeout, **conditions)

    async def wait_for_link(
        self,
        *,
        kind: LinkKind | None = None,
        url: str | None = None,
        after: Position | None = None,
        timeout: float = 60,
        **conditions: "Unpack[LinkConditions]",
    ) -> str:
        """Calls the client's method of the same name."""
        return await self.client.wait_for_link(
            self, kind=kind, url=url, after=after, timeout=timeout, **conditions
        )

    async def expect_no_email(
        self,
        *,
        after: Position | None = None,
        timeout: float = 5,
        **conditions: "Unpack[EmailConditions]",
    ) -> None:
        """Calls the client's method of the same name."""
        await self.client.expect_no_email(self, after=after, timeout=timeout, **conditions)

    async def mark(self) -> int:
        """The position now, for `after`: take it before you trigger the mail."""
        return await self.client.mark(self)

    async def refresh(self) -> "AsyncInbox":
        """The inbox as it is now."""
        return await self.client.get_inbox(self)

    async def delete(self) -> None:
        """Ends it."""
        await self.client.delete_inbox(self)
