"""Data types of choreographies, as mypy sees them."""

from distml.diagnostics.rule import Rule


class DataType(Rule):
    """The data of a choreography has the wrong type.

    ## What it finds
    What mypy reports in a choreography: a value of another type than the annotation asks for, an attribute or a
    parameter that does not exist, and its other errors. The code of mypy stands in brackets at the end.
    It needs mypy, which `pip install "distml[choreo]"` brings; without it there are no such findings. They come where
    the roles of the file are in order. Only the standard library is looked into: what other modules define is unknown,
    and unknown is never an error. Configuration of mypy is not read, `# type: ignore` is.

    ## Why it matters
    Projected programs have the types of the choreography, so the party that receives the value fails.

    ## Example
    ```py
    from distml.choreo import At, Channel, Role


    class Ann(Role): ...


    class Bob(Role): ...


    def ask(ch: Channel[object, Ann, Bob], age: At[int, Ann]) -> At[str, Bob]:
        return ch.com(age)
    ```

    ## Instead
    ```py
    from distml.choreo import At, Channel, Role


    class Ann(Role): ...


    class Bob(Role): ...


    def ask(ch: Channel[object, Ann, Bob], age: At[int, Ann]) -> At[str, Bob]:
        return ch.com(str(age))
    ```
    """

    code = "CHO501"
    name = "data-type"
