"""``python -m conductor``: every command but the page."""

import sys

from conductor.cli import main

sys.exit(main())
