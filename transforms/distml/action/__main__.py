"""The Action's step: `python -m distml.action`."""

import sys

from distml.action.run import main

if __name__ == "__main__":
    sys.exit(main())
