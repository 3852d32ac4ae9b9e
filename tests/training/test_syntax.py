"""What runs only where a file is the script."""

from __future__ import annotations

import ast

import pytest

from distml.training.syntax import runs_as_script


@pytest.mark.parametrize(
    ("test", "guards"),
    [
        ('__name__ == "__main__"', True),
        ('"__main__" == __name__', True),
        ('__name__ == "__main__" and args.train', True),
        ('__name__ in ("__main__", "builtins")', True),
        ('__name__ != "__main__"', False),
        ('__name__ == "__main__" or args.train', False),
        ('not __name__ == "__main__"', False),
        ("name == 'x'", False),
        ("loss.__name__ == 'mse'", False),
        ("kind.__class__.__name__ == 'Net'", False),
    ],
)
def test_a_script_is_told_by_its_name(test: str, guards: bool) -> None:
    assert runs_as_script(ast.parse(f"if {test}:\n    train()").body[0]) == guards
