"""A parameter server and three workers: each computes a gradient on its own data, the server takes the step."""

from distml.choreo import At, Channel, Role


class Server(Role): ...


class First(Role): ...


class Second(Role): ...


class Third(Role): ...


def gradient(slope: float, points: list[tuple[float, float]]) -> float:
    """The derivative of the mean squared error of `y = slope * x`."""
    return sum(2 * x * (slope * x - y) for x, y in points) / len(points)


def train(
    first: Channel[float, Server, First],
    second: Channel[float, Server, Second],
    third: Channel[float, Server, Third],
    steps: int,
    rate: At[float, Server],
    data_first: At[list[tuple[float, float]], First],
    data_second: At[list[tuple[float, float]], Second],
    data_third: At[list[tuple[float, float]], Third],
) -> At[float, Server]:
    slope: At[float, Server] = 0.0
    for _ in range(steps):
        slope_first: At[float, First] = first.com(slope)
        slope_second: At[float, Second] = second.com(slope)
        slope_third: At[float, Third] = third.com(slope)
        total: At[float, Server] = first.com(gradient(slope_first, data_first))
        total += second.com(gradient(slope_second, data_second))
        total += third.com(gradient(slope_third, data_third))
        slope -= rate * total / 3
    return slope
