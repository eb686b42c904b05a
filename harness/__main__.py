"""``python -m harness`` is the command ``relevance``."""

import sys

from harness.cli import main

sys.exit(main())
