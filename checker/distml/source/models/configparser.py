"""configparser: https://docs.python.org/3/library/configparser.html

Every value is a string. One that refers to others (`%(name)s`) is unknown, and so is all when a file is not the project's.
"""

from _elsewhere import asked, ini_file


class _Section(dict):
    def getint(self, name, fallback=None):
        return int(self[name]) if name in self else fallback

    def getfloat(self, name, fallback=None):
        return float(self[name]) if name in self else fallback

    def getboolean(self, name, fallback=None):
        return _truth(self[name]) if name in self else fallback


def _truth(text):
    return text.lower() in ("1", "yes", "true", "on")


class RawConfigParser(dict):
    """RawConfigParser(): sections of options."""

    def __init__(self, **options):
        super().__init__()
        self.odd = options

    def read(self, filenames, encoding=None):
        found = ini_file(filenames)
        if self.odd or not isinstance(found, dict):
            self.update(asked(filenames))
            return asked(filenames)
        for section, options in found.items():
            held = _Section()
            for name, value in options.items():
                held[name] = asked(name) if "%" in value or "$" in value else value
            self[section] = held
        return [filenames]

    def __getattr__(self, name):
        return asked(name)

    def has_section(self, section):
        return section in self

    def has_option(self, section, option):
        return section in self and option in self[section]

    def get(self, section, option, raw=False, vars=None, fallback=None):
        return self[section][option] if section in self and option in self[section] else fallback

    def getint(self, section, option, raw=False, vars=None, fallback=None):
        return int(self[section][option]) if section in self and option in self[section] else fallback

    def getfloat(self, section, option, raw=False, vars=None, fallback=None):
        return float(self[section][option]) if section in self and option in self[section] else fallback

    def getboolean(self, section, option, raw=False, vars=None, fallback=None):
        return _truth(self[section][option]) if section in self and option in self[section] else fallback


class ConfigParser(RawConfigParser):
    """ConfigParser(): sections of options, with references."""
