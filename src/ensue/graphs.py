"""The graphs that a query names in FROM and FROM NAMED: where they are, and whether they may be read.

A query is text from somewhere: it reads no file and reaches no network unless the user has said so. A
graph is read from the file that the user gave for its IRI, or from a `file:` IRI below a place that the
user allowed. Nothing is ever fetched over the network.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from urllib.parse import unquote, urlsplit

from ensue.errors import Place, QueryError, did_you_mean


class Graphs:
    """Finds the files of graphs.

    >>> Graphs({"urn:g": "stations.ttl"}).find("urn:g")
    'stations.ttl'
    >>> Graphs().find("file:///data/g.ttl")
    Traceback (most recent call last):
    ensue.errors.QueryError: the graph <file:///data/g.ttl> may not be read (hint: allow it: --allow /data)
    """

    def __init__(
        self,
        files: Mapping[str, str | os.PathLike[str]] | None = None,
        allowed: Iterable[str | os.PathLike[str]] = (),
    ) -> None:
        self._files = {iri: os.fspath(file) for iri, file in (files or {}).items()}
        self._allowed = [Path(place).resolve() for place in allowed]

    def find(self, iri: str, place: Place | None = None) -> str:
        """The file of a graph, or a QueryError that says how to give one."""
        if iri in self._files:
            return self._files[iri]
        path = _file_path(iri)
        if path is None:
            hint = did_you_mean(iri, self._files) or f"say which file it is: --graph {iri}=FILE"
            raise QueryError(f"the graph <{iri}> is not known", place=place, hint=hint)
        try:
            # Resolved first: neither `..` nor a link leads out of an allowed place.
            real = path.resolve()
        except (OSError, RuntimeError, ValueError) as problem:  # A NUL, links in a circle, a name too long.
            what, hint = f"the graph <{iri}> is no file", "check the IRI: percent signs begin codes in it"
            raise QueryError(what, place=place, hint=hint) from problem
        if not any(real.is_relative_to(allowed) for allowed in self._allowed):
            what, hint = f"the graph <{iri}> may not be read", f"allow it: --allow {path.parent}"
            raise QueryError(what, place=place, hint=hint)
        return str(real)


def _file_path(iri: str) -> Path | None:
    parts = urlsplit(iri)
    if parts.scheme != "file" or parts.netloc not in ("", "localhost"):
        return None
    return Path(unquote(parts.path))
