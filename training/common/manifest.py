"""A network's manifest, models/NAME.json. What training and the program both need to know of it
stands there, and both read it; the rest is written when the network is exported."""

import hashlib
import json
from pathlib import Path

MODELS = Path(__file__).parents[2] / "models"


def read(name):
    return json.loads((MODELS / f"{name}.json").read_text())


def write(path, version, **more):
    """Writes the manifest of an ONNX file beside it."""
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    manifest = {**read(path.stem), "version": version, "sha256": digest, **more}
    text = json.dumps(manifest, indent=1)
    path.with_suffix(".json").write_text(text + "\n")
    print(text)
