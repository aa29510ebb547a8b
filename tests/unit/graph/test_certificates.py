"""The machine's certificates are read once for all connections of a program."""

from __future__ import annotations

import ssl

from veritrail_graph.graph.certificates import trusted_certificates
from veritrail_graph.verifier.models.openai_endpoint import OpenAiEndpoint


def test_endpoints_of_a_program_read_the_certificates_once(monkeypatch):
    trusted_certificates()
    monkeypatch.setattr(ssl.SSLContext, "load_verify_locations", None)  # a call would fail
    for name in ("a", "b"):
        OpenAiEndpoint(f"https://{name}.test/v1", "key")


def test_the_other_end_is_checked():
    found = trusted_certificates()
    assert found.verify_mode is ssl.CERT_REQUIRED
    assert found.check_hostname


def test_the_certificates_that_the_environment_names_are_other_ones(monkeypatch, tmp_path):
    usual = trusted_certificates()
    monkeypatch.setenv("SSL_CERT_DIR", str(tmp_path))
    assert trusted_certificates() is not usual
    assert trusted_certificates(trust_env=False) is not trusted_certificates()
