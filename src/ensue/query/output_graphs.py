"""The triples of CONSTRUCT and DESCRIBE as RDF."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import quote

import numpy as np

from ensue.query.output_terms import statement
from ensue.query.output_writer import Writer
from ensue.query.tree import Form
from ensue.terms import XSD

if TYPE_CHECKING:
    from ensue.query.output import Result

_GENERATED_AT = "<http://www.w3.org/ns/prov#generatedAtTime>"


class NTriples(Writer):
    """All triples, one a line; which evaluation they are of is not said."""

    forms = frozenset({Form.CONSTRUCT, Form.DESCRIBE})
    holds_until = False

    def text(self, result: Result) -> str:
        """The lines of an evaluation."""
        return "".join(f"{statement(row)}\n" for row in result.answers.rows)


class TriG(Writer):
    """Each evaluation a named graph, and when it was: a stream that can be read again."""

    forms = frozenset({Form.CONSTRUCT, Form.DESCRIBE})
    holds_until = False

    def text(self, result: Result) -> str:
        """The graph of an evaluation."""
        name = f"<urn:ensue:{quote(result.query, safe='')}/{result.close}>"
        triples = "".join(f"  {statement(row)}\n" for row in result.answers.rows)
        return f"{name} {_GENERATED_AT} {date_time(result.close)} .\n{name} {{\n{triples}}}\n"


def date_time(ms: int) -> str:
    """A time in milliseconds since 1970 as xsd:dateTime.

    >>> date_time(1500)
    '"1970-01-01T00:00:01.500Z"^^<http://www.w3.org/2001/XMLSchema#dateTime>'
    """
    # Not the datetime module: streams may begin before the year 1 and end after 9999.
    moment = str(np.datetime64(ms, "ms")).removesuffix(".000")
    return f'"{moment}Z"^^<{XSD}dateTime>'
