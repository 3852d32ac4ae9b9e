"""Choreographies, first hundred: who holds what."""

from distml.diagnostics.rule import Rule


class WrongRole(Rule):
    """A value is assigned to a variable of a role that does not hold it.

    ## What it finds
    An assignment to a variable annotated `At[T, R]`, or a value placed with `@ R()`, where the value is at other
    roles.

    ## Why it matters
    The party would need a value that was never sent to it, so the choreography cannot be projected.

    ## Example
    ```py
    from distml.choreo import At, Channel, Role

    class Ann(Role): ...
    class Bob(Role): ...

    def talk(ch: Channel[object, Ann, Bob], n: At[int, Ann]) -> None:
        m: At[int, Bob] = n
    ```

    ## Instead
    ```py
    from distml.choreo import At, Channel, Role

    class Ann(Role): ...
    class Bob(Role): ...

    def talk(ch: Channel[object, Ann, Bob], n: At[int, Ann]) -> None:
        m: At[int, Bob] = ch.com(n)
    ```
    """

    code = "CHO101"
    name = "wrong-role"


class ArgumentAtWrongRole(Rule):
    """An argument of a choreography is not at the role of its parameter.

    ## What it finds
    Calls of choreographies, methods and constructors whose arguments are at other roles than the parameters, with
    the roles of this call substituted.

    ## Why it matters
    The party that plays the parameter's role does not have the argument.

    ## Example
    ```py
    from distml.choreo import At, Channel, Role

    class Ann(Role): ...
    class Bob(Role): ...

    def talk(ch: Channel[object, Ann, Bob], n: At[int, Ann], m: At[int, Bob]) -> None:
        both(n, n, m)

    def both(a: At[int, Ann], b: At[int, Bob], c: At[int, Bob]) -> None:
        print(b + c)
    ```

    ## Instead
    ```py
    from distml.choreo import At, Channel, Role

    class Ann(Role): ...
    class Bob(Role): ...

    def talk(ch: Channel[object, Ann, Bob], n: At[int, Ann], m: At[int, Bob]) -> None:
        both(n, ch.com(n), m)

    def both(a: At[int, Ann], b: At[int, Bob], c: At[int, Bob]) -> None:
        print(b + c)
    ```
    """

    code = "CHO102"
    name = "argument-at-wrong-role"


class ReturnAtWrongRole(Rule):
    """A result is not at the role that the signature declares.

    ## What it finds
    A `return` whose value is not at all roles of the return annotation.

    ## Why it matters
    Callers rely on the signature: the declared party would have to return a value that it does not have.

    ## Example
    ```py
    from distml.choreo import At, Channel, Role

    class Ann(Role): ...
    class Bob(Role): ...

    def talk(ch: Channel[object, Ann, Bob], n: At[int, Ann]) -> At[int, Bob]:
        return n
    ```

    ## Instead
    ```py
    from distml.choreo import At, Channel, Role

    class Ann(Role): ...
    class Bob(Role): ...

    def talk(ch: Channel[object, Ann, Bob], n: At[int, Ann]) -> At[int, Bob]:
        return ch.com(n)
    ```
    """

    code = "CHO103"
    name = "return-at-wrong-role"


class OperandsAtDifferentRoles(Rule):
    """Values at different roles are combined in one operation.

    ## What it finds
    Operators, calls of local code and displays whose operands have no role in common.

    ## Why it matters
    No party can compute the result: each has only some of the operands.

    ## Example
    ```py
    from distml.choreo import At, Channel, Role

    class Ann(Role): ...
    class Bob(Role): ...

    def add(ch: Channel[int, Ann, Bob], a: At[int, Ann], b: At[int, Bob]) -> None:
        print(a + b)
    ```

    ## Instead
    ```py
    from distml.choreo import At, Channel, Role

    class Ann(Role): ...
    class Bob(Role): ...

    def add(ch: Channel[int, Ann, Bob], a: At[int, Ann], b: At[int, Bob]) -> None:
        print(ch.com(a) + b)
    ```
    """

    code = "CHO104"
    name = "operands-at-different-roles"


class RoleAliasing(Rule):
    """One party would play two roles of a choreography.

    ## What it finds
    A choreography that is used with the same role twice, and annotations that name a role twice.

    ## Why it matters
    The roles of a choreography are different parties. A party that plays two of them would wait for messages from
    itself.

    ## Example
    ```py
    from distml.choreo import At, Ch2, Channel, Role

    class Ann(Role): ...
    class Bob(Role): ...

    class Pair(Ch2[Ann, Bob]):
        def __init__(self, n: At[int, Ann]) -> None:
            self.n = n

    def talk(ch: Channel[object, Ann, Bob], n: At[int, Ann]) -> None:
        pair = Pair[Ann, Ann](n)
    ```

    ## Instead
    ```py
    from distml.choreo import At, Ch2, Channel, Role

    class Ann(Role): ...
    class Bob(Role): ...

    class Pair(Ch2[Ann, Bob]):
        def __init__(self, n: At[int, Ann]) -> None:
            self.n = n

    def talk(ch: Channel[object, Ann, Bob], n: At[int, Ann]) -> None:
        pair = Pair[Ann, Bob](n)
    ```
    """

    code = "CHO105"
    name = "role-aliasing"


class UnknownRole(Rule):
    """A role that is not a role of this choreography.

    ## What it finds
    Annotations, placements and calls that name a role other than those of the class or of the function's signature.

    ## Why it matters
    There is no party to run that part. Declare the role in the class header, in the signature, or with
    `@roles(...)`.

    ## Example
    ```py
    from distml.choreo import At, Channel, Role

    class Ann(Role): ...
    class Bob(Role): ...
    class Eve(Role): ...

    def talk(ch: Channel[object, Ann, Bob], n: At[int, Ann]) -> None:
        m: At[int, Eve] = 3
    ```

    ## Instead
    ```py
    from distml.choreo import At, Channel, Role

    class Ann(Role): ...
    class Bob(Role): ...
    class Eve(Role): ...

    def talk(ch: Channel[object, Ann, Bob], n: At[int, Ann], e: At[int, Eve]) -> None:
        m: At[int, Eve] = 3 + e
    ```
    """

    code = "CHO106"
    name = "unknown-role"


class RolesNotInferred(Rule):
    """Cannot determine which parties play the roles of a choreography.

    ## What it finds
    Constructors and calls whose roles follow neither from brackets nor from arguments, brackets with the wrong
    number of roles, and base choreographies with the wrong number of roles.

    ## Why it matters
    Which part of the called choreography a party runs depends on the role it plays there.

    ## Example
    ```py
    from distml.choreo import At, Ch2, Channel, Role

    class Ann(Role): ...
    class Bob(Role): ...
    class Eve(Role): ...

    class Pair(Ch2[Ann, Eve]):
        def __init__(self, n: At[int, Ann]) -> None:
            self.n = n

    def talk(ch: Channel[object, Ann, Bob], n: At[int, Ann]) -> None:
        pair = Pair(n)
    ```

    ## Instead
    ```py
    from distml.choreo import At, Ch2, Channel, Role

    class Ann(Role): ...
    class Bob(Role): ...
    class Eve(Role): ...

    class Pair(Ch2[Ann, Eve]):
        def __init__(self, n: At[int, Ann]) -> None:
            self.n = n

    def talk(ch: Channel[object, Ann, Bob], n: At[int, Ann]) -> None:
        pair = Pair[Ann, Bob](n)
    ```
    """

    code = "CHO107"
    name = "roles-not-inferred"


class PlacedNowhere(Rule):
    """Cannot determine which role runs a call or holds a value.

    ## What it finds
    Calls without placed arguments whose result is not needed at any role, and literals sent over a channel on which
    either end could send.

    ## Why it matters
    If every party ran the call, it would run several times, with different results.

    ## Example
    ```py
    from distml.choreo import At, Channel, Role

    class Ann(Role): ...
    class Bob(Role): ...

    def talk(ch: Channel[object, Ann, Bob], n: At[int, Ann]) -> None:
        print("done")
    ```

    ## Instead
    ```py
    from distml.choreo import At, Channel, Role

    class Ann(Role): ...
    class Bob(Role): ...

    def talk(ch: Channel[object, Ann, Bob], n: At[int, Ann]) -> None:
        print("done" @ Ann())
    ```
    """

    code = "CHO108"
    name = "placed-nowhere"


class UnsetAtRole(Rule):
    """A variable is used where it might not be set.

    ## What it finds
    Variables that are annotated but not assigned yet, or assigned in only one branch before their use.

    ## Why it matters
    The party stops with an `UnboundLocalError`, and the other parties stop with it.

    ## Example
    ```py
    from distml.choreo import At, Channel, Role

    class Ann(Role): ...
    class Bob(Role): ...

    def talk(ch: Channel[object, Ann, Bob], n: At[int, Ann]) -> None:
        if n > 0:
            m: At[int, Ann] = 1
        print(m)
    ```

    ## Instead
    ```py
    from distml.choreo import At, Channel, Role

    class Ann(Role): ...
    class Bob(Role): ...

    def talk(ch: Channel[object, Ann, Bob], n: At[int, Ann]) -> None:
        m: At[int, Ann] = 0
        if n > 0:
            m = 1
        print(m)
    ```
    """

    code = "CHO109"
    name = "unset-at-role"


class AgreementNotKept(Rule):
    """Parties that must agree on a value would each compute it, and may get different results.

    ## What it finds
    Values that several roles must agree on and that each would compute itself with a result that may differ:
    clocks, random numbers, files, the environment, user input, the iteration order of a set, the text or hash of an
    object, calls of unknown code. Agreement comes from communication, constants, and pure functions of agreed
    values: those that distml lists for Python and its standard library, and functions of the file whose bodies are
    pure.

    ## Why it matters
    Conditions and loops rely on agreement. Without it the parties take different branches, and one waits for a
    message that is never sent.

    ## Example
    ```py
    import random

    from distml.choreo import At, Channel, Role

    class Ann(Role): ...
    class Bob(Role): ...

    def talk(ch: Channel[object, Ann, Bob], n: At[int, Ann]) -> None:
        m: At[float, Ann, Bob] = random.random()
    ```

    ## Instead
    ```py
    import random

    from distml.choreo import At, Channel, Role

    class Ann(Role): ...
    class Bob(Role): ...

    def talk(ch: Channel[object, Ann, Bob], n: At[int, Ann]) -> None:
        mine: At[float, Ann] = random.random()
        m: At[float, Ann, Bob] = ch.com(mine)
    ```
    """

    code = "CHO110"
    name = "agreement-not-kept"


class UpdateAtSomeRoles(Rule):
    """A value that several parties agree on is changed at only some of them.

    ## What it finds
    Changes of a value held by several roles that only some of them make: by a method with arguments of one role, under
    another name that one role has for it, in a function that one role calls, by going through an iterator.

    ## Why it matters
    Afterwards the parties hold different values and continue as if they were equal.

    ## Example
    ```py
    from distml.choreo import At, Channel, Role

    class Ann(Role): ...
    class Bob(Role): ...

    def talk(ch: Channel[object, Ann, Bob], items: At[list[int], Ann, Bob], n: At[int, Ann]) -> None:
        items.append(n)
    ```

    ## Instead
    ```py
    from distml.choreo import At, Channel, Role

    class Ann(Role): ...
    class Bob(Role): ...

    def talk(ch: Channel[object, Ann, Bob], items: At[list[int], Ann, Bob], n: At[int, Ann]) -> None:
        m: At[int, Ann, Bob] = ch.com(n)
        items.append(m)
    ```
    """

    code = "CHO111"
    name = "update-at-some-roles"


class OverrideWithOtherRoles(Rule):
    """A method overrides one whose parameters or result are at other roles.

    ## What it finds
    Methods of a choreography that extends another, where the role of a parameter or of the result differs from the
    overridden method.

    ## Why it matters
    A caller that uses the base choreography sends the argument to the wrong party.

    ## Example
    ```py
    from distml.choreo import At, Ch2, Role

    class Ann(Role): ...
    class Bob(Role): ...

    class Remote(Ch2[Ann, Bob]):
        def call(self, n: At[int, Ann]) -> None: ...

    class Printer(Remote, Ch2[Ann, Bob]):
        def call(self, n: At[int, Bob]) -> None:
            print(n)
    ```

    ## Instead
    ```py
    from distml.choreo import At, Ch2, Role

    class Ann(Role): ...
    class Bob(Role): ...

    class Remote(Ch2[Ann, Bob]):
        def call(self, n: At[int, Ann]) -> None: ...

    class Printer(Remote, Ch2[Ann, Bob]):
        def call(self, n: At[int, Ann]) -> None:
            print(n)
    ```
    """

    code = "CHO112"
    name = "override-with-other-roles"
