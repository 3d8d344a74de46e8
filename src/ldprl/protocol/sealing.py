"""Sealing a report to the service's key: HPKE (RFC 9180), base mode, from ``cryptography``.

DHKEM(X25519, HKDF-SHA256), HKDF-SHA256, AES-128-GCM. The deployment's digest, the version and the
digest of the plan that the user had are the ``info``: what was sealed for one of them does not open
under another. So a relay that hands a victim a plan of its own, with a law of a single policy, say,
gets a report that the service cannot read.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ldprl.errors import InputError

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

LARGEST_REPORT = 2**20
"""Bytes to which a plan may have reports padded."""
LARGEST_BATCH = 2**30
"""Bytes of a crowd that a relay hands over in one request."""
OVERHEAD = 32 + 16
"""How many bytes a sealed report is longer: the encapsulated key and the tag."""


def seal(report: bytes, size: int, key: str, digest: str, version: int, plan: str) -> bytes:
    """Return ``report``, padded with spaces to ``size`` bytes, sealed to the public ``key``."""
    if len(report) > size:
        raise InputError("report", f"{len(report)} bytes", f"at most {size}, as the plan says")
    x25519, suite = _library()
    public = x25519.X25519PublicKey.from_public_bytes(bytes.fromhex(key))
    try:
        sealed: bytes = suite.encrypt(report.ljust(size), public, info=_info(digest, version, plan))
    except ValueError:
        # A point of low order, with which everybody could open it.
        raise InputError("shuffle.key", key, "a public key, from ldprl keys pair") from None
    return sealed


class Opener:
    """Opens what was sealed to one private key."""

    def __init__(self, private: X25519PrivateKey, digest: str) -> None:
        self._private = private
        self._digest = digest
        _, self._suite = _library()

    @property
    def key(self) -> str:
        """The public key, in hex."""
        return self._private.public_key().public_bytes_raw().hex()

    def open(self, sealed: bytes, version: int, plan: str) -> bytes | None:
        """Return the report with its padding, or None if it was not sealed for this."""
        from cryptography.exceptions import InvalidTag

        try:
            report: bytes = self._suite.decrypt(
                sealed, self._private, info=_info(self._digest, version, plan)
            )
        except (InvalidTag, ValueError):
            return None
        return report


def new_private_key() -> str:
    """Return a fresh private key, in hex."""
    x25519, _ = _library()
    text: str = x25519.X25519PrivateKey.generate().private_bytes_raw().hex()
    return text


def opener(private: str, digest: str = "") -> Opener:
    """Return what opens reports, from a private key in hex."""
    x25519, _ = _library()
    try:
        key = x25519.X25519PrivateKey.from_private_bytes(bytes.fromhex(private.strip()))
    except ValueError:
        raise InputError(
            "private_key", "…", "64 hexadecimal digits, from ldprl keys pair"
        ) from None
    return Opener(key, digest)


def _info(digest: str, version: int, plan: str) -> bytes:
    return f"ldprl report {digest} {version} {plan}".encode()


def _library() -> tuple[Any, Any]:
    try:
        from cryptography.hazmat.primitives import hpke
        from cryptography.hazmat.primitives.asymmetric import x25519
    except ImportError:
        raise InputError("shuffle", "a relay", 'pip install "ldprl[relay]"') from None
    suite = hpke.Suite(hpke.KEM.X25519, hpke.KDF.HKDF_SHA256, hpke.AEAD.AES_128_GCM)
    return x25519, suite
