"""Pages of a query, by when each document was created: only what is on the page is read, and one document more.

Of each document, only the fields that a list tells are read.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Any, TypeVar

from ferryman.domain.page import Page, Position
from ferryman.gcp.store import Snapshot, filter_by, list_readable

Value = TypeVar("Value")
FIRST = datetime(1, 1, 1, tzinfo=UTC)


async def read_page(
    query: Any,
    read: Callable[[Snapshot], Value | None],
    *,
    names: Sequence[str],
    since: datetime | None = None,
    after: Position | None,
    most: int,
    newest_first: bool = False,
) -> Page[Value]:
    """Return what `read` makes of at most `most` documents that `query` finds, in order, from behind `after`.

    Only the fields `names` of each document are read. One of which it makes nothing is left out of the page and counted all the
    same: the reads are bounded.
    """
    from google.cloud.firestore import Query

    direction = Query.DESCENDING if newest_first else Query.ASCENDING
    # the comparison leaves out whatever a stranger stored that is no moment, and could not be gone on from
    query = filter_by(query, ("created_at", ">=", since or FIRST))
    query = query.order_by("created_at", direction=direction).order_by("__name__", direction=direction)
    if after is not None:
        query = query.start_after({"created_at": after.at, "__name__": after.id})
    # one more tells whether there is another page
    snapshots = await list_readable(query.select(names).limit(most + 1), names=["created_at"])
    here, last = snapshots[:most], None
    if len(snapshots) > most:
        last = Position(here[-1].get("created_at"), here[-1].id)
    return Page(items=tuple(value for snapshot in here if (value := read(snapshot)) is not None), end=last)
