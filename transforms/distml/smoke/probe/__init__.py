"""What is injected into a process of a smoke run: notes collectives, steps, losses, batches and weights.

Loaded by file name into whatever Python runs the script, where distml need not be installed. So it imports the standard
library alone, keeps to Python 3.9, and touches a framework only after the script has imported it (`importing`).
"""
