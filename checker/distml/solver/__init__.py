"""Decides formulas over dimensions: satisfied by a model, contradictory for a core, or unknown and why.

What integers, polynomials, equalities and bounds decide is decided without
help; only what is left of that is put to z3, which is loaded for nothing else.
Imports nothing of distml but `shapes`.
"""
