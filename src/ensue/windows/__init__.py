"""Windows and time, as pure logic: no reasoning, no reading, no clock of their own.

A timed fact carries a stamp; a window (open, close] is a pair of thresholds over stamps. Here is what
the windows are (`spec.py`), when queries are evaluated over them (`schedule.py` for all of them,
`registered.py` for one), which evaluations are worth a report (`report.py`), how far time has come and
what came too late for it (`frontier.py`), and stamps that count statements instead of milliseconds
(`count.py`). Start reading at `spec.py`; the loop of an engine is in `schedule.py`.
"""
