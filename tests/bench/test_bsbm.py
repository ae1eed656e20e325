"""The Berlin SPARQL Benchmark's data are its own, statement for statement."""

from __future__ import annotations

import gzip
import hashlib

import pytest

from ensue.bench.bsbm.hierarchy import Shape, types
from ensue.bench.bsbm.market import Market
from ensue.bench.bsbm.rdf import Kind
from ensue.bench.bsbm.words import own_words, read_words
from ensue.bench.generate import n_triples
from ensue.cli.main import main
from ensue.dictionary import Dictionary
from ensue.errors import InputError, UsageError
from ensue.maintain import make
from ensue.model import BACKGROUND, Copies
from ensue.rules.load import parse_rules
from ensue.terms import RDF, RDFS

UP = f"""
[rdfs9: (?x <{RDF}type> ?c), (?c <{RDFS}subClassOf> ?d) -> (?x <{RDF}type> ?d)]
[rdfs11: (?c <{RDFS}subClassOf> ?d), (?d <{RDFS}subClassOf> ?e) -> (?c <{RDFS}subClassOf> ?e)]
"""


@pytest.fixture(scope="module")
def truth(shared_data):
    return shared_data / "bsbm"


def market(truth, products: int) -> Market:
    words, names = (read_words(str(truth / f"{name}.txt.gz")) for name in ("titlewords", "givennames"))
    return Market(products, words=words, names=names)


def lines(of: Market) -> list[str]:
    return [n_triples(each) for resource in of.resources() for each in resource.statements()]


def unzipped(path) -> list[str]:
    return gzip.decompress(path.read_bytes()).decode().splitlines()


def test_a_hundred_products_are_the_benchmarks(truth):
    assert lines(market(truth, 100)) == unzipped(truth / "ground-truth" / "bsbm_100.nt.gz")


def test_a_thousand_have_its_checksum(truth):
    want = dict(
        reversed(line.split())
        for line in (truth / "ground-truth/sha256-and-lines.txt").read_text().splitlines()[::2]
    )
    found = "".join(f"{line}\n" for line in lines(market(truth, 1000)))
    assert hashlib.sha256(found.encode()).hexdigest() == want["bsbm_1000.nt"]


def test_closed_under_the_hierarchy_it_has_the_types_of_its_forward_chaining(truth):
    dictionary = Dictionary()
    maintainer = make("expiration", parse_rules(UP, syntax="bracketed"), dictionary)
    stated = {statement for resource in market(truth, 100).resources() for statement in resource.statements()}
    rows = (tuple(map(dictionary.encode, statement)) for statement in stated)
    maintainer.load_background(Copies.background(rows))
    closed = {tuple(map(dictionary.decode, (s, p, o))) for _, s, p, o, _ in maintainer.closure(BACKGROUND)}
    typed = {n_triples(each) for each in closed - stated if each[1] == f"<{RDF}type>"}
    assert typed == set(unzipped(truth / "ground-truth" / "bsbm_fc_100_only-extra-triples.nt.gz"))


def test_it_is_the_same_each_time_it_is_asked():
    of = Market(20)
    assert lines(of) == lines(of)


@pytest.mark.parametrize("branching", [(1,), (3,), (2, 2, 2, 2), (100, 100)])
def test_a_hierarchy_of_any_shape(branching):
    shape = Shape(branching)
    found = types(shape)
    assert len(found) == shape.types == found[-1].number
    assert {each.level for each in found} == set(range(shape.depth + 1))


def test_every_product_is_of_a_leaf_and_has_features_of_types_above_it():
    of = Market(30, Shape((3, 3)))
    products = [each for each in of.resources() if each.kind is Kind.PRODUCT]
    assert len(products) == 30
    leaves = {f"ProductType{leaf.number}>" for leaf in of.leaves}
    for product in products:
        [leaf] = [o for p, o in product.pairs if p == f"<{RDF}type>" and "instances" in o]
        assert leaf.rpartition("/")[2] in leaves


def test_the_command_writes_what_can_be_run(tmp_path, capsys):
    folder = tmp_path / "market"
    assert main(["generate", "bsbm", "--products", "5", "-o", str(folder)]) == 0
    said = capsys.readouterr().out
    stream = (folder / "offers.tsv").read_text().splitlines()
    assert f"{len(stream):,} statements on the stream" in said
    command = said.splitlines()[-1].split()[1:]
    answers = tmp_path / "answers.jsonl"
    assert main([*command, "--engine", "local", "--output", str(answers)]) == 0
    assert "Product" in answers.read_text()


@pytest.mark.parametrize("wrong", [["--depth", "2"], ["--fanout", "2"], ["--words", "nowhere.txt"]])
def test_what_cannot_be_is_said(tmp_path, capsys, wrong):
    assert main(["generate", "bsbm", *wrong, "-o", str(tmp_path / "market")])
    said = capsys.readouterr().err
    assert "go together" in said or "nowhere.txt" in said


def test_words_must_be_words(tmp_path):
    path = tmp_path / "numbers.txt"
    path.write_text("1 2 3")
    with pytest.raises(InputError, match="no word"):
        read_words(str(path))
    with pytest.raises(UsageError):
        Market(0)
    assert len(set(own_words())) == len(own_words())
