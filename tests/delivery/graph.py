"""GitHub's GraphQL schema: queries and answers are held against it, as Prism does with the OpenAPI."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from graphql import GraphQLSchema, build_schema, execute_sync, parse, validate

from delivery.openapi import described


@cache
def schema() -> GraphQLSchema:
    """What GitHub publishes. Its own fixed form is taken for valid: to check it anew takes seconds."""
    return build_schema((described() / "graphql-schema" / "schema.graphql").read_text("utf-8"), assume_valid=True)


def faults(asked: Mapping[str, Any], answered: Mapping[str, Any], kind: str) -> list[str]:
    """What the schema does not allow in a query, its variables or its answer, whose nodes are of this kind.

    The query is carried out on the answer itself, which then has to come back as it was.
    """
    document = parse(asked["query"])
    wrong = [str(each) for each in validate(schema(), document)]
    if wrong:
        return wrong
    done = execute_sync(
        schema(),
        document,
        root_value=answered["data"],
        variable_values=asked.get("variables"),
        type_resolver=lambda _value, _info, _type: kind,
    )
    if done.errors:
        return [str(each) for each in done.errors]
    return [] if done.data == answered["data"] else [f"{answered['data']} comes out as {done.data}"]
