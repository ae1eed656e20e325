"""Where the facts of queries come from; shared by all queries of a reasoner."""

from __future__ import annotations

from dataclasses import dataclass, field

from ensue.dictionary import Dictionary
from ensue.query.background import Background
from ensue.query.compiled.plan import Plan
from ensue.query.loose import StreamLog
from ensue.query.materialise import Materialisation
from ensue.query.scopes import Scope
from ensue.query.stages import Stages


@dataclass
class Sources:
    """Where the facts of queries come from; shared by all of them."""

    dictionary: Dictionary
    background: Background
    stages: Stages = field(default_factory=Stages)
    groups: dict[tuple[Plan, Scope, bool], int] = field(default_factory=dict)
    """Queries that ask the same of the same scope, by number."""
    changes: bool = False
    """Whether the background may change: then what is seen later than it is read may be closed once more."""
    materialisations: dict[Scope, Materialisation] = field(default_factory=dict)
    logs: dict[str, StreamLog] = field(default_factory=dict)
