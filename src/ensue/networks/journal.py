"""A dataset that remembers what has changed, so that only that need be written down."""

from __future__ import annotations

from ensue.networks.dataset import Dataset, Ground

Changes = dict[Ground, bool]
"""Quads that are there and were not, or the other way round."""


class Journal(Dataset):
    """A dataset, and what has changed in it since somebody asked.

    >>> journal, quad = Journal(), ("", "<a>", "<p>", "<b>")
    >>> journal.add(quad), journal.take()
    (True, {('', '<a>', '<p>', '<b>'): True})
    >>> journal.remove(quad), journal.add(quad), journal.take()
    (True, True, {})
    """

    def __init__(self) -> None:
        super().__init__()
        self._changed: Changes = {}

    def add(self, quad: Ground) -> bool:
        """Put a quad in; whether it was not there."""
        return super().add(quad) and self._note(quad, True)

    def remove(self, quad: Ground) -> bool:
        """Take a quad out; whether it was there."""
        return super().remove(quad) and self._note(quad, False)

    def take(self) -> Changes:
        """What has changed since the last call."""
        found, self._changed = self._changed, {}
        return found

    def _note(self, quad: Ground, there: bool) -> bool:
        # Who went and came back, or came and went, is as it was.
        if self._changed.pop(quad, there) is there:
            self._changed[quad] = there
        return True
