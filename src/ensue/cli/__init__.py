"""The command line: `main.py` finds the command, one file per command does the work."""

from ensue.cli.main import main

__all__ = ["main"]
