"""Source, first hundred: files that could not be checked, or not to their end."""

from distml.diagnostics.rule import Rule


class InvalidSyntax(Rule):
    """A file that is not valid Python.

    ## What it finds
    Source that the parser of the Python running distml rejects. Syntax newer than that Python counts: the finding says
    which Python the file needs, and "Newer Python" in docs/usage.md how each channel gets it.

    ## Why it matters
    Nothing else in the file was checked.

    ## Example
    ```py
    import torch

    weights = torch.zeros(3, 4
    ```

    ## Instead
    ```py
    import torch

    weights = torch.zeros(3, 4)
    ```
    """

    code = "SRC101"
    name = "syntax-error"


class UndecodableSource(Rule):
    """A file whose bytes are not text in the encoding it declares.

    ## What it finds
    Bytes that are not UTF-8 in a file without an encoding declaration, an unknown encoding in
    `# -*- coding: ... -*-`, or a NUL byte.

    ## Why it matters
    Python cannot read such a file either. Nothing in it was checked. The remedy is to save the file as UTF-8.
    """

    code = "SRC102"
    name = "undecodable-source"


class FileTooLarge(Rule):
    """A file larger than the limit.

    ## What it finds
    Files above `max-file-size` (2 MiB unless configured). They are usually generated.

    ## Why it matters
    Nothing in the file was checked. Exclude it, or raise `max-file-size` in `[tool.distml]`.
    """

    code = "SRC103"
    name = "file-too-large"


class NestingTooDeep(Rule):
    """Source is nested too deeply for Python's parser.

    ## What it finds
    Expressions or blocks, usually generated, on which Python's own parser gives up.

    ## Why it matters
    Nothing in the file was checked. Python cannot compile such a file either.
    """

    code = "SRC104"
    name = "nesting-too-deep"


class TimeLimit(Rule):
    """The check of a file reached the time limit.

    ## What it finds
    Files whose check was stopped at `time-limit` (10 seconds of processor time unless configured), or because it did
    nothing for a minute. What was found until then is reported.

    ## Why it matters
    Findings in the rest of the file may be missing. Raise the limit with `--time-limit`, and please report the file: a
    check is meant to take time in proportion to the length of the code.
    """

    code = "SRC105"
    name = "time-limit"


class MemoryLimit(Rule):
    """The check of a file reached the memory limit.

    ## What it finds
    Files whose check was stopped at `memory-limit` (2048 MiB unless configured), or at a lower limit that the system sets
    (`ulimit -v`); the message says which. What was found until then is reported.

    ## Why it matters
    Findings in the rest of the file may be missing. Raise the limit that is named, and please report the file.
    """

    code = "SRC106"
    name = "memory-limit"


class UnreadablePath(Rule):
    """A file or folder that could not be read.

    ## What it finds
    Missing permission, broken links, cycles of links, devices that do not answer.

    ## Why it matters
    Nothing there was checked.
    """

    code = "SRC107"
    name = "unreadable-path"


class BrokenNotebook(Rule):
    """A file named `.ipynb` that is not a notebook.

    ## What it finds
    Files named `.ipynb` that are not JSON, or not in the form of Jupyter notebooks, format 4. Notebooks in other languages
    than Python are passed over.

    ## Why it matters
    Nothing in the file was checked. Notebooks of an older format are converted by `jupyter nbconvert --to notebook`.
    """

    code = "SRC108"
    name = "broken-notebook"
