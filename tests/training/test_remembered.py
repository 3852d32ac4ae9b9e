"""Questions to a program are worked out once, and by each program for itself."""

from __future__ import annotations

from distml.training.remembered import Keeper, remembered


def test_an_answer_is_kept_by_what_was_asked_about() -> None:
    asked: list[tuple[str, int]] = []

    @remembered
    def question(keeper: Keeper, name: str, number: int = 0) -> list[str]:
        asked.append((name, number))
        return [name] * number

    one, other = Keeper(), Keeper()
    assert question(one, "a", number=2) == ["a", "a"]
    assert question(one, "a", number=2) is question(one, "a", number=2)
    assert question(one, "b", 1) == ["b"]
    assert asked == [("a", 2), ("b", 1)]
    assert question(other, "a", number=2) == ["a", "a"]
    assert asked[2:] == [("a", 2)]
    assert question.__name__ == "question"
