"""The papers' maintenance programs: any rules rewritten by table 2 or table 5 of the IMaRS paper.

Start at `volz.py` and `imars.py`: the tables as printed, and what had to be mended in them.
"""

from __future__ import annotations

from ensue.rules.maintenance.notation import parse
from ensue.rules.maintenance.program import TABLES, MaintenanceProgram, maintenance_program

__all__ = ["TABLES", "MaintenanceProgram", "maintenance_program", "parse"]
