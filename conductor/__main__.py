"""``python -m conductor``: the same as ``conductor-studio``."""

import sys

from conductor.cli import main

sys.exit(main())
