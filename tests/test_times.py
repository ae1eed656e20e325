"""ISO 8601 times as milliseconds."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from random import Random

import pytest

from ensue.errors import InputError
from ensue.times import milliseconds, parse_time

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def test_times_are_what_the_calendar_says() -> None:
    """Against `datetime`, over all of its years, zones and fractions."""
    random = Random(28)
    for _ in range(2000):
        zone = timezone(timedelta(minutes=random.randrange(-14 * 60, 14 * 60 + 1)))
        local = datetime(2, 1, 1, tzinfo=zone) + timedelta(
            days=random.randrange(3_650_000), microseconds=random.randrange(86_400_000_000)
        )
        assert parse_time(local.isoformat()) == (local - EPOCH) // timedelta(milliseconds=1), local


@pytest.mark.parametrize(
    ("text", "time"),
    [
        ("1970-01-01T00:00:00Z", 0),
        ("1970-01-01T24:00:00.000Z", 86_400_000),
        ("1970-01-01T00:00:00.0019999999999999999999Z", 1),
        ("1969-12-31T23:59:59.9999Z", -1),
        ("0000-01-01T00:00:00Z", -62_167_219_200_000),
        ("-0001-12-31T00:00:00Z", -62_167_305_600_000),
        ("2024-02-29T00:00:00+14:00", 1_709_114_400_000),
    ],
)
def test_times(text: str, time: int) -> None:
    assert parse_time(text) == time


@pytest.mark.parametrize(
    "text",
    [
        "",
        "2024-01-01",
        "2024-01-01 00:00:00Z",
        "2024-01-01t00:00:00z",
        "2024-01-01T00:00Z",
        "2024-01-01T00:00:60Z",
        "2024-01-01T24:00:01Z",
        "2023-02-29T00:00:00Z",
        "2024-13-01T00:00:00Z",
        "2024-01-01T00:00:00+15:00",
        "2024-01-01T00:00:00+0100",
        "2024-01-01T00:00:00,5Z",
        "2024-01-01T00:00:00.Z",
        " 2024-01-01T00:00:00Z",
        "2024-01-01T00:00:00Z\n",
        "٢٠٢٤-01-01T00:00:00Z",
        "999999999-01-01T00:00:00Z",
        "1704067200000",
        "x" * 100,
    ],
)
def test_other_texts_are_refused(text: str) -> None:
    with pytest.raises(InputError, match="is not a time"):
        parse_time(text)


def test_a_time_without_a_zone_is_refused_with_its_own_reason() -> None:
    with pytest.raises(InputError, match="no time zone"):
        parse_time("2024-01-01T00:00:00")
    assert milliseconds("1970-01-01T00:00:01", needs_zone=False) == 1000
