"""rdflib's grammar as it is used here: whatever else the process does with pyparsing."""

from __future__ import annotations

from pyparsing import ParserElement

from ensue.query.language import parse_query


def test_what_other_libraries_tell_the_parser_to_remember_is_not_asked_for():
    """To remember what was tried makes rdflib's grammar slow; matplotlib has pyparsing do so."""
    ParserElement.enable_packrat()
    try:
        parse_query("SELECT * FROM STREAM <urn:s> [RANGE 10s STEP 1s] WHERE { ?s ?p ?o }")
        # pyparsing itself looks for the end of the text; the grammar would look for hundreds of things.
        assert sum(ParserElement.packrat_cache_stats) < 10
    finally:
        ParserElement.disable_memoization()
