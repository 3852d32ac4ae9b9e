"""The error that every party of a choreography gets when one of them fails."""


class ChoreographyError(Exception):
    """A party failed, left or broke the protocol; raised at all the others too."""
