"""Background and graphs of FROM as users of the Python interface give them: files, or statements at hand."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from os import PathLike
from typing import Any, TypeGuard, cast

import pyoxigraph as ox
import rdflib

from ensue.errors import EnsueError, InputError, UsageError
from ensue.files import FilePath, Statement, read_statements
from ensue.graphs import Graphs
from ensue.knowledge import Given, InFiles, Knowledge
from ensue.query.terms_in import (
    ByName,
    OneStatement,
    Statements,
    by_name,
    shown,
    statement_text,
    statements_text,
)

Backgrounds = FilePath | Statements | Iterable[FilePath | OneStatement | rdflib.Graph | ox.Store | ox.Dataset]
"""A file, a graph or store, or any iterable of files, graphs, triples and quads."""

_HINT = (
    "a path, an rdflib Graph or Dataset, a pyoxigraph Store or Dataset, triples or quads, or a list of these"
)


def knowledge_in(
    background: Backgrounds | Knowledge,
    graphs: ByName[FilePath | Statements] | None = None,
    allow: FilePath | Iterable[FilePath] = (),
) -> Knowledge:
    """What a user has given as knowledge. Files are read later, statements at hand are taken now.

    >>> list(knowledge_in([("<urn:a>", "<urn:p>", rdflib.Literal("x"))]).background())
    [('<urn:a>', '<urn:p>', '"x"', None)]
    >>> knowledge_in(5)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ensue.errors.UsageError: 5 is no background (hint: a path, an rdflib Graph or Dataset, ...
    """
    if callable(getattr(background, "background", None)):
        return cast("Knowledge", background)  # Prepared already.
    files, stated = _parts(background)
    paths: dict[str, FilePath] = {}
    named: dict[str, tuple[Statement, ...]] = {}
    for iri, given in by_name(graphs or {}, "a graph").items():
        if is_path(given):
            paths[iri] = given
        else:
            named[iri] = tuple(_statements(given, f"the graph <{iri}>"))
    found = InFiles(files, Graphs(paths, [allow] if is_path(allow) else cast("Iterable[FilePath]", allow)))
    return Given(found, stated, named) if stated or named else found


def graph_in(given: FilePath | Statements) -> tuple[Statement, ...]:
    """The statements of a graph, read now if they are in a file."""
    return tuple(read_statements(given) if is_path(given) else _statements(given, "the graph"))


def is_path(given: Any) -> TypeGuard[FilePath]:
    """Whether this is the path of a file; text of rdflib, such as an IRI, is none."""
    return isinstance(given, str | PathLike) and not isinstance(given, rdflib.term.Identifier)


def _parts(given: Any) -> tuple[tuple[FilePath, ...], tuple[Statement, ...]]:
    """The files and the statements of a background."""
    if is_path(given):
        return (given,), ()
    if isinstance(given, rdflib.Graph | ox.Store | ox.Dataset | ox.Triple | ox.Quad):
        return (), tuple(statements_text(given))
    if not isinstance(given, Iterable) or isinstance(given, str | bytes | Mapping):
        raise UsageError(f"{shown(given)} is no background", hint=_HINT)
    files: list[FilePath] = []
    stated: list[Statement] = []
    for number, each in enumerate(given, start=1):
        if is_path(each):
            files.append(each)
        elif isinstance(each, rdflib.Graph | ox.Store | ox.Dataset):
            stated += statements_text(each)
        else:
            stated.append(_numbered(each, number))
    return tuple(files), tuple(stated)


def _numbered(each: Any, number: int) -> Statement:
    try:
        return statement_text(each)
    except EnsueError as problem:
        what = f"number {number} of the background: {problem.what}"
        raise InputError(what, hint=problem.hint) from problem


def _statements(given: Any, what: str) -> Iterable[Statement]:
    try:
        yield from statements_text(given)
    except EnsueError as problem:
        raise InputError(f"{what}: {problem.what}", hint=problem.hint) from problem
