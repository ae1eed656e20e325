"""Univ-Bench Artificial, the benchmark's generator in its version 1.7, draw by draw.

Every number that is drawn moves the generator on, so the order of the draws is part of what is defined here,
and so are the draws whose outcome decides nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from ensue.bench.javarandom import JavaRandom
from ensue.bench.lubm.rdf import Department, Form, Thing, university_iri

TEXT, LINK, UNIVERSITY = Form.TEXT, Form.LINK, Form.UNIVERSITY

_SEED_STRIDE = -(1 << 31)
_UNIVERSITIES = 1000
"""Degrees are from one of so many universities, whether or not they are generated."""
_COURSES = 100
"""Of a department, of each of the two kinds, at most."""
_TOPICS = 30


class _Rank(NamedTuple):
    """Those of a department who teach: how many there are, and how much each has published."""

    name: str
    people: tuple[int, int]
    publications: tuple[int, int]


_PROFESSORS = (
    _Rank("FullProfessor", (7, 10), (15, 20)),
    _Rank("AssociateProfessor", (10, 14), (10, 18)),
    _Rank("AssistantProfessor", (8, 11), (5, 10)),
)
_RANKS = (*_PROFESSORS, _Rank("Lecturer", (5, 7), (0, 5)))


def departments(university: int, seed: int = 0) -> Iterator[Department]:
    """The departments of a university: the same whichever others are generated.

    >>> first = next(departments(0))
    >>> len(first.things), first.things[2].iri
    (1387, 'http://www.Department0.University0.edu/FullProfessor0')
    """
    random = JavaRandom(seed * _SEED_STRIDE + university)
    for number in range(random.between(15, 25)):
        yield Department(university, number, _Draft(random, university, number).things())


@dataclass(slots=True)
class _Sizes:
    """How many there are of each kind in a department."""

    faculty: list[int]
    undergraduates: int
    graduates: int
    teaching_assistants: int
    research_assistants: int
    groups: int

    @classmethod
    def draw(cls, random: JavaRandom) -> _Sizes:
        between = random.between
        faculty = [between(*rank.people) for rank in _RANKS]
        teachers = sum(faculty)
        undergraduates = between(8 * teachers, 14 * teachers)
        graduates = between(3 * teachers, 4 * teachers)
        teaching = between(graduates // 5, graduates // 4)
        research = between(graduates // 4, graduates // 3)
        return cls(faculty, undergraduates, graduates, teaching, research, between(10, 20))


@dataclass(slots=True)
class _Draft:
    """A department while it is drawn."""

    random: JavaRandom
    university: int
    number: int
    courses: int = 0
    """Courses for undergraduates that are given so far: they are numbered from 0 on."""
    graduate_courses: int = 0
    publications: list[Thing] = field(default_factory=list)
    sizes: _Sizes = field(init=False)
    host: str = field(init=False)
    iri: str = field(init=False)

    def __post_init__(self) -> None:
        self.host = f"Department{self.number}.University{self.university}.edu"
        self.iri = f"http://www.{self.host}"

    def things(self) -> list[Thing]:
        """All of it, in the order of the document."""
        self.sizes = _Sizes.draw(self.random)
        chair = self.random.below(self.sizes.faculty[0])
        things = list(self._organisations())
        for rank, people in zip(_RANKS, self.sizes.faculty, strict=True):
            is_full = rank is _PROFESSORS[0]
            things += [self._teacher(rank, k, heads=is_full and k == chair) for k in range(people)]
        things += [self._undergraduate(k) for k in range(self.sizes.undergraduates)]
        things += [self._graduate(k) for k in range(self.sizes.graduates)]
        in_department = [("subOrganizationOf", self.iri, LINK)]
        things += [
            Thing("ResearchGroup", f"{self.iri}/ResearchGroup{k}", in_department)
            for k in range(self.sizes.groups)
        ]
        return things + self.publications + [*self._all_courses(), *self._assistants()]

    def _organisations(self) -> Iterator[Thing]:
        above = university_iri(self.university)
        if self.number == 0:
            yield Thing("University", above, [("name", f"University{self.university}", TEXT)])
        named = ("name", f"Department{self.number}", TEXT)
        yield Thing("Department", self.iri, [named, ("subOrganizationOf", above, UNIVERSITY)])

    def _teacher(self, rank: _Rank, number: int, *, heads: bool) -> Thing:
        random = self.random
        who = f"{rank.name}{number}"
        said = [("name", who, TEXT), *self._taught()]
        said += [self._degree(degree) for degree in ("undergraduate", "masters", "doctoral")]
        said += [("worksFor", self.iri, LINK), *self._reached_at(who)]
        if rank in _PROFESSORS:
            said.append(("researchInterest", f"Research{random.below(_TOPICS)}", TEXT))
        if heads:
            said.append(("headOf", self.iri, LINK))
        teacher = Thing(rank.name, f"{self.iri}/{who}", said)
        author = ("publicationAuthor", teacher.iri, LINK)
        self.publications += [
            Thing("Publication", f"{teacher.iri}/Publication{k}", [("name", f"Publication{k}", TEXT), author])
            for k in range(random.between(*rank.publications))
        ]
        return teacher

    def _taught(self) -> Iterator[tuple[str, str, Form]]:
        """One or two courses of each kind, the next that nobody gives."""
        random = self.random
        for _ in range(random.between(1, 2)):
            random.below(_COURSES - self.courses)  # Drawn, and not used.
            yield "teacherOf", f"{self.iri}/Course{self.courses}", LINK
            self.courses += 1
        for _ in range(random.between(1, 2)):
            random.below(_COURSES - self.graduate_courses)  # Likewise.
            yield "teacherOf", f"{self.iri}/GraduateCourse{self.graduate_courses}", LINK
            self.graduate_courses += 1

    def _undergraduate(self, number: int) -> Thing:
        random = self.random
        who = f"UndergraduateStudent{number}"
        said = self._member(who)
        taken = sample(random, random.between(2, 4), self.courses)
        said += [("takesCourse", f"{self.iri}/Course{course}", LINK) for course in taken]
        if random.below(5) == 0:
            said.append(self._advisor())
        return Thing("UndergraduateStudent", f"{self.iri}/{who}", said)

    def _graduate(self, number: int) -> Thing:
        random = self.random
        who = f"GraduateStudent{number}"
        iri = f"{self.iri}/{who}"
        said = self._member(who)
        taken = sample(random, random.between(1, 3), self.graduate_courses)
        said += [("takesCourse", f"{self.iri}/GraduateCourse{course}", LINK) for course in taken]
        said.append(self._degree("undergraduate"))
        random.below(1)  # Each has an advisor, for which a number is drawn all the same.
        said.append(self._advisor())
        for written in sample(random, random.between(0, 5), len(self.publications)):
            self.publications[written].properties.append(("publicationAuthor", iri, LINK))
        return Thing("GraduateStudent", iri, said)

    def _member(self, who: str) -> list[tuple[str, str, Form]]:
        return [("name", who, TEXT), ("memberOf", self.iri, LINK), *self._reached_at(who)]

    def _reached_at(self, who: str) -> list[tuple[str, str, Form]]:
        return [("emailAddress", f"{who}@{self.host}", TEXT), ("telephone", "xxx-xxx-xxxx", TEXT)]

    def _degree(self, kind: str) -> tuple[str, str, Form]:
        return f"{kind}DegreeFrom", university_iri(self.random.below(_UNIVERSITIES)), UNIVERSITY

    def _advisor(self) -> tuple[str, str, Form]:
        rank = self.random.below(len(_PROFESSORS))
        who = self.random.below(self.sizes.faculty[rank])
        return "advisor", f"{self.iri}/{_PROFESSORS[rank].name}{who}", LINK

    def _all_courses(self) -> Iterator[Thing]:
        for kind, count in (("Course", self.courses), ("GraduateCourse", self.graduate_courses)):
            for k in range(count):
                yield Thing(kind, f"{self.iri}/{kind}{k}", [("name", f"{kind}{k}", TEXT)])

    def _assistants(self) -> Iterator[Thing]:
        """Some of the graduate students again, as assistants: nobody in both ways."""
        sizes = self.sizes
        chosen = sample(self.random, sizes.teaching_assistants + sizes.research_assistants, sizes.graduates)
        courses = sample(self.random, sizes.teaching_assistants, self.courses)
        for student, course in zip(chosen, courses, strict=False):
            helps = [("teachingAssistantOf", f"{self.iri}/Course{course}", LINK)]
            yield Thing("TeachingAssistant", f"{self.iri}/GraduateStudent{student}", helps)
        for student in chosen[sizes.teaching_assistants :]:
            yield Thing("ResearchAssistant", f"{self.iri}/GraduateStudent{student}", [])


def sample(random: JavaRandom, count: int, size: int) -> list[int]:
    """So many different numbers below `size`, in the order in which they are drawn.

    >>> sample(JavaRandom(0), 3, 5)
    [0, 4, 2]
    """
    rest = list(range(size))
    return [rest.pop(random.below(len(rest))) for _ in range(count)]
