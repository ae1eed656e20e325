"""Windows drawn in ASCII, so that a test can be seen to be right.

s |    a  b    c       statements, at the time of their column
  |----|----|----|     a ruler: the first bar is time 0 (or `start`), one column a millisecond
  (---------]          windows, with their bounds
"""

from __future__ import annotations

import re


def drawn(picture, start=0):
    """The statements {letter: time} and the windows [(open, close, letters drawn within)], in order."""
    lines = [line for line in picture.splitlines() if line.strip()]
    zero = next(line.index("|") for line in lines if line.lstrip().startswith("|"))
    statements, windows = {}, []
    for line in lines:
        if mark := re.search(r"[(\[]-*[)\]]", line):
            opens, closes = mark.start() - zero + start, mark.end() - 1 - zero + start
            inside = [
                name
                for name, time in statements.items()
                if (opens < time or (line[mark.start()] == "[" and opens == time))
                and (time < closes or (line[mark.end() - 1] == "]" and closes == time))
            ]
            windows.append((opens, closes, "".join(sorted(inside))))
        elif not line.lstrip().startswith("|"):
            statements |= {letter: at - zero + start for at, letter in enumerate(line) if letter.isalpha()}
    return statements, windows
