"""Table 5 of the IMaRS paper: facts carry the time at which they expire, and nothing is overdeleted.

What a step is given: P, the timed facts before it; PIns, the statements that enter the window, each
with its expiration time (its own time + the range of the window); and `now`, the first moment after
the window's close. So `(now - 1)` is the close, and a fact has expired iff T <= (now - 1). What
cannot expire has the stamp FOREVER. The table knows no retraction: facts leave by expiring alone.

A step of the mended program ends as section 4 of the paper has it: the store of triples adds P+ and
removes P-, the table of expiration times takes over P++ and forgets P-; or P becomes PNew: the same.
"""

from __future__ import annotations

from ensue.rules.maintenance.rewriting import Edit, Function, Mend, Table

TABLE_5 = Table(
    letter="Delta",
    functions=(
        Function("New1", "PNew[T] :- P[T], not P[T1], T1 = (now - 1)"),
        Function("New2", "PNew[T] :- PIns[T], not POld[T]"),
        Function("Old1", "POld[T] :- PIns[T1], P[T], T1 > T"),
        Function("Old2", "POld[T] :- PIns[T1], PIns[T], T1 > T"),
        Function("-1", "P-[T] :- P[T1], T1 = (now - 1), not PIns[T1]"),
        Function("-2", "P-[T] :- POld[T]"),
        Function("++", "P++[T] :- PNew[T], not P[T1]"),
        Function("+", "P+[T] :- P++[T], not POld[T1]"),
        Function("Ins", "HIns[T] :- B1New[T1], ..., BiIns[Ti], ..., BnNew[Tn], T = min(T1, ..., Tn)"),
    ),
    mends=(
        Mend(
            "stratified",
            "PNew negates POld, which rests on PIns, which rests on PNew: negation through recursion",
            # Derivations that a fresher one beats take part too: they cannot beat anything.
            edits=(Edit("Ins", "New", "All"),),
            adds=(
                Function("All1", "PAll[T] :- P[T], T > (now - 1)"),
                Function("All2", "PAll[T] :- PIns[T], T > (now - 1)"),
            ),
        ),
        Mend(
            "expired-earlier",
            "only what expired in the very last second goes: a longer step leaves facts behind for ever",
            edits=(
                Edit("New1", "not P[T1], T1 = (now - 1)", "T > (now - 1)"),
                Edit("-1", "T1 = (now - 1)", "T1 <= (now - 1)"),
            ),
        ),
        Mend(
            "replaced",
            "a fact that was renewed stays beside its renewal, with two stamps",
            edits=(Edit("New1", "P[T], ", "P[T], not POld[T], "),),
        ),
        Mend(
            "staler",
            "a derivation staler than the fact already there is kept, and expires in its place",
            adds=(Function("Old3", "POld[T] :- P[T1], PIns[T], T1 > T"),),
        ),
        Mend(
            "late",
            "a statement that arrives when its time is over gets in all the same",
            edits=(Edit("New2", "PIns[T], ", "PIns[T], T > (now - 1), "),),
        ),
        Mend(
            "unbound",
            "the T of the head is bound by nothing in the body",
            edits=(Edit("-1", "P-[T]", "P-[T1]"),),
        ),
        Mend(
            "renewed-in-time",
            "a fact that is renewed in the step in which it expires is deleted: its renewal is not PIns[T1]",
            edits=(Edit("-1", "not PIns[T1]", "not PNew[T2]"),),
        ),
        Mend(
            "no-loss",
            "a fact that was renewed counts as deleted, and its triple leaves the store",
            drops=("-2",),
        ),
        Mend(
            "renewals",
            "a renewal is in no P++ (the fact was there, with some T1), so its new stamp is lost",
            edits=(Edit("++", "not P[T1]", "not P[T]"),),
        ),
        Mend(
            "derived-twice",
            "a new fact derived twice in one step is in no P+, because its staler derivation is in POld",
            edits=(Edit("+", "not POld[T1]", "not P[T1]"),),
        ),
    ),
)
"""As printed, with its mends. Mended it is stratified: PIns, PAll, POld; then PNew, P++, P+; then P-."""
