"""Scripts that stand in front of programs which Spark starts, kept in the user's cache, private."""

from __future__ import annotations

import os
import tempfile
from hashlib import blake2b
from pathlib import Path

from ensue.private_folder import passing_cache


def placed(name: str, script: str) -> Path:
    """A folder in whose `bin` a script has the name of a program."""
    # One folder per script, so that what is in it never changes under a program that runs.
    folder = passing_cache("scripts") / f"{name}-{blake2b(script.encode(), digest_size=8).hexdigest()}"
    program = folder / "bin" / name
    program.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    if not program.exists():
        # Two processes may come here at once: each writes its own, and the last to rename wins.
        with tempfile.NamedTemporaryFile("w", dir=program.parent, delete=False) as out:
            out.write(script)
        os.chmod(out.name, 0o700)
        os.replace(out.name, program)
    return folder
