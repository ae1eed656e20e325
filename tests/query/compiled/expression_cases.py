"""Terms and expressions of every kind, and what oxigraph says about one binding at a time."""

from __future__ import annotations

import pyoxigraph as ox

from ensue.query.language import parse_query
from ensue.rules.expressions import read_term, write_term
from ensue.terms import XSD


def typed(text, datatype):
    return f'"{text}"^^<{XSD}{datatype}>'


TERMS = [
    *("<urn:a>", "<urn:b>", "<http://example/x#y>", "_:x", "_:y"),
    *(
        '"a"',
        '"b"',
        '""',
        '"10"',
        '"2020-01-01"',
        '"caf\u00e9 \U0001f600"',
        '"a\\"b\\n\\\\u0041"',
        '"urn:made"',
    ),
    *('"a"@en', '"a"@fr', '"b"@en-us', '"x"^^<urn:t>', '"y"^^<urn:t>'),
    *(typed(number, "integer") for number in (0, 1, 2, 10, -3, "x", 9223372036854775807)),
    *(typed(number, "decimal") for number in ("0.5", "1", "-2.5", "x")),
    *(typed(number, "double") for number in ("1.0E0", "0.0E0", "-0.0E0", "NaN", "INF", "-INF", "1.0E300")),
    *(typed(number, "float") for number in ("1", "0.1", "NaN")),
    *(typed(truth, "boolean") for truth in ("true", "false", "maybe")),
    *(typed(day, "date") for day in ("2020-02-29", "2020-02-29Z", "2021-01-01+05:00")),
    typed("2020-02-29T12:00:00", "dateTime"),
    typed("2020-02-29T12:00:00Z", "dateTime"),
    typed("2020-02-29T12:00:00.5-05:30", "dateTime"),
    typed("not a time", "dateTime"),
    *(typed("P1Y2M", "duration"), typed("P1D", "dayTimeDuration"), typed("P12M", "yearMonthDuration")),
    *(typed("PT24H", "duration"), typed("12:30:00", "time"), typed("7", "byte"), typed("300", "byte")),
    "<<( <urn:a> <urn:b> _:x )>>",
    '<<( <urn:a> <urn:b> "a" )>>',
]

FORMS = [
    *("?a", "true", "false", "'x'", "'x'@EN-us", "'x'^^<urn:t>", "01", "1.50", "1e0", "-1", "+.5", "<urn:a>"),
    *("?a || ?b", "?a && ?b", "?a && ?b || ?c", "?a || ?b && ?c", "(?a || ?b) && ?c", "!?a", "!(?a && ?b)"),
    *("?a || ?b || ?c", "?a && ?b && ?c", "!(!?a)", "true || ?a", "false && ?a"),
    *("?a = ?b", "?a != ?b", "?a < ?b", "?a > ?b", "?a <= ?b", "?a >= ?b", "?a = 1", "1 = ?a", "?a > 0.5"),
    *("?a = <urn:a>", "?a != <urn:a>", "?a = 'a'", "?a != 'a'@en", "<urn:a> = ?a", "?a = ?a"),
    *("?a IN ()", "?a IN (1)", "?a IN (<urn:a>, <urn:b>)", "?a NOT IN ()", "?a NOT IN (1, ?b)"),
    *("?a IN (rdf:nil)", "?a NOT IN (<urn:a>, 'a')", "?a IN (?b, ?c)"),
    *(
        "?a + ?b",
        "?a - ?b",
        "?a * ?b",
        "?a / ?b",
        "?a + ?b - ?c",
        "?a - ?b - ?c",
        "?a - (?b - ?c)",
        "?a / ?b * ?c",
    ),
    *(
        "?a -1",
        "?a +1",
        "?a - -1",
        "?a * -1",
        "2 * ?a + 1",
        "2 * (?a + 1)",
        "-?a",
        "+?a",
        "-(?a + ?b)",
        "1 - 2 - ?a",
    ),
    *("STR(?a)", "LANG(?a)", "LANGMATCHES(LANG(?a), '*')", "LANGMATCHES(LANG(?a), 'EN')", "DATATYPE(?a)"),
    *(
        "BOUND(?a)",
        "!BOUND(?a)",
        "IRI(?a)",
        "URI(STR(?a))",
        "IRI('relative')",
        "ABS(?a)",
        "CEIL(?a)",
        "FLOOR(?a)",
    ),
    *(
        "ROUND(?a)",
        "CONCAT()",
        "CONCAT(?a)",
        "CONCAT(STR(?a), '-', STR(?b))",
        "SUBSTR(?a, 2)",
        "SUBSTR(?a, 1, 2)",
    ),
    *("STRLEN(?a)", "REPLACE(?a, 'a', 'z')", "REPLACE(?a, 'A', '[$0]', 'i')", "UCASE(?a)", "LCASE(?a)"),
    *(
        "ENCODE_FOR_URI(?a)",
        "CONTAINS(?a, 'a')",
        "STRSTARTS(?a, ?b)",
        "STRENDS(?a, '')",
        "STRBEFORE(?a, 'b')",
    ),
    *("STRAFTER(?a, '')", "YEAR(?a)", "MONTH(?a)", "DAY(?a)", "HOURS(?a)", "MINUTES(?a)", "SECONDS(?a)"),
    *("TIMEZONE(?a)", "TZ(?a)", "MD5(STR(?a))", "SHA1(STR(?a))", "SHA256(?a)", "SHA384(?a)", "SHA512(?a)"),
    *(
        "COALESCE(?a)",
        "COALESCE(?a + 1, ?b, 0)",
        "COALESCE()",
        "IF(?a, ?b, ?c)",
        "IF(?a, 0, '')",
        "STRLANG(?a, 'EN')",
    ),
    *("STRDT(?a, xsd:integer)", "STRDT(STR(?a), <urn:t>)", "sameTerm(?a, ?b)", "sameTerm(?a, <urn:a>)"),
    *("isIRI(?a)", "isURI(?a)", "isBLANK(?a)", "isLITERAL(?a)", "isNUMERIC(?a)", "ISIRI(?a) || isBlank(?a)"),
    *(
        "REGEX(STR(?a), 'A')",
        "REGEX(STR(?a), 'A', 'i')",
        "REGEX(?a, '')",
        "REGEX(?a, 'a', '')",
        "REGEX(?a, ?b)",
    ),
    *(
        f"xsd:{cast}(?a)"
        for cast in ("boolean", "integer", "decimal", "float", "double", "string", "dateTime")
    ),
    *(f"xsd:{cast}(?a)" for cast in ("date", "time", "duration", "dayTimeDuration", "yearMonthDuration")),
    *(
        "isIRI(?a) && ?a != ?b",
        "!(?a = ?b) || ?c > 1",
        "BOUND(?c) && ?a IN (<urn:a>, ?b)",
        "isIRI(?a) = isIRI(?b)",
    ),
    *("?a = ?b && ?b = ?c", "sameTerm(?a, ?b) || sameTerm(?b, ?c)", "!isLITERAL(?a) && !(?b < ?c)"),
    "STRLEN('''a\nb\"c''') + STRLEN('\\\\u0041')",
]
"""An expression for every form of SPARQL's grammar that is compiled."""


def node_of(text):
    """What rdflib makes of an expression, the way that a query comes to hold it."""
    query = parse_query(f"FROM STREAM <urn:s> [RANGE 1s] SELECT (({text}) AS ?result) {{}}")
    found = query.algebra
    while found.name != "Extend":
        found = found.p
    return found.expr


def one(text, binding, *, holds=False):
    """The value of an expression for one binding, or whether a FILTER with it holds."""
    bound = {name: term for name, term in binding.items() if term is not None}
    given = " ".join(f"OPTIONAL {{ [] <urn:nothing> ?{name} }}" for name in bound)
    names = " ".join(f"?{name}" for name in bound)
    query = (
        f"SELECT ('' AS ?r) {names} {{ {given} FILTER({text}) }}"
        if holds
        else f"SELECT (({text}) AS ?r) {names} {{ {given} }}"
    )
    terms = {ox.Variable(name): read_term(term) for name, term in bound.items()}
    rows = list(ox.Store().query(query, base_iri="http://base/", prefixes=PREFIXES, substitutions=terms))
    if holds:
        return len(rows) == 1
    return None if rows[0]["r"] is None else write_term(rows[0]["r"])


PREFIXES = {"xsd": XSD, "rdf": "http://www.w3.org/1999/02/22-rdf-syntax-ns#"}
