"""A flat dictionary is a dictionary, whatever is done to it; and its arrays can be put away."""

from __future__ import annotations

import os
from random import Random

import numpy as np
import pytest

from ensue.dictionary import Dictionary
from ensue.maintain.kernel.flatdictionary import FlatDictionary
from ensue.maintain.kernel.folder import Folder, FolderError

SEED = int(os.environ.get("ENSUE_SEED", "1"))


def a_term(random):
    number = random.choice([random.randrange(30), random.randrange(3000)])
    shapes = [f"<urn:x{number}>", f"_:b{number}", f'"{number}"', f'"{number}"@en', f'"{number}"^^<urn:int>']
    return random.choice([*shapes, f'"Zürich 🚆 {"ü" * number}"', f"<<( <urn:a> <urn:b> <urn:{number}> )>>"])


class Both:
    """The same done to both; what they say must be the same."""

    def __init__(self, random):
        self.random, self.plain, self.flat = random, Dictionary(), FlatDictionary()
        self.ids = {}
        """For each term that is known its integers in both."""

    def add(self):
        terms = [a_term(self.random) for _ in range(self.random.randrange(60))]
        if self.random.random() < 0.1:
            terms = terms[:1]
            numbers = [(self.plain.encode(term), self.flat.encode(term)) for term in terms]
        else:
            numbers = list(zip(self.plain.encode_all(terms), self.flat.encode_all(terms), strict=True))
        for term, pair in zip(terms, numbers, strict=True):
            assert self.ids.setdefault(term, pair) == pair

    def pin(self):
        term = a_term(self.random)
        pair = self.plain.pin(term), self.flat.pin(term)
        assert self.ids.setdefault(term, pair) == pair

    def mint(self):
        if not self.ids:
            return
        one, two = zip(*self.random.choices(list(self.ids.values()), k=2), strict=True)
        pair = self.plain.mint("rule", one), self.flat.mint("rule", two)
        assert (pair[0] is None) == (pair[1] is None)
        if pair[0] is not None and self.random.random() < 0.7:
            label = self.plain.decode(pair[0])
            assert self.flat.decode(pair[1]) == label
            assert self.ids.setdefault(label, pair) == pair

    def sweep(self):
        used = self.random.sample(list(self.ids.values()), k=len(self.ids) // 3)
        one, two = [pair[0] for pair in used], [pair[1] for pair in used]
        assert self.plain.sweep([one]) == self.flat.sweep([np.array(two, np.int32)])
        self.ids = {term: pair for term, pair in self.ids.items() if term in self.plain}

    def check(self):
        assert len(self.plain) == len(self.flat)
        numbers = list(self.ids.values())
        assert self.flat.decode_all([0, *(flat for _, flat in numbers)]) == [None, *self.ids]
        for term, (plain, flat) in self.ids.items():
            assert (term in self.flat, self.flat.decode(flat)) == (True, term)
            assert self.plain.kind(plain) is self.flat.kind(flat)
            assert self.plain.is_minted(plain) == self.flat.is_minted(flat)
        for term in (a_term(self.random) for _ in range(20)):
            assert (term in self.plain) == (term in self.flat)


@pytest.mark.parametrize("seed", range(SEED, SEED + 12))
def test_it_does_as_a_dictionary_does(seed):
    random = Random(seed)
    both = Both(random)
    for _ in range(80):
        random.choice([both.add, both.add, both.add, both.pin, both.mint, both.sweep])()
        both.check()


def test_a_term_that_stands_for_nothing_is_an_error():
    flat = FlatDictionary()
    number = flat.encode("<urn:a>")
    flat.sweep([])
    for unknown in (0, number, 10**6):
        with pytest.raises(KeyError):
            flat.decode(unknown)


def test_texts_stay_where_they_are_through_sweeps_until_most_of_the_room_is_empty():
    flat, sizes = FlatDictionary(), []
    flat.pin("<urn:kept>")
    for turn in range(12):
        numbers = flat.encode_all([f"<urn:{turn}/{number:06}>" for number in range(20_000)])
        assert flat.sweep([numbers[:5000]]) >= 15_000
        sizes.append(len(flat._table.heap))
        assert flat.decode_all(numbers[:2]) == [f"<urn:{turn}/000000>", f"<urn:{turn}/000001>"]
    assert len(set(sizes[2:])) <= 3, f"what comes and goes finds its room: {sizes}"
    flat.sweep([])
    assert len(flat._table.heap) < max(sizes) / 8
    assert flat.decode(flat.encode("<urn:kept>")) == "<urn:kept>"


def test_what_was_put_away_is_taken_up_by_another(tmp_path):
    one, other = FlatDictionary(), FlatDictionary()
    for each in (one, other):
        each.pin("<urn:kept>")
    assert one.fingerprint() == other.fingerprint()
    terms = [f"<urn:{number}>" for number in range(5000)]
    numbers = one.encode_all(terms)
    folder = Folder(tmp_path)
    one.park(folder)
    more = one.encode_all([f'"{number}"' for number in range(5000)])  # Grows out of its files.
    one.park(folder)
    folder.seal({})
    generation = other.generation
    other.adopt(Folder.opened(tmp_path))
    assert other.decode_all(numbers) == terms
    assert other.decode_all(more[:2]) == ['"0"', '"1"']
    assert other.encode("<urn:4999>") == numbers[-1]
    assert other.generation > generation, "who remembers integers must forget them"
    assert one.fingerprint() == other.fingerprint()


def test_a_folder_shows_what_was_done_to_it(tmp_path):
    folder = Folder(tmp_path)
    kept = folder.keep("a", np.arange(10_000))
    few = folder.keep("few", np.arange(10))
    folder.keep("none", np.zeros((0, 6), np.int32))
    few[3] = 98
    folder.seal({"x": 1})
    kept[3] = 99
    again = Folder.opened(tmp_path)
    assert (again.find("a")[3], again.find("few")[3], again.find("none").shape) == (99, 98, (0, 6))
    assert again.keep("a", again.find("a")) is again.find("a")
    grown = again.keep("few", np.arange(20_000))
    shrunk = again.keep("a", np.arange(3))
    again.seal({})
    assert Folder.opened(tmp_path).find("few").tolist() == grown.tolist()
    assert Folder.opened(tmp_path).find("a").tolist() == shrunk.tolist() == [0, 1, 2]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["contents", "few"]
    with pytest.raises(FolderError, match="no array b"):
        folder.find("b")
    (tmp_path / "few").write_bytes(b"short")
    with pytest.raises(FolderError, match="few has 5 bytes, not 160,000"):
        Folder.opened(tmp_path)
    whole = (tmp_path / "contents").read_bytes()
    for broken in (b"{", b"", whole[:-1], whole + b"x", whole.replace(b"small", b"smell")):
        (tmp_path / "contents").write_bytes(broken)
        with pytest.raises(FolderError):
            Folder.opened(tmp_path)
