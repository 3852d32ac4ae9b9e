"""Tic-tac-toe: both players keep the same board, so both know when the game is over."""

from distml.choreo import At, Channel, Role

LINES = ["012", "345", "678", "036", "147", "258", "048", "246"]


class Crosses(Role): ...


class Noughts(Role): ...


def winner(board: list[str]) -> str:
    for line in LINES:
        first, second, third = [board[int(place)] for place in line]
        if first == second == third != " ":
            return first
    return ""


def is_over(board: list[str]) -> bool:
    return winner(board) != "" or " " not in board


def play(
    ch: Channel[int, Crosses, Noughts], crosses: At[list[int], Crosses], noughts: At[list[int], Noughts]
) -> At[str, Crosses, Noughts]:
    board: At[list[str], Crosses, Noughts] = [" "] * 9
    while not is_over(board):
        cross: At[int, Crosses, Noughts] = ch.com(crosses.pop(0))
        board[cross] = "X"
        if not is_over(board):
            nought: At[int, Crosses, Noughts] = ch.com(noughts.pop(0))
            board[nought] = "O"
    return winner(board)
