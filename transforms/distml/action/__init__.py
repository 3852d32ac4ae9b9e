"""The GitHub Action: `python -m distml.action` is the one step of action.yml that does something.

Reads its inputs, checks, and tells the runner: annotations, the summary of the job, SARIF, a patch, a comment. `toolkit`
alone speaks to the runner. May import everything below the command line.
"""
