"""Made-up accounts of programs, as Google's own library reads them."""

from __future__ import annotations

import json

from google.oauth2 import service_account

from footplate.server.tls_listeners import ProgramAccounts


def test_googles_library_reads_it() -> None:
    accounts, tokens = ProgramAccounts(), "http://127.0.0.1:8470/token?key=k"
    given = json.loads(accounts.make("demo", "trainer@example.invalid", tokens))
    read = service_account.Credentials.from_service_account_info(given)
    assert (read.project_id, read.service_account_email) == ("demo", "trainer@example.invalid")
    assert given["token_uri"] == tokens
    assert accounts.make("demo", "x", tokens) != accounts.make("other", "x", tokens)
