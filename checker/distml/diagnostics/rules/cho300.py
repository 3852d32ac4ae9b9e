"""Choreographies, third hundred: channels."""

from distml.diagnostics.rule import Rule


class WrongDirection(Rule):
    """A value is sent against the direction of its channel.

    ## What it finds
    `com` or `select` over a `DiChannel` with a value of its receiver, and directed channels passed where the
    opposite direction is required.

    ## Why it matters
    The sender holds only the receiving end.

    ## Example
    ```py
    from distml.choreo import At, DiChannel, Role

    class Ann(Role): ...
    class Bob(Role): ...

    def talk(ch: DiChannel[object, Ann, Bob], n: At[int, Bob]) -> None:
        m = ch.com(n)
    ```

    ## Instead
    ```py
    from distml.choreo import At, DiChannel, Role

    class Ann(Role): ...
    class Bob(Role): ...

    def talk(ch: DiChannel[object, Ann, Bob], n: At[int, Ann]) -> None:
        m = ch.com(n)
    ```
    """

    code = "CHO301"
    name = "wrong-direction"


class NotAnEnd(Rule):
    """A value is sent over a channel by a party that is at neither end.

    ## What it finds
    `com` and `select` of a value that neither end of the channel holds, or of something that is not data.

    ## Why it matters
    The party that holds the value has no access to the channel.

    ## Example
    ```py
    from distml.choreo import At, Channel, Role

    class Ann(Role): ...
    class Bob(Role): ...
    class Eve(Role): ...

    def talk(ch: Channel[object, Ann, Bob], n: At[int, Eve]) -> None:
        m = ch.com(n)
    ```

    ## Instead
    ```py
    from distml.choreo import At, Channel, Role

    class Ann(Role): ...
    class Bob(Role): ...
    class Eve(Role): ...

    def talk(ch: Channel[object, Ann, Bob], n: At[int, Ann], e: At[int, Eve]) -> None:
        m = ch.com(n)
    ```
    """

    code = "CHO302"
    name = "not-an-end"


class AlreadyKnownAtBoth(Rule):
    """A value is sent to a party that already holds it.

    ## What it finds
    `com` of a value on which both ends agree.

    ## Why it matters
    Either end could be the sender, so there is no direction, and the message carries no information.

    ## Example
    ```py
    from distml.choreo import At, Channel, Role

    class Ann(Role): ...
    class Bob(Role): ...

    def talk(ch: Channel[object, Ann, Bob], n: At[int, Ann]) -> None:
        m: At[int, Ann, Bob] = ch.com(n)
        k: At[int, Bob] = ch.com(m)
    ```

    ## Instead
    ```py
    from distml.choreo import At, Channel, Role

    class Ann(Role): ...
    class Bob(Role): ...

    def talk(ch: Channel[object, Ann, Bob], n: At[int, Ann]) -> None:
        m: At[int, Ann, Bob] = ch.com(n)
        k: At[int, Bob] = m
    ```
    """

    code = "CHO303"
    name = "already-known-at-both"
