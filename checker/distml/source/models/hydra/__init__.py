"""hydra: https://hydra.cc/docs/intro/

A program that is run plainly gets the configuration that its files and stored nodes make, without overrides. One with packages,
references or overrides in its defaults list is unknown.
"""

import functools
import os

from _elsewhere import asked, beside, chosen, hydra_file, noted
from hydra import utils
from hydra.core.config_store import STORE, Stored
from omegaconf import DictConfig


def _merged(left, right):
    if not isinstance(left, dict) or not isinstance(right, dict):
        return asked()
    found = dict(left)
    for name, value in right.items():
        if isinstance(value, dict) and isinstance(found.get(name), dict):
            value = _merged(found[name], value)
        found[name] = value
    return found


def _put(groups, content):
    """The content of a file of a group, below the names of the group."""
    for name in reversed(groups):
        content = {name: content}
    return content


def _read(folder, groups, name):
    stored = [each for each in noted(STORE) if each.name == name and each.groups == groups]
    if stored:
        return stored[-1].content()
    if not isinstance(folder, str):
        return asked()
    return hydra_file(os.path.join(folder, *groups, name + ".yaml"))


def _entry(folder, groups, each, own):
    """What one item of a defaults list gives."""
    if each == "_self_":
        return _put(groups, own)
    if isinstance(each, str):
        return _composed(folder, groups, each) if each.isidentifier() else asked()
    if not isinstance(each, dict) or len(each) != 1:
        return asked()
    made = {}
    for group, option in each.items():
        if group.startswith("override hydra/") or option is None:
            continue
        for name in option if isinstance(option, list) else [option]:
            plain = (
                isinstance(name, str) and all([part.isidentifier() for part in group.split("/")]) and "$" not in name
            )
            made = _merged(made, _composed(folder, (*groups, *group.split("/")), name) if plain else asked())
    return made


def _composed(folder, groups, name):
    content = _read(folder, groups, name.removesuffix(".yaml"))
    if content is None:
        content = {}
    if not isinstance(content, dict):
        return asked(name)
    own = {key: value for key, value in content.items() if key != "defaults"}
    defaults = content.get("defaults", [])
    made = {}
    for each in defaults:
        made = _merged(made, _entry(folder, groups, each, own))
    return made if "_self_" in defaults else _merged(made, _put(groups, own))


def _config(folder, name):
    if name is None:
        return DictConfig({})
    made = _composed(folder, (), name)
    return DictConfig(made) if isinstance(made, dict) else asked(name)


def main(config_path=None, config_name=None, version_base=None):
    """main(config_path, config_name): makes a program of a function."""
    folder = None if config_path is None else beside(config_path)

    def decorate(task_function):
        def plainly():
            return task_function(_config(folder, config_name))

        @functools.wraps(task_function)
        def run(cfg_passthrough=None):
            if cfg_passthrough is not None:
                return task_function(cfg_passthrough)
            plainly()
            return None

        chosen(plainly, task_function)
        return run

    return decorate


class initialize:
    """initialize(config_path): says where the files of `compose` are."""

    def __init__(self, config_path=None, job_name=None, caller_stack_depth=1, version_base=None):
        _at(None if config_path is None else beside(config_path))

    def __enter__(self):
        return None

    def __exit__(self, *error):
        return None


class initialize_config_dir:
    """initialize_config_dir(config_dir): says where the files of `compose` are."""

    def __init__(self, config_dir, job_name=None, version_base=None):
        _at(config_dir)

    def __enter__(self):
        return None

    def __exit__(self, *error):
        return None


class _Folder:
    def __init__(self, path):
        self.path = path


def _at(path):
    from _elsewhere import note

    note(initialize, _Folder(path))


def compose(config_name=None, overrides=(), return_hydra_config=False, strict=None):
    """compose(config_name): the configuration."""
    folders = noted(initialize)
    if overrides or return_hydra_config or not folders:
        return asked(config_name)
    return _config(folders[-1].path, config_name)
