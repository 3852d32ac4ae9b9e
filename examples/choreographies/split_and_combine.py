"""Work that is split between two workers, and their results combined."""

from distml.choreo import At, Channel, Role


class Boss(Role): ...


class Left(Role): ...


class Right(Role): ...


def squares(numbers: list[int]) -> int:
    return sum(number * number for number in numbers)


def sum_of_squares(
    left: Channel[object, Boss, Left], right: Channel[object, Boss, Right], numbers: At[list[int], Boss]
) -> At[int, Boss]:
    middle: At[int, Boss] = len(numbers) // 2
    first: At[list[int], Left] = left.com(numbers[:middle])
    second: At[list[int], Right] = right.com(numbers[middle:])
    return left.com(squares(first)) + right.com(squares(second))
