"""GitHub's OpenAPI cut down to the calls that distml makes, so that Prism starts in a second."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

CALLS = {
    "/repos/{owner}/{repo}/pulls": ("get", "post"),
    "/repos/{owner}/{repo}/pulls/{pull_number}": ("patch",),
    "/repos/{owner}/{repo}/pulls/{pull_number}/files": ("get",),
    "/repos/{owner}/{repo}/pulls/{pull_number}/requested_reviewers": ("post",),
    "/repos/{owner}/{repo}/issues/{issue_number}": ("patch",),
    "/repos/{owner}/{repo}/issues/{issue_number}/assignees": ("post",),
    "/repos/{owner}/{repo}/milestones": ("get",),
    "/repos/{owner}/{repo}/issues/{issue_number}/labels": ("post",),
    "/repos/{owner}/{repo}/issues/{issue_number}/comments": ("get", "post"),
    "/repos/{owner}/{repo}/issues/comments/{comment_id}": ("patch",),
    "/repos/{owner}/{repo}/git/blobs": ("post",),
    "/repos/{owner}/{repo}/git/trees": ("post",),
    "/repos/{owner}/{repo}/git/commits": ("post",),
}


def described() -> Path:
    """The packages with GitHub's own descriptions, which lie beside the program `prism`."""
    prism = shutil.which("prism")
    assert prism is not None
    return Path(prism).parents[1] / "@octokit"


def cut_down() -> dict[str, Any]:
    """The calls, and whatever they refer to."""
    whole = json.loads((described() / "openapi" / "generated" / "api.github.com.json").read_text("utf-8"))
    paths = {
        path: {name: whole["paths"][path][name] for name in (*methods, "parameters") if name in whole["paths"][path]}
        for path, methods in CALLS.items()
    }
    small: dict[str, Any] = {
        "openapi": whole["openapi"],
        "info": whole["info"],
        "servers": [{"url": "http://127.0.0.1"}],
        "paths": paths,
        "components": {},
    }
    left: list[Any] = [paths]
    while left:
        each = left.pop()
        if isinstance(each, dict):
            reference = each.get("$ref")
            if isinstance(reference, str):
                _, _, kind, name = reference.split("/", 3)
                known = small["components"].setdefault(kind, {})
                if name not in known:
                    known[name] = whole["components"][kind][name]
                    left.append(known[name])
            left += each.values()
        elif isinstance(each, list):
            left += each
    _offer_the_vendor_type(small)
    return small


def _offer_the_vendor_type(node: Any) -> None:
    """GitHub's documents ask for `application/vnd.github+json`, which the description does not list."""
    if isinstance(node, dict):
        content = node.get("content")
        if isinstance(content, dict) and "application/json" in content:
            content["application/vnd.github+json"] = content["application/json"]
        for each in node.values():
            _offer_the_vendor_type(each)
    elif isinstance(node, list):
        for each in node:
            _offer_the_vendor_type(each)
