"""What can be wrong with a store, each with what a person can do about it."""


class StoreError(Exception):
    """The store cannot be used as it is; the message names the file and the remedy."""


class StoreNewerError(StoreError):
    """A newer version of the program wrote the store; it is left untouched."""


class StoreDamagedError(StoreError):
    """The file is no store, or parts of it cannot be read; it is left untouched."""


class LeaseLostError(StoreError):
    """Another engine has taken the run over; nothing more may be written for it here."""


class UnknownRunError(StoreError):
    """No run, or more than one, answers to the name given."""
