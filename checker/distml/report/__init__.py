"""The forms of a report: text, concise, JSON, SARIF, GitHub annotations, and the page of a rule.

Each form is one module with `render(report, context) -> Iterator[str]` giving whole lines. May import `engine` and below.
"""
