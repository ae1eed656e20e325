"""`python -m ensue` is `ensue`."""

from ensue.cli import main

if __name__ == "__main__":
    raise SystemExit(main())
