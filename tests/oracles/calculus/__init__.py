"""The gradual tensor calculus of "Generalizing Shape Analysis with Gradual Types" (ECOOP 2024), exactly.

`types` has gradual tensor types and their relations, `programs` the programs, `check` the gradual and the static type
checker. `constraints` generates source constraints, `translate` makes target constraints (`targets`) of them, `encode`
formulas of the solver room, and `migrations` asks it. `source` writes a program as Python. It is the measure that
migration of real programs is tested against: the calculus knows three operations, and says exactly what holds of them.
"""
