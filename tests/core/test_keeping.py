"""When a memory ends: the soonest of what asks for an end, and later through no update."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from core.ids import MemoryId, NamespaceId, UserId, new_uuid
from core.keeping import (
    SENSITIVE_LIFE,
    WORKING_LIFE,
    changed_end,
    changed_expiry,
    first,
    following,
    joined_expiry,
    sooner,
)
from core.model import (
    Change,
    Draft,
    Guarded,
    Kind,
    Layer,
    Persistence,
    Row,
    Sensitivity,
    State,
    Trust,
)
from core.scope import SourceKind

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
HOUR = timedelta(hours=1)


def draft_end(seconds: int | None, **fields: Any) -> tuple[datetime | None, datetime | None]:
    sensitivity = fields.pop("sensitivity", Sensitivity.PERSONAL)
    guarded = Guarded(
        draft=Draft(content="x", **fields),
        source_kind=SourceKind.USER_DIRECT,
        sensitivity=sensitivity,
        expire_seconds=seconds,
    )
    standing = first(
        MemoryId(new_uuid()), NamespaceId(new_uuid()), None, guarded, Kind.FACT, now=NOW
    )
    return standing.expires_at, standing.ends_by


def row(**fields: Any) -> Row:
    values: dict[str, Any] = {
        "expires_at": None,
        "ends_by": None,
        "layer": Layer.SEMANTIC,
        "sensitivity": Sensitivity.PERSONAL,
    }
    return Row(
        id=MemoryId(new_uuid()),
        version=1,
        user=UserId(new_uuid()),
        namespace=NamespaceId(new_uuid()),
        space=None,
        kind=Kind.FACT,
        state=State.ACTIVE,
        importance=0.5,
        confidence=0.5,
        persistence=Persistence.DURABLE,
        trust=Trust.HIGH,
        source_kind=SourceKind.USER_DIRECT,
        outcome=None,
        occurred_at=None,
        until_session_end=False,
        valid_from=None,
        valid_until=None,
        created_at=NOW,
        updated_at=NOW,
        last_used_at=None,
        uses=0,
        chunks=0,
        content=b"",
        details=b"",
        **(values | fields),
    )


@pytest.mark.requirement("D7")
@pytest.mark.parametrize(
    ("seconds", "fields", "ends"),
    [
        (None, {}, None),
        (3600, {}, NOW + HOUR),
        (3600, {"expires_at": NOW + 2 * HOUR}, NOW + HOUR),
        (3600, {"expires_at": NOW + HOUR / 2}, NOW + HOUR / 2),
        (3600, {"ttl_seconds": 60}, NOW + timedelta(seconds=60)),
        (3600, {"layer": Layer.WORKING}, NOW + WORKING_LIFE),
        (10**6, {"sensitivity": Sensitivity.SENSITIVE}, NOW + SENSITIVE_LIFE),
    ],
)
def test_a_draft_ends_when_the_soonest_that_asks_for_it_says(seconds, fields, ends):
    expires_at, ends_by = draft_end(seconds, **fields)
    assert expires_at == ends
    assert ends_by == (None if seconds is None else NOW + timedelta(seconds=seconds))


@pytest.mark.requirement("D7")
@pytest.mark.parametrize(
    ("change", "seconds", "ends"),
    [
        (Change(), None, NOW + HOUR),
        (Change(clear_expiry=True), None, NOW + HOUR),
        (Change(expires_at=NOW + 9 * HOUR), None, NOW + HOUR),
        (Change(expires_at=NOW + HOUR / 4), None, NOW + HOUR / 4),
        (Change(content="y"), 60, NOW + timedelta(seconds=60)),
        (Change(content="y"), 9 * 3600, NOW + HOUR),
        (Change(content="y", clear_expiry=True), 9 * 3600, NOW + HOUR),
    ],
)
def test_a_change_never_lengthens_what_a_policy_gave_an_end(change, seconds, ends):
    before = row(expires_at=NOW + HOUR, ends_by=NOW + HOUR)
    ends_by = changed_end(before, seconds, now=NOW)
    expires_at = changed_expiry(before, change, before.sensitivity, ends_by, now=NOW)
    after = following(before, expires_at=expires_at, ends_by=ends_by)
    assert after.expires_at == ends
    assert after.ends_by is not None
    assert after.ends_by >= ends


@pytest.mark.requirement("D7")
@pytest.mark.parametrize(
    ("before", "again", "ends"),
    [
        (NOW + HOUR, None, NOW + HOUR),
        (None, NOW + HOUR, NOW + HOUR),
        (NOW + HOUR, NOW + 2 * HOUR, NOW + HOUR),
        (NOW + 2 * HOUR, NOW + HOUR, NOW + HOUR),
        (None, None, None),
    ],
)
def test_a_repeat_ends_when_either_must(before, again, ends):
    kept, said = row(expires_at=before, ends_by=before), row(expires_at=again, ends_by=again)
    assert joined_expiry(kept, said, now=NOW) == ends  # type: ignore[arg-type]  # the ends alone count
    assert sooner(before, again) == ends


DAYS = timedelta(days=90)
LONG = Change(expires_at=NOW + 9 * DAYS)


@pytest.mark.requirement("D7")
@pytest.mark.parametrize("change", [LONG, Change(clear_expiry=True), Change(content="y")])
@pytest.mark.parametrize(
    ("was", "expires_at", "after", "ends"),
    [
        (Sensitivity.SENSITIVE, NOW + SENSITIVE_LIFE, 3 * HOUR, NOW + SENSITIVE_LIFE),
        (Sensitivity.SENSITIVE, NOW + SENSITIVE_LIFE, 23 * HOUR, NOW + SENSITIVE_LIFE),
        (Sensitivity.PERSONAL, None, DAYS, NOW + DAYS + SENSITIVE_LIFE),
        (
            Sensitivity.SENSITIVE,
            NOW + DAYS + SENSITIVE_LIFE,
            DAYS + 3 * HOUR,
            NOW + DAYS + SENSITIVE_LIFE,
        ),
    ],
    ids=["at once", "at its end", "became so late", "after it became so"],
)
def test_what_is_sensitive_has_a_day_from_when_it_is_and_no_more(
    was, expires_at, after, ends, change
):
    before = row(sensitivity=was, expires_at=expires_at)
    changed = changed_expiry(before, change, Sensitivity.SENSITIVE, None, now=NOW + after)
    assert changed == ends
    again = row(sensitivity=Sensitivity.SENSITIVE, expires_at=NOW + after + SENSITIVE_LIFE)
    repeated = joined_expiry(before, again, now=NOW + after)  # type: ignore[arg-type]  # as above
    assert repeated == ends
