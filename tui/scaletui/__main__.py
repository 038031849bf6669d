"""`python -m scaletui`."""

from __future__ import annotations

import sys

from scaletui.cli import main

sys.exit(main())
