"""What a network's file cannot say: refused with file, line and column, and mostly with a hint."""

from __future__ import annotations

import pytest

from ensue.errors import RuleError
from ensue.networks.parse import NETWORK, parse

CASES = {
    # a malformed control rule
    "DELETE { GRAPH <urn:c> { :a :p :s }\nINSERT { } WHERE { }": (1, 8, "'{' is never closed"),
    "DELETE { :a :p ?x }\nWHERE { :a :p ?x . GRAPH <urn:c> :a :p :b }": (
        2,
        20,
        "this is not SPARQL, from 'GRAPH' on (hint: what is missing",
    ),
    "INSERT { ?x :p :b } WHERE { ?x a :C }\nDELETE { ?x :p :b } WHERE { ?x a :C }": (
        2,
        1,
        "rules are separated by ';'",
    ),
    "INSERT { ?x nope:p :b }\nWHERE { ?x a :C }": (1, 13, "the prefix 'nope:' is not declared"),
    "INSERT { ?x :p ?y }\nWHERE { ?x a :C }": (1, 16, "nothing binds ?y, which the rule speaks of"),
    "DELETE { ?x :p [] }\nWHERE { ?x a :C }": (1, 13, "a blank node in DELETE"),
    "SELECT ?y WHERE { ?x a :C }": (1, 8, "nothing binds ?y"),
    "SELECT (1 AS ?y) WHERE { ?x a :C }": (1, 14, "give it a name with BIND in WHERE"),
    # what cannot be done element by element
    "CLEAR GRAPH <urn:g>": (1, 1, "it has no WHERE that says when"),
    "MOVE <urn:g> TO <urn:h>": (1, 1, "it has no WHERE that says when"),
    "LOAD <file:///etc/passwd>": (1, 1, "a network sees what arrives and nothing else"),
    "INSERT { ?x :p 1 }\nWHERE { SERVICE <urn:s> { ?x a :C } }": (2, 9, "a network sees what arrives"),
    "WITH <urn:g> DELETE { ?x :p 1 } WHERE { ?x a :C }": (1, 1, "write GRAPH <g> { }"),
    "SELECT ?x FROM <urn:g> WHERE { ?x a :C }": (1, 11, "write GRAPH <g> { }"),
    "SELECT ?x WHERE { ?x a :C } LIMIT 3": (1, 29, "it depends on all solutions at once"),
    "SELECT ?x WHERE { ?x a :C MINUS { ?x a :D } }": (1, 27, "write FILTER NOT EXISTS { }"),
    "SELECT ?x WHERE { ?x a :C BIND(NOW() AS ?t) }": (1, 32, "its value differs from call to call"),
    "SELECT ?x WHERE { ?x a :C { SELECT ?y WHERE { ?y :p ?x } } }": (1, 50, "a query inside a rule"),
    "ASK { ?x a :C }": (1, 1, "a network gives rows"),
    # what has no meaning when solutions are looked up from both ends
    "SELECT ?x WHERE { ?x a :C FILTER(?z > 1) }": (1, 34, "nothing binds ?z for this expression"),
    "SELECT ?x WHERE { ?x a :C FILTER(?x = :a || EXISTS { ?x a :D }) }": (
        1,
        45,
        "EXISTS inside an expression",
    ),
    "SELECT ?x WHERE { ?x a :C OPTIONAL { ?x :p ?y } ?y :q ?z }": (
        1,
        44,
        "?y may have no value outside its OPTIONAL",
    ),
    "SELECT ?x WHERE { ?x a :C OPTIONAL { ?x :p ?y } FILTER NOT EXISTS { ?y :q ?x } }": (
        1,
        44,
        "?y may have no value",
    ),
    "SELECT ?x WHERE { ?x :p+ ?y }": (1, 22, "a path with '+' cannot be in a rule"),
    "SELECT ?x WHERE { ?x a :C GRAPH ?g { } }": (1, 33, "GRAPH ?g without a pattern in it"),
    "SELECT ?x WHERE { ?x a :C BIND(:f(?x) AS ?y) }": (1, 32, "there is no function <urn:f>"),
    # comments that are not just comments
    "# element: statment\nSELECT ?x WHERE { ?x a :C }": (1, 1, "did you mean 'statement'?"),
    "# element: time\n# element: statement\nSELECT ?x WHERE { ?x a :C }": (2, 1, "said twice"),
    "# partition by: graf\nSELECT ?x WHERE { ?x a :C }": (1, 1, "did you mean 'graph'?"),
    "# partition by: :room\nSELECT ?x WHERE { ?x a :C }": (1, 1, "one of graph, <property>"),
    "# partition by: graph\n# partition by: <urn:p>\nSELECT ?x WHERE { ?x a :C }": (2, 1, "said twice"),
    "# rule: r\nSELECT ?x WHERE { ?x a :C } ;\n# rule: r\nSELECT ?x WHERE { ?x a :D }": (
        4,
        1,
        "two rules are called 'r'",
    ),
    "# nothing": (0, 1, "no rules in this file"),
}


@pytest.mark.parametrize("text", CASES)
def test_what_cannot_be_said_is_refused_with_its_place(text):
    line, column, says = CASES[text]
    with pytest.raises(RuleError) as raised:
        parse(f"PREFIX : <urn:>\n{text}", "control.ru")
    assert str(raised.value.place) == f"control.ru:{line + 1}:{column}"
    assert says in str(raised.value)


@pytest.mark.parametrize("word", NETWORK.refused)
def test_a_refused_word_is_free_inside_names_strings_and_comments(word):
    text = f"# {word}\nINSERT {{ ?{word} <urn:{word}> '{word}' }} WHERE {{ ?{word} <urn:e> ?b }}"
    assert len(parse(text).rules) == 1
