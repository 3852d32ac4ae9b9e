"""`python -m distml.cli`."""

import sys

from distml.cli.main import main

sys.exit(main())
