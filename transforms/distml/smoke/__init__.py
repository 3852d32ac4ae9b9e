"""Runs a training script and its distributed rewriting as real processes, and compares what they did.

`run.smoke` is the entry. `probe` is injected into the processes and needs nothing but the standard library; the rest
starts processes (`launch`, `processes`), reads what the probe wrote (`records`), and judges it (`verdicts`).
"""
