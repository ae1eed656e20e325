"""Table 2 of the IMaRS paper: overdelete, rederive, insert, as Volz, Staab and Motik rewrite it.

What a step is given: P, the closure before it; PIns and PDel, the statements of which a copy came
or went. The mended table is also given PStated, the statements that still have a copy.
"""

from __future__ import annotations

from ensue.rules.maintenance.rewriting import Function, Mend, Table

TABLE_2 = Table(
    letter="delta",
    functions=(
        Function("New1", "PNew :- P, not PDel"),
        Function("New2", "PNew :- PRed"),
        Function("New3", "PNew :- PIns"),
        Function("+", "P+ :- PIns, not P"),
        Function("-", "P- :- PDel, not PIns, not PRed"),
        Function("Red", "HRed :- HDel, B1New, ..., BnNew"),
        Function("Del", "HDel :- B1, ..., BiDel, ..., Bn"),
        Function("Ins", "HIns :- B1New, ..., BiIns, ..., BnNew"),
    ),
    mends=(
        Mend(
            "stated",
            "a fact that is stated and also derived goes with its derivation: only rules rederive",
            adds=(Function("Stated", "PRed :- PDel, PStated"),),
        ),
    ),
)
"""As printed, with its one mend."""
