"""The compiled evaluator: a query's plan, run over one dataset after another."""

from __future__ import annotations

from ensue.dictionary import Dictionary
from ensue.query.answers import Answers
from ensue.query.compiled.apart import AtOnce, NotAtOnce
from ensue.query.compiled.compile import compile_query
from ensue.query.compiled.expressions import Values
from ensue.query.compiled.interpreter import Interpreter
from ensue.query.compiled.operators import distinct
from ensue.query.compiled.patterns import Remembered
from ensue.query.compiled.plan import basic_patterns
from ensue.query.compiled.relation import PARTITION
from ensue.query.compiled.results import answers
from ensue.query.dataset import Dataset
from ensue.query.tree import ContinuousQuery, Form


class CompiledEvaluator:
    """Evaluates one query over columns of integers. Raises NotCompiled for a query that it does not take.

    >>> from ensue.model import Facts
    >>> from ensue.query.dataset import Columns, PlainGraph
    >>> from ensue.query.language import parse_query
    >>> d = Dictionary()
    >>> query = parse_query("SELECT ?s FROM STREAM <urn:s> [RANGE 1s] { ?s <urn:p> ?o FILTER(?o > 1) }")
    >>> evaluator = CompiledEvaluator(query, d)
    >>> terms = "<urn:a>", "<urn:p>", '"2"^^<http://www.w3.org/2001/XMLSchema#byte>'
    >>> graph = PlainGraph(live=Columns.of(Facts.of([(1, *map(d.encode, terms), 1000)])))
    >>> evaluator.evaluate(Dataset(d, graph))
    Answers(form=<Form.SELECT: 'SELECT'>, variables=('s',), rows=[('<urn:a>',)], stamps=[1000])
    """

    name = "compiled"

    def __init__(self, query: ContinuousQuery, dictionary: Dictionary) -> None:
        self.plan = compile_query(query, dictionary)
        self.patterns = basic_patterns(self.plan)
        """Every basic graph pattern, and the graph that it is matched in."""
        self._dictionary = dictionary
        self._scope = f"{query.name} {query.sparql}"
        self._values = Values(dictionary, query.base)
        self._remembered = Remembered()

    def evaluate(self, dataset: Dataset) -> Answers:
        """The answers over this dataset, whose dictionary is the one that the query was compiled with."""
        interpreter = Interpreter(dataset, self._values, self._remembered)
        solutions = interpreter.run(self.plan.root, dataset.default)
        self._remembered.forget()
        return answers(self.plan, solutions, self._dictionary, self._scope + dataset.partition)

    def evaluate_at_once(self, over: AtOnce) -> tuple[list[int], Answers] | None:
        """The answers in all partitions, one after the other, and the context of each.

        None where partitions have to be evaluated one by one: what is made of all answers of one is made of
        those of each, or nobody keeps the solutions of the patterns.
        """
        if self.plan.form not in (Form.SELECT, Form.ASK):
            return None
        try:
            found = over.solve(self.plan.root, self._values, self._remembered)
        except NotAtOnce:
            return None
        finally:
            self._remembered.forget()
        if self.plan.form is Form.ASK:
            found = distinct(found.project((PARTITION,)))
        contexts: list[int] = found.column(PARTITION).tolist()
        if self.plan.form is Form.ASK:
            stamps = None if found.stamps is None else found.stamps.tolist()
            return contexts, Answers(Form.ASK, (), [()] * len(contexts), stamps)
        return contexts, answers(self.plan, found, self._dictionary, self._scope)
