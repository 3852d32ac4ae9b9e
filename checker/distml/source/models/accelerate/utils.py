"""accelerate.utils"""


def set_seed(seed, *args, **options):
    return None
