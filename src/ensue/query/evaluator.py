"""The contract that both evaluators keep: the same answers over the same dataset."""

from __future__ import annotations

from typing import Protocol

from ensue.query.answers import Answers
from ensue.query.dataset import Dataset


class Evaluator(Protocol):
    """Evaluates one query again and again, over the dataset of each moment."""

    name: str

    def evaluate(self, dataset: Dataset) -> Answers:
        """The answers over this dataset, all of them: what R/I/DSTREAM make of them is for `emit.py`."""


TIMESTAMP = "http://larkc.eu/csparql/sparql/jena/ext#timestamp"
"""`f:timestamp(?s, ?p, ?o)`: the stamp of a triple as xsd:long. It is that of the freshest such fact in
the default graph or any named window; an error (so unbound) for background and for what is not there."""
