"""`python -m ragkit` is `ragkit`."""

from ragkit.cli import main

main()
