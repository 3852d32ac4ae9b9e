"""Ranks of one program: which values differ between them, and whether all of them reach every collective in one order.

The program is followed once for each of two ranks, with everything that is unknown decided alike for both: their
projections. What they communicate is then compared. May import `distml.source` and `distml.diagnostics` only.
"""
