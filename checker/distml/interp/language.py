"""What Python's constructs mean, handed down to the modules that need each other.

Evaluating an expression calls functions, whose bodies are statements, which evaluate expressions: the modules that follow
these cannot all import one another. So whoever stands below what it needs asks the machine: `vm.language.evaluate(vm, node)`.
Only what a lower module needs of a higher one is listed here; everything else is imported.
"""

from __future__ import annotations

from distml.interp.attributes import find_attribute_of, get_attribute, set_attribute
from distml.interp.branches import sheltered
from distml.interp.calls import call_value
from distml.interp.decorators import decorate_class
from distml.interp.deleting import delete_attribute
from distml.interp.exports import from_stars, given
from distml.interp.expressions import RULES, evaluate
from distml.interp.fields import own_fields
from distml.interp.findings import report
from distml.interp.functions import call_function
from distml.interp.giving_up import give_up_rest, leave_open
from distml.interp.guess import call_guessed
from distml.interp.imports import resolve_import
from distml.interp.installed import origin_of_call, seen_from
from distml.interp.instances import call_instance, instantiate, make
from distml.interp.loops import any_times
from distml.interp.names import assign_name
from distml.interp.special import SPECIAL, call_super
from distml.interp.statements import execute, execute_block
from distml.interp.truth import truth


class Language:
    """One function a construct; each takes the machine first, but for those that need none."""

    rules = RULES
    """What follows an expression, by its kind."""
    evaluate = staticmethod(evaluate)
    execute = staticmethod(execute)
    execute_block = staticmethod(execute_block)
    any_times = staticmethod(any_times)
    truth = staticmethod(truth)

    call_value = staticmethod(call_value)
    call_function = staticmethod(call_function)
    call_instance = staticmethod(call_instance)
    call_super = staticmethod(call_super)
    call_guessed = staticmethod(call_guessed)
    instantiate = staticmethod(instantiate)
    make = staticmethod(make)
    special = staticmethod(SPECIAL.get)
    """The function for a built-in that needs the interpreter itself, by its qualified name."""

    find_attribute_of = staticmethod(find_attribute_of)
    get_attribute = staticmethod(get_attribute)
    set_attribute = staticmethod(set_attribute)
    delete_attribute = staticmethod(delete_attribute)
    assign_name = staticmethod(assign_name)

    resolve_import = staticmethod(resolve_import)
    given = staticmethod(given)
    from_stars = staticmethod(from_stars)
    decorate_class = staticmethod(decorate_class)
    own_fields = staticmethod(own_fields)

    sheltered = staticmethod(sheltered)
    report = staticmethod(report)
    give_up_rest = staticmethod(give_up_rest)
    leave_open = staticmethod(leave_open)
    origin_of_call = staticmethod(origin_of_call)
    seen_from = staticmethod(seen_from)


LANGUAGE = Language()
