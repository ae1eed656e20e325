"""A shard's half of a compiled query: the solutions below the cut that are the shard's own."""

from __future__ import annotations

import numpy as np

from ensue.dictionary import Dictionary
from ensue.query.answers import Answers
from ensue.query.compiled.evaluator import CompiledEvaluator
from ensue.query.compiled.interpreter import Interpreter
from ensue.query.compiled.operators import distinct, sliced
from ensue.query.compiled.plan import Plan
from ensue.query.compiled.relation import Relation
from ensue.query.compiled.results import answers
from ensue.query.compiled.split import split
from ensue.query.dataset import Dataset, Integers
from ensue.query.share import ByChecksum, Share
from ensue.query.tree import ContinuousQuery, Form


class PartEvaluator(CompiledEvaluator):
    """Evaluates what is below the cut of a query, and gives it as the answers of a SELECT."""

    def __init__(self, query: ContinuousQuery, dictionary: Dictionary, share: Share) -> None:
        """`share` has a cut. Raises NotCompiled where a query cannot be cut there."""
        super().__init__(query, dictionary)
        assert share.cut is not None
        halves = split(self.plan, share.cut)
        self._share = share
        self._halves = halves
        self.plan = Plan(Form.SELECT, halves.below, halves.variables)

    def evaluate(self, dataset: Dataset) -> Answers:
        """The shard's own solutions over this dataset, as far as the merge has to know them."""
        interpreter = Interpreter(dataset, self._values, self._remembered)
        found = interpreter.run(self.plan.root, dataset.default)
        self._remembered.forget()
        part = self._owned(found).project(self.plan.variables)
        if self._halves.once:
            part = distinct(part)
        if self._halves.most is not None:
            part = sliced(interpreter.above(self._halves.above[:1], part), 0, self._halves.most)
        return answers(self.plan, part, self._dictionary, self._scope)

    def _owned(self, solutions: Relation) -> Relation:
        """Those in which the variable has a value that the shard owns; each value is looked at once."""
        column = solutions.column(self._share.variable)
        owned = np.zeros(int(column.max(initial=0)) + 1, np.bool_)
        owned[column] = True
        owned[0] = False
        values = np.flatnonzero(owned)
        owned[values] = self._owns(values)
        return solutions if owned[column].all() else solutions.where(owned[column])

    def _owns(self, values: Integers) -> Integers:
        owns = self._share.owns
        if isinstance(owns, ByChecksum):
            found: Integers = owns.each(self._dictionary.checksums(values))
            return found
        return np.fromiter((owns(self._dictionary.decode(value)) for value in values.tolist()), np.bool_)
