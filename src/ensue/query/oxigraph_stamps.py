"""`f:timestamp(?s, ?p, ?o)` for oxigraph, over the facts of one moment."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from pyoxigraph import Literal, NamedNode

from ensue.model import FOREVER
from ensue.query.dataset import Columns, Dataset
from ensue.query.oxigraph_terms import Spellings
from ensue.rules.expressions import Term, write_term
from ensue.terms import XSD

_LONG = NamedNode(XSD + "long")


def timestamps(dataset: Dataset, spellings: Spellings) -> Callable[..., Literal | None]:
    """The function: from a triple to the stamp of the freshest such fact; None for background."""
    graphs = [dataset.default, *(dataset.named[name] for name in sorted(dataset.windows))]
    live = Columns.joined(graph.live for graph in graphs)
    # Only background that is on a stream as well can hide anything.
    still = [_near(graph.still, live) for graph in graphs]
    facts = Columns.joined([live, *still])
    facts = facts.take(np.argsort(facts.stamp, kind="stable"))  # so that the freshest comes last
    triples = zip(facts.s.tolist(), facts.p.tolist(), spellings.by_value(facts.o).tolist(), strict=True)
    stamps = dict(zip(triples, facts.stamp.tolist(), strict=True))
    dictionary = dataset.dictionary

    def timestamp(*triple: Term) -> Literal | None:
        texts = [write_term(term) for term in triple]
        if len(texts) != 3 or not all(text in dictionary for text in texts):
            return None
        s, p, o = map(dictionary.encode, texts)
        stamp = stamps.get((s, p, o), FOREVER)
        return None if stamp == FOREVER else Literal(str(stamp), datatype=_LONG)

    return timestamp


def _near(still: Columns, live: Columns) -> Columns:
    return still.take(np.isin(still.s, live.s) & np.isin(still.p, live.p))
