"""Golden cases, drawn as time lines: each column is a millisecond, each row a kind of event.

A row with a small letter `a` draws statements `:k :a :1`, one for each digit. A row with a capital `A` draws
intervals `1---1`: a statement `:k :A_begins :1` where it begins, and one `:k :A_ends :1` where it ends (an
instant is `1`, and both). In an expression `{ a ?x }` and `{ A ?x }` stand for the patterns of these. Behind
`=>` are the values, in the order of the variables (`-`: none), and the composed occurrence as a line from its
start to its end.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from ensue import Reasoner
from ensue.events import operator

MARGIN = 10
"""Where time begins."""
F = "http://larkc.eu/csparql/sparql/jena/ext#"


Composed = tuple[tuple[str, ...], int, int]


@dataclass
class Timeline:
    """One drawing."""

    name: str
    where: str = ""
    window: str = "RANGE 60ms STEP 60ms"
    statements: list[tuple[int, str, str, str]] = field(default_factory=list)
    expected: Counter[Composed] = field(default_factory=Counter)

    def draw(self, label: str, line: str) -> None:
        """Take one row; it has its label in the first columns, and what is drawn behind."""
        drawn = line[MARGIN:]
        if label == "=>":
            bar = re.search(r"\|(-*\|)?", drawn)
            assert bar, f"{self.name}: {line}"
            values = line[2 : MARGIN + bar.start()].split()
            self.expected[tuple(values), bar.start(), bar.end() - 1] += 1
        elif label.islower():
            found = re.finditer(r"\d", drawn)
            self.statements += [(m.start(), "<urn:k>", f"<urn:{label}>", f"<urn:{m[0]}>") for m in found]
        else:
            for m in re.finditer(r"(\d)-+\1|\d", drawn):
                number = f"<urn:{m[0][0]}>"
                self.statements.append((m.start(), "<urn:k>", f"<urn:{label}_begins>", number))
                self.statements.append((m.end() - 1, "<urn:k>", f"<urn:{label}_ends>", number))


def timelines(path: Path) -> list[Timeline]:
    """The drawings of a file."""
    found: list[Timeline] = []
    for line in path.read_text().splitlines():
        if line.startswith("== "):
            found.append(Timeline(line[3:]))
        elif line.startswith("{"):
            found[-1].where += f" {line}"
        elif line.startswith(("RANGE", "LANDMARK")):
            found[-1].window = line
        elif line.strip() and not line.startswith(("#", "time")):
            found[-1].draw(line.split()[0], line)
    return found


CASES = [
    case for path in sorted((Path(__file__).parent / "timelines").glob("*.txt")) for case in timelines(path)
]


def _pattern(found: re.Match[str]) -> str:
    letter, variable = found[1], found[2]
    if letter.islower():
        return f"{{ ?k :{letter} {variable} }}"
    return f"{{ ?k :{letter}_begins {variable} . ?k :{letter}_ends {variable} }}"


def composed(case: Timeline, *, at_once: bool = False) -> Counter[Composed]:
    """What the engine composes of a drawing, over all windows; statements come one by one or at once."""
    where = re.sub(r"\{ ([a-zA-Z]) ([?:]\w+) \}", _pattern, case.where)
    # ?n and ?m are for what is not seen outside.
    seen = dict.fromkeys(re.findall(r"\{ \w [?](\w+) \}(?![+{])", case.where))
    names = [f"?{name}" for name in seen if name not in "nm"]
    select = f"{' '.join(names)} (<{F}start>() AS ?start) (<{F}end>() AS ?end)"
    reasoner = Reasoner()
    reasoner.register(
        f"PREFIX : <urn:> SELECT {select} FROM STREAM <urn:s> [{case.window}] WHERE {{ {where} }}"
    )
    found: Counter[Composed] = Counter()
    results = []
    for row in sorted(case.statements):
        reasoner.push("urn:s", [row])
        results += [] if at_once else reasoner.advance()
    for result in [*results, *reasoner.end()]:
        for *values, start, end in result.answers.rows:
            shown = tuple("-" if value is None else value[5:-1] for value in values)
            found[shown, int(str(start).split('"')[1]), int(str(end).split('"')[1])] += 1
    return found


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_timeline(case: Timeline) -> None:
    assert composed(case) == case.expected
    assert composed(case, at_once=True) == case.expected


def test_drawings_are_the_same_where_few_pairs_are_looked_at_together(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(operator, "AT_ONCE", 1)
    for case in CASES:
        assert composed(case, at_once=True) == case.expected, case.name
