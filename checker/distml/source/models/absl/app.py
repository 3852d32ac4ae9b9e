"""absl.app: https://abseil.io/docs/python/guides/app

A program that is run plainly gets no arguments but its own name.
"""

import sys


class UsageError(Exception):
    def __init__(self, message="", exitcode=1):
        super().__init__(message)


def run(main, argv=None, flags_parser=None):
    """Run `main` with what is left of the command line, and end the program."""
    sys.exit(main([str(sys.argv[0])] if argv is None else argv))


def call_after_init(callback):
    return None
