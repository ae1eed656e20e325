"""Linear rules folded into the query's patterns (seed: StreamQR): what they conclude is never there.

| file | what |
|---|---|
| `maintainer.py` | the strategies `rewrite`, `rewrite-union` and `hybrid` |
| `folding.py` | the contract, over facts that somebody keeps |
| `kept.py` | who keeps them: statements as they came, or what joining rules make of them |
| `folded.py` | patterns with rules folded in, matched against facts |
| `tables.py` | thousands of alternatives as look-ups |
"""
