"""Choreographies, fourth hundred: what choreographies cannot hold."""

from distml.diagnostics.rule import Rule


class CommunicationUnderHandler(Rule):
    """Communication where an exception of one party is caught.

    ## What it finds
    `try` whose body or handlers communicate, unless it catches `ChoreographyError`, which reaches every party;
    `suppress` around communication.

    ## Why it matters
    The party that raises continues in its handler, while the others wait for the messages that it skipped.

    ## Example
    ```py
    from distml.choreo import At, Channel, Role

    class Ann(Role): ...
    class Bob(Role): ...

    def talk(ch: Channel[object, Ann, Bob], text: At[str, Ann]) -> None:
        try:
            m = ch.com(int(text))
        except ValueError:
            pass
    ```

    ## Instead
    ```py
    from distml.choreo import At, Channel, Role

    class Ann(Role): ...
    class Bob(Role): ...

    def talk(ch: Channel[object, Ann, Bob], text: At[str, Ann]) -> None:
        n: At[int, Ann] = 0
        try:
            n = int(text)
        except ValueError:
            pass
        m = ch.com(n)
    ```
    """

    code = "CHO401"
    name = "communication-under-handler"


class NotInAChoreography(Rule):
    """A statement or expression that has no meaning in a choreography.

    ## What it finds
    `async`, `await`, `yield`, `global`, `nonlocal` and classes inside choreographies; choreographies and their
    methods used as values; coroutines, and definitions inside functions, branches or classes without roles, that
    name roles; channels whose roles are not declared in this file; types, classes and functions of choreographies
    from other files; `At` and channels inside other types, as types of `*args`, and under names assigned in a
    branch. None of them is checked, and none has a
    projection.

    ## Why it matters
    It is not defined what each party would do.

    ## Example
    ```py
    from distml.choreo import At, Channel, Role

    class Ann(Role): ...
    class Bob(Role): ...

    def talk(ch: Channel[object, Ann, Bob], n: At[int, Ann]) -> None:
        global count
        print(n)
    ```

    ## Instead
    ```py
    from distml.choreo import At, Channel, Role

    class Ann(Role): ...
    class Bob(Role): ...

    def talk(ch: Channel[object, Ann, Bob], n: At[int, Ann]) -> None:
        print(n)
    ```
    """

    code = "CHO402"
    name = "not-in-a-choreography"


class CommunicationInLocalCode(Rule):
    """Communication in code that runs an unknown number of times.

    ## What it finds
    `com`, `select` and calls of choreographies in lambdas, comprehensions, local functions, conditional expressions,
    operands after `and` and `or`, later parts of a comparison, guards of cases and messages of assertions.

    ## Why it matters
    The other party does not know whether or how often it happens. Write it as a statement: an `if` or a `for`.

    ## Example
    ```py
    from distml.choreo import At, Channel, Role

    class Ann(Role): ...
    class Bob(Role): ...

    def talk(ch: Channel[object, Ann, Bob], items: At[list[int], Ann]) -> None:
        received = [ch.com(item) for item in items]
    ```

    ## Instead
    ```py
    from distml.choreo import At, Channel, Role

    class Ann(Role): ...
    class Bob(Role): ...

    def talk(ch: Channel[object, Ann, Bob], items: At[list[int], Ann]) -> None:
        received = ch.com(items)
    ```
    """

    code = "CHO403"
    name = "communication-in-local-code"
