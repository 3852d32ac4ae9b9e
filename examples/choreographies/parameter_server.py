"""A parameter server and three workers: each computes a gradient on its own data, the server takes the step."""

from distml.choreo import At, Ch2, Channel, Role


class Server(Role): ...


class Worker(Role): ...


class First(Role): ...


class Second(Role): ...


class Third(Role): ...


def gradient(slope: float, points: list[tuple[float, float]]) -> float:
    """The derivative of the mean squared error of `y = slope * x`."""
    return sum(2 * x * (slope * x - y) for x, y in points) / len(points)


class Learner(Ch2[Server, Worker]):
    """What the server has with one worker, whoever that is."""

    def __init__(self, ch: Channel[float, Server, Worker], data: At[list[tuple[float, float]], Worker]) -> None:
        self.ch = ch
        self.data = data

    def step(self, slope: At[float, Server]) -> At[float, Server]:
        current: At[float, Worker] = self.ch.com(slope)
        return self.ch.com(gradient(current, self.data))


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
    one: At[Learner, Server, First] = Learner[Server, First](first, data_first)
    two: At[Learner, Server, Second] = Learner[Server, Second](second, data_second)
    three: At[Learner, Server, Third] = Learner[Server, Third](third, data_third)
    slope: At[float, Server] = 0.0
    for _ in range(steps):
        slope -= rate * (one.step(slope) + two.step(slope) + three.step(slope)) / 3
    return slope
