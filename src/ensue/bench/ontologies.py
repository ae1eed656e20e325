"""The ten ontologies of Stream Coror's evaluation (its figure 6-1), by name."""

from __future__ import annotations

import os
from pathlib import Path

from ensue.bench.isin import IS_IN
from ensue.bench.ontology import DOMAIN, SUB_CLASS, TRANSITIVE, TYPE, Statement
from ensue.errors import InputError, Place, UsageError
from ensue.terms import OWL

_CLASS, _OBJECT_PROPERTY = f"<{OWL}Class>", f"<{OWL}ObjectProperty>"
_PLACE, _ROOM = "<http://example.org/Place>", "<http://example.org/Room>"

ISIN: tuple[Statement, ...] = (
    (_PLACE, TYPE, _CLASS),
    (_ROOM, TYPE, _CLASS),
    (_ROOM, SUB_CLASS, _PLACE),
    (IS_IN, TYPE, _OBJECT_PROPERTY),
    (IS_IN, TYPE, TRANSITIVE),
    (IS_IN, DOMAIN, _PLACE),
)
"""An isIn ontology of six statements, as many as the paper's has."""

FILES = {
    "lubm": "lubm/univ-bench.nt",
    "teams": "coror-ontologies/teams.triples",
    "beer": "coror-ontologies/beer.triples",
    "mindswappers": "coror-ontologies/mindswappers.triples",
    "mad_cows": "coror-ontologies/mad_cows.triples",
    "biopax": "coror-ontologies/biopax-level1.triples",
    "food": "coror-ontologies/food.triples",
    "university": "coror-ontologies/university.triples",
    "koala": "coror-ontologies/koala.triples",
}
NAMES = (*FILES, "isin")


def data_directory(given: str | None = None) -> Path:
    """Where third-party data is: as given, as ENSUE_DATA says, or `../shared/data` beside the repository."""
    if given or os.environ.get("ENSUE_DATA"):
        return Path(given or os.environ["ENSUE_DATA"])
    return Path(__file__).resolve().parents[4] / "shared" / "data"


def load_ontology(name: str, data: Path) -> list[Statement]:
    """The statements of an ontology by its name.

    >>> len(load_ontology("isin", Path()))
    6
    """
    if name == "isin":
        return list(ISIN)
    if name not in FILES:
        raise UsageError(f"unknown ontology '{name}'", hint=f"one of {', '.join(NAMES)}")
    path = data / FILES[name]
    if not path.exists():
        hint = "give the directory with --data or ENSUE_DATA"
        raise InputError(f"the ontology '{name}' is not there", place=Place(str(path)), hint=hint)
    return read_file(path)


def read_file(path: str | os.PathLike[str]) -> list[Statement]:
    """The statements of an RDF file, whatever graphs they are in."""
    from ensue.files import read_statements

    return [(s, p, o) for s, p, o, _ in read_statements(path)]
