"""Tells on standard error when the answers of a query become partial, and when they are complete again."""

from __future__ import annotations

from collections.abc import Callable

from ensue.query.output import Result


class PartialAnswers:
    """Which queries have partial answers now.

    >>> from ensue.query.answers import Answers
    >>> from ensue.query.partial import Partial
    >>> from ensue.query.tree import Form
    >>> told, yes = PartialAnswers(print), Answers(Form.ASK, (), [()])
    >>> for close, partial in ((10, Partial({"square": 1200})), (20, Partial({"square": 90})), (30, None)):
    ...     told.tell(Result("q", close - 10, close, yes, partial=partial))
    q (0, 10]: partial answers, without rule square (1,200 facts)
    q (20, 30]: complete answers again
    """

    def __init__(self, say: Callable[[str], None]) -> None:
        self._say = say
        self._are_partial: set[str] = set()

    def tell(self, result: Result) -> None:
        """Look at one more result."""
        where = f"{result.query} ({result.open}, {result.close}]"
        if result.partial is not None and result.query not in self._are_partial:
            self._are_partial.add(result.query)
            self._say(f"{where}: partial answers, {result.partial}")
        elif result.partial is None and result.query in self._are_partial:
            self._are_partial.remove(result.query)
            self._say(f"{where}: complete answers again")
