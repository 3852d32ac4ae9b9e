"""Choreographies, second hundred: knowledge of choice."""

from distml.diagnostics.rule import Rule


class ChoiceNotKnown(Rule):
    """A party acts in one branch and is not told which branch was taken.

    ## What it finds
    Branches in which a party acts that neither holds the condition nor receives a `select`, while it does nothing
    in the other branch.

    ## Why it matters
    It would wait for a message that is never sent, or miss one that is.

    ## Example
    ```py
    from distml.choreo import At, Channel, Role

    class Ann(Role): ...
    class Bob(Role): ...

    def talk(ch: Channel[object, Ann, Bob], n: At[int, Ann]) -> None:
        if n > 0:
            ch.com(n)
    ```

    ## Instead
    ```py
    from enum import Enum

    from distml.choreo import At, Channel, Role

    class Ann(Role): ...
    class Bob(Role): ...

    class Way(Enum):
        LEFT = "left"
        RIGHT = "right"

    def talk(ch: Channel[object, Ann, Bob], n: At[int, Ann]) -> None:
        if n > 0:
            ch.select(Way.LEFT @ Ann())
            ch.com(n)
        else:
            ch.select(Way.RIGHT @ Ann())
    ```
    """

    code = "CHO201"
    name = "choice-not-known"


class BranchesDoNotMerge(Rule):
    """A party acts differently in two branches and is not told which branch was taken.

    ## What it finds
    Branches whose projections to a party that does not know the condition differ, without a `select`. Both are
    shown side by side.

    ## Why it matters
    The party has one program for both branches and cannot know which of them to run.

    ## Example
    ```py
    from distml.choreo import At, Channel, Role

    class Ann(Role): ...
    class Bob(Role): ...

    def talk(ch: Channel[object, Ann, Bob], n: At[int, Ann], m: At[int, Bob]) -> None:
        if n > 0:
            print(m)
        else:
            print(-m)
    ```

    ## Instead
    ```py
    from enum import Enum

    from distml.choreo import At, Channel, Role

    class Ann(Role): ...
    class Bob(Role): ...

    class Way(Enum):
        LEFT = "left"
        RIGHT = "right"

    def talk(ch: Channel[object, Ann, Bob], n: At[int, Ann], m: At[int, Bob]) -> None:
        if n > 0:
            ch.select(Way.LEFT @ Ann())
            print(m)
        else:
            ch.select(Way.RIGHT @ Ann())
            print(-m)
    ```
    """

    code = "CHO202"
    name = "branches-do-not-merge"


class LateSelect(Rule):
    """A party acts before it is told which branch was taken.

    ## What it finds
    Branches whose first actions differ for a party, with a `select` for it only after them.

    ## Why it matters
    What a party does before the `select` must be the same in all branches.

    ## Example
    ```py
    from enum import Enum

    from distml.choreo import At, Channel, Role

    class Ann(Role): ...
    class Bob(Role): ...

    class Way(Enum):
        LEFT = "left"
        RIGHT = "right"

    def talk(ch: Channel[object, Ann, Bob], n: At[int, Ann]) -> None:
        if n > 0:
            ch.com(n)
            ch.select(Way.LEFT @ Ann())
        else:
            ch.select(Way.RIGHT @ Ann())
    ```

    ## Instead
    ```py
    from enum import Enum

    from distml.choreo import At, Channel, Role

    class Ann(Role): ...
    class Bob(Role): ...

    class Way(Enum):
        LEFT = "left"
        RIGHT = "right"

    def talk(ch: Channel[object, Ann, Bob], n: At[int, Ann]) -> None:
        if n > 0:
            ch.select(Way.LEFT @ Ann())
            ch.com(n)
        else:
            ch.select(Way.RIGHT @ Ann())
    ```
    """

    code = "CHO203"
    name = "late-select"


class SameLabelTwice(Rule):
    """The same label is sent in two branches that differ.

    ## What it finds
    Branches that send a party the same label although it then acts differently.

    ## Why it matters
    A label must identify the branch.

    ## Example
    ```py
    from enum import Enum

    from distml.choreo import At, Channel, Role

    class Ann(Role): ...
    class Bob(Role): ...

    class Way(Enum):
        LEFT = "left"
        RIGHT = "right"

    def talk(ch: Channel[object, Ann, Bob], n: At[int, Ann]) -> None:
        if n > 0:
            ch.select(Way.LEFT @ Ann())
            ch.com(n)
        else:
            ch.select(Way.LEFT @ Ann())
    ```

    ## Instead
    ```py
    from enum import Enum

    from distml.choreo import At, Channel, Role

    class Ann(Role): ...
    class Bob(Role): ...

    class Way(Enum):
        LEFT = "left"
        RIGHT = "right"

    def talk(ch: Channel[object, Ann, Bob], n: At[int, Ann]) -> None:
        if n > 0:
            ch.select(Way.LEFT @ Ann())
            ch.com(n)
        else:
            ch.select(Way.RIGHT @ Ann())
    ```
    """

    code = "CHO204"
    name = "same-label-twice"


class OneSidedSelect(Rule):
    """A party is told of one branch but not of the other.

    ## What it finds
    A `select` in one branch, where the party receives none in the other.

    ## Why it matters
    In the other branch the party waits for a label indefinitely.

    ## Example
    ```py
    from enum import Enum

    from distml.choreo import At, Channel, Role

    class Ann(Role): ...
    class Bob(Role): ...

    class Way(Enum):
        LEFT = "left"
        RIGHT = "right"

    def talk(ch: Channel[object, Ann, Bob], n: At[int, Ann]) -> None:
        if n > 0:
            ch.select(Way.LEFT @ Ann())
            ch.com(n)
    ```

    ## Instead
    ```py
    from enum import Enum

    from distml.choreo import At, Channel, Role

    class Ann(Role): ...
    class Bob(Role): ...

    class Way(Enum):
        LEFT = "left"
        RIGHT = "right"

    def talk(ch: Channel[object, Ann, Bob], n: At[int, Ann]) -> None:
        if n > 0:
            ch.select(Way.LEFT @ Ann())
            ch.com(n)
        else:
            ch.select(Way.RIGHT @ Ann())
    ```
    """

    code = "CHO205"
    name = "one-sided-select"


class SelectToldTwice(Rule):
    """A party is told which branch was taken although it already knows.

    ## What it finds
    A `select` to a party that holds the condition itself, or has already received a label in this branch.

    ## Why it matters
    The message is redundant, and a protocol with redundant labels hides mistakes.

    ## Example
    ```py
    from enum import Enum

    from distml.choreo import At, Channel, Role

    class Ann(Role): ...
    class Bob(Role): ...

    class Way(Enum):
        LEFT = "left"
        RIGHT = "right"

    def talk(ch: Channel[object, Ann, Bob], n: At[int, Ann]) -> None:
        if n > 0:
            ch.select(Way.LEFT @ Ann())
            ch.select(Way.LEFT @ Ann())
        else:
            ch.select(Way.RIGHT @ Ann())
    ```

    ## Instead
    ```py
    from enum import Enum

    from distml.choreo import At, Channel, Role

    class Ann(Role): ...
    class Bob(Role): ...

    class Way(Enum):
        LEFT = "left"
        RIGHT = "right"

    def talk(ch: Channel[object, Ann, Bob], n: At[int, Ann]) -> None:
        if n > 0:
            ch.select(Way.LEFT @ Ann())
        else:
            ch.select(Way.RIGHT @ Ann())
    ```
    """

    code = "CHO206"
    name = "select-told-twice"


class LoopNotKnown(Rule):
    """A party acts in a loop and does not know whether there is another iteration.

    ## What it finds
    `while` and `for` with a condition or items that a party acting in the body does not hold, where no `select`
    tells it of each iteration and of the end.

    ## Why it matters
    It cannot know how often to act: it stops too early, or waits indefinitely. Agree on the condition, or select in
    the body and in the `else` of the loop.

    ## Example
    ```py
    from distml.choreo import At, Channel, Role

    class Ann(Role): ...
    class Bob(Role): ...

    def talk(ch: Channel[object, Ann, Bob], n: At[int, Ann]) -> None:
        while n > 0:
            ch.com(n)
            n -= 1
    ```

    ## Instead
    ```py
    from enum import Enum

    from distml.choreo import At, Channel, Role

    class Ann(Role): ...
    class Bob(Role): ...

    class Way(Enum):
        LEFT = "left"
        RIGHT = "right"

    def talk(ch: Channel[object, Ann, Bob], n: At[int, Ann]) -> None:
        while n > 0:
            ch.select(Way.LEFT @ Ann())
            ch.com(n)
            n -= 1
        else:
            ch.select(Way.RIGHT @ Ann())
    ```
    """

    code = "CHO207"
    name = "loop-not-known"


class MalformedSelect(Rule):
    """A channel is used other than by `com(value)` or `select(Label.NAME @ Role())`.

    ## What it finds
    Selects of anything but an Enum member written out, or nested in another expression; calls with the wrong number
    of arguments; unknown methods of channels, and methods that are not called.

    ## Why it matters
    The label decides which program the receiver runs, so it must be known statically.

    ## Example
    ```py
    from enum import Enum

    from distml.choreo import At, Channel, Role

    class Ann(Role): ...
    class Bob(Role): ...

    class Way(Enum):
        LEFT = "left"
        RIGHT = "right"

    def talk(ch: Channel[object, Ann, Bob], n: At[int, Ann]) -> None:
        way: At[Way, Ann] = Way.LEFT
        ch.select(way)
    ```

    ## Instead
    ```py
    from enum import Enum

    from distml.choreo import At, Channel, Role

    class Ann(Role): ...
    class Bob(Role): ...

    class Way(Enum):
        LEFT = "left"
        RIGHT = "right"

    def talk(ch: Channel[object, Ann, Bob], n: At[int, Ann]) -> None:
        ch.select(Way.LEFT @ Ann())
    ```
    """

    code = "CHO208"
    name = "malformed-select"
