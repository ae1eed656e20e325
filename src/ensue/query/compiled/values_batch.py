"""Bindings by the thousand through oxigraph: one query for a whole table of them.

Per binding of two numbers, for `?a + ?b > 1000 && ?a < 900000` and 20,000 bindings, on one core: VALUES
5.7 us (7.8 us with a row number), a custom function that hands out terms 15 us, a scratch store 17 us,
a query a binding with `substitutions=` 96 us. So it is VALUES; but a blank node cannot stand there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from pyoxigraph import NamedNode, QuerySolutions, Store

from ensue.rules.expressions import Functions, Term, read_term
from ensue.rules.growth import Bounded, bounded, fits

AT_ONCE = 5_000
"""Rows in one query: enough for its price not to count, few enough for its text to stay small."""

UNBOUND = "UNDEF"
Table = Mapping[str, Sequence[str]]
"""Bindings, a column for each variable: terms as canonical text, or UNBOUND."""

_EMPTY = Store()
_NONE: Functions = {}
_REVEAL = NamedNode("urn:ensue:reveal")
_COVER = "urn:ensue:term:"


def evaluate(text: str, table: Table, length: int, base: str | None = None) -> Iterator[Term | None]:
    """The value of an expression for each row of a table; None for an error.

    >>> table = {"a": ['"1"^^<http://www.w3.org/2001/XMLSchema#integer>', "_:b", UNBOUND]}
    >>> [None if value is None else value.value for value in evaluate("isBlank(?a)", table, 3)]
    ['false', 'true', None]
    """
    value = _fresh("value", table)
    for start in range(0, length, AT_ONCE):
        rows = range(start, min(start + AT_ONCE, length))
        part = {name: column[rows.start : rows.stop] for name, column in table.items()}
        longest = max((len(term) for column in part.values() for term in column), default=0)
        own = Bounded(text) if fits(text, longest) else bounded(text)
        selected = f"({own.text} AS ?{value})"
        found = solutions(
            lambda given, selected=selected: f"SELECT {selected} WHERE {{ {given} }}",  # type: ignore[misc]
            part,
            len(rows),
            base,
            own.functions,
        )
        for row, _ in zip(found, rows, strict=True):  # oxigraph keeps the order of VALUES
            yield row[0]


def solutions(
    query: Callable[[str], str],
    table: Table,
    length: int,
    base: str | None = None,
    functions: Functions = _NONE,
) -> QuerySolutions:
    """The solutions of a query around a pattern that gives each row of a table.

    With a base every term is hidden, or one that is a relative IRI would be resolved against it.
    """
    if base is not None:
        return _run(query, table, length, list(table), base, functions)
    hidden = [name for name in table if _may_have_blanks(table[name])]
    try:
        return _run(query, table, length, hidden, None, functions)
    except SyntaxError:
        # Terms that are none to a SPARQL parser: a relative IRI, say.
        return _run(query, table, length, list(table), None, functions)


def _run(
    query: Callable[[str], str],
    table: Table,
    length: int,
    hidden: Sequence[str],
    base: str | None,
    functions: Functions,
) -> QuerySolutions:
    """Hidden columns have IRIs for their terms, and a function that gives the terms for the IRIs."""
    columns, terms, reveal = dict(table), dict[str, Term](), ""
    for name in hidden:
        cover = _fresh(f"{name}_covered", columns)
        columns[cover] = _covered(columns.pop(name), terms)
        reveal += f" BIND({_REVEAL}(?{cover}) AS ?{name})"
    variables = " ".join(f"?{name}" for name in columns)
    rows = map(" ".join, zip(*columns.values(), strict=True)) if columns else [""] * length
    values = "".join([f"({row})" for row in rows])
    found = _EMPTY.query(
        query(f"VALUES ({variables}) {{ {values} }}{reveal}"),
        base_iri=base,
        custom_functions={_REVEAL: lambda covered: terms[covered.value], **functions},
    )
    assert isinstance(found, QuerySolutions)
    return found


def _covered(column: Sequence[str], terms: dict[str, Term]) -> list[str]:
    covers = {UNBOUND: UNBOUND}
    for text in column:
        if text not in covers:
            iri = f"{_COVER}{len(terms)}"
            covers[text], terms[iri] = f"<{iri}>", read_term(text)
    return [covers[text] for text in column]


def _may_have_blanks(column: Sequence[str]) -> bool:
    text = " ".join(column)
    return "_:" in text or "<<" in text  # a quoted triple may have one in it


def _fresh(name: str, taken: Mapping[str, object]) -> str:
    while name in taken:
        name += "_"
    return name
