"""Certificates for tests: an authority and one certificate a role, made by the program `openssl`."""

from __future__ import annotations

import subprocess
from collections.abc import Iterable
from pathlib import Path

from distml.choreo.runtime.tls import Identity

KEY = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"]


def openssl(*arguments: str | Path) -> None:
    subprocess.run(["openssl", *map(str, arguments)], check=True, capture_output=True)


def identities(folder: Path, roles: Iterable[str]) -> dict[str, Identity]:
    """An authority in this folder, and for each role a certificate that bears the role's name."""
    folder.mkdir(parents=True, exist_ok=True)
    root, root_key = folder / "root.pem", folder / "root.key"
    openssl("req", "-x509", *KEY, "-subj", "/CN=authority", "-keyout", root_key, "-out", root)
    found = {}
    for role in roles:
        request, key, certificate = (folder / f"{role}.{end}" for end in ("csr", "key", "pem"))
        extensions = folder / f"{role}.ext"
        extensions.write_text(f"subjectAltName=DNS:{role}\n")
        openssl("req", "-new", *KEY[:-2], "-subj", f"/CN={role}", "-keyout", key, "-out", request)
        signing = ["-CA", root, "-CAkey", root_key, "-CAcreateserial", "-days", "2", "-extfile", extensions]
        openssl("x509", "-req", "-in", request, *signing, "-out", certificate)
        found[role] = Identity(certificate, key, root)
    return found
