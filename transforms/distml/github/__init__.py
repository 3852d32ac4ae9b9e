"""GitHub's REST API, as far as distml calls it: pull requests, their labels, comments and files.

`rest` sends requests and waits where it is told to, `pulls` knows the calls. The token comes from the environment and is
in no message. Knows nothing of checking or rewriting.
"""

import re

REPOSITORY = re.compile(r"[A-Za-z0-9][\w-]*/(?!\.{1,2}$)[\w.-]+", re.ASCII)
"""`OWNER/NAME`; neither part is one that an address would take for a folder above."""
