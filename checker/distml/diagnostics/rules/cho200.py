"""Choreographies, second hundred: knowledge of choice."""

from distml.diagnostics.rule import Rule


class ChoiceNotKnown(Rule):
    """A party acts in one branch and is not told which was taken.

    ## What it finds
    Branches in which a party acts that neither holds the condition nor receives a `select`, while it does nothing
    in the other branch.

    ## Why it matters
    It would wait for a message that never comes, or not be there for one that does.

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
    """A party acts differently in two branches and is not told which was taken.

    ## What it finds
    Branches whose projections to a party that does not know the condition differ, without a `select`. Both are
    shown side by side.

    ## Why it matters
    The party has one program for both branches and cannot know which of the two to follow.

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
    Branches that begin differently for a party, and only then tell it with `select` which one it is.

    ## Why it matters
    What comes before the select has to be the same in all branches.

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
    Branches that tell a party the same label, in which it then acts differently.

    ## Why it matters
    The label was to tell the branches apart.

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
    """A party is told of one branch, not of the other.

    ## What it finds
    A `select` in one branch, where the party is told nothing in the other.

    ## Why it matters
    In the other branch the party waits for a label for ever.

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
    """A party is told which branch was taken, but knows already.

    ## What it finds
    A `select` to a party that holds the condition itself, or was told in this branch before.

    ## Why it matters
    The message says nothing, and a protocol with doubled labels hides a mistake.

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
    """A party acts in a loop and does not know whether there is another turn.

    ## What it finds
    `while` and `for` whose condition or items a party that acts in the body does not hold, where `select` does not
    tell it of each turn and of the end.

    ## Why it matters
    It cannot know how often to act: it stops too early, or waits for ever. Agree on the condition, or select in the
    body and in the `else` of the loop.

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
    """A channel is used in another way than `com(value)` or `select(Label.NAME @ Role())`.

    ## What it finds
    Selects of something other than a member of an Enum that is written out, or inside of another expression; calls
    with another number of arguments; unknown methods of channels, and methods that are not called.

    ## Why it matters
    The label decides the program of the receiver, so it must be known before anything runs.

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
