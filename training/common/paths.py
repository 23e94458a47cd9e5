"""Where everything that is fetched and made lies."""

import os
from pathlib import Path


def data_root():
    return Path(os.environ.get("UNINK_DATA", Path(__file__).parents[1] / "data"))
