"""Background closed once, for good: nothing is to come, and nothing is taken back."""

from __future__ import annotations

from ensue.dictionary import Dictionary
from ensue.maintain.kernel.engine import Kernel
from ensue.maintain.kernel.maintainer import columns_of
from ensue.maintain.program import compile_rules
from ensue.model import BACKGROUND, NEVER, Copies, Facts
from ensue.rules.tree import RuleSet


def closed(rules: RuleSet, stated: Copies, dictionary: Dictionary) -> Facts:
    """Background with all that follows from it. There is no table for what is to come.

    >>> from ensue.rules.load import load_rules
    >>> d = Dictionary()
    >>> a, b, c, isin = map(d.encode, ("<urn:a>", "<urn:b>", "<urn:c>", "<http://example.org/isIn>"))
    >>> facts = closed(load_rules("transitive-isin"), Copies.background([(a, isin, b), (b, isin, c)]), d)
    >>> (BACKGROUND, a, isin, c) in facts.stamps()
    True
    """
    program = compile_rules(rules, dictionary)
    kernel = Kernel(program, dictionary, columns_of(stated), table=False, retracts=False)
    return kernel.closure(BACKGROUND, NEVER)
