"""`python -m distml.cli`."""

import sys

if not sys.flags.safe_path:
    del sys.path[0]  # the working folder: nothing of what is checked may be imported

from distml.cli.main import main

sys.exit(main())
