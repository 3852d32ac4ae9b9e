"""Rules, findings and places in source. The bottom floor: imports nothing of ours."""

from distml.diagnostics.model import Diagnostic, Edit, Fix, Related, Span

__all__ = ["Diagnostic", "Edit", "Fix", "Related", "Span"]
