"""click.exceptions: https://click.palletsprojects.com/en/stable/exceptions/

`Exit` ends the program well wherever it is raised, as a command that is left by it does.
"""


class ClickException(Exception):
    def __init__(self, message=""):
        super().__init__(message)
        self.message = message


class UsageError(ClickException):
    def __init__(self, message="", ctx=None):
        super().__init__(message)


class BadParameter(UsageError):
    def __init__(self, message="", ctx=None, param=None, param_hint=None):
        super().__init__(message)


class MissingParameter(BadParameter):
    pass


class NoSuchOption(UsageError):
    pass


class BadOptionUsage(UsageError):
    pass


class BadArgumentUsage(UsageError):
    pass


class FileError(ClickException):
    pass


class Abort(RuntimeError):
    pass


class Exit(SystemExit):
    def __init__(self, code=0):
        self.exit_code = code
