"""hydra.core.config_store: https://hydra.cc/docs/tutorials/structured_config/config_store/"""

import dataclasses

from _elsewhere import asked, note


class Stored:
    """A node under its name and group."""

    def __init__(self, name, groups, node, odd):
        self.name = name
        self.groups = groups
        self.node = node
        self.odd = odd

    def content(self):
        if self.odd:
            return asked(self.name)
        if isinstance(self.node, dict):
            return self.node
        return dataclasses.asdict(self.node() if isinstance(self.node, type) else self.node)


class ConfigStore:
    """ConfigStore.instance(): holds nodes."""

    @staticmethod
    def instance():
        return STORE

    def store(self, name, node, group=None, package=None, provider=None):
        groups = () if group is None else tuple(group.split("/"))
        note(STORE, Stored(name.removesuffix(".yaml"), groups, node, package is not None))


STORE = ConfigStore()
