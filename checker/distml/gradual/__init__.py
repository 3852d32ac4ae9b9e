"""Gradual types on source code: migrations of functions, and branches that shapes decide.

`migrate` and `branches` ask what shapes a function can be given, with the interpreter as the judge and the solver room
for the sizes. May import all rooms from `interp` down.
"""
