"""Signing in with a key: what the cookie opens, what it does not, and how it ends."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterator
from dataclasses import dataclass
from urllib.parse import quote

import httpx2
import pytest
from acceptance.command import Veritrail
from acceptance.homes import a_home
from fakes.page_forms import send
from fakes.ports import free_port
from fakes.service_process import ServiceProcess, serving
from fakes.waiting import until

NOWHERE = {"NEO4J_URI": f"bolt://127.0.0.1:{free_port()}"}
COOKIE = "veritrail_session"
PATIENCE = 30.0
JOBS = "/jobs"


def made(veritrail: Veritrail, name: str, *scopes: str, **options: str) -> str:
    words = [word for scope in scopes for word in ("--scope", scope)]
    words += [word for key, value in options.items() for word in (f"--{key}", value)]
    key: str = veritrail("keys", "create", "--name", name, *words, "--json").json["key"]
    return key


@dataclass(frozen=True)
class Keyed:
    """A service that asks for keys, and some that were made before it started."""

    veritrail: Veritrail
    service: ServiceProcess
    admin: str
    verify: str
    read: str


@pytest.fixture(scope="module")
def keyed() -> Iterator[Keyed]:
    """Its graph is away, which no page here needs."""
    with a_home() as veritrail:
        keys = [made(veritrail, f"key to {scope}", scope) for scope in ("admin", "verify", "read")]
        with serving(veritrail, env=NOWHERE, args=["--no-worker"]) as service:
            yield Keyed(veritrail, service, *keys)


@pytest.fixture
def browser(keyed: Keyed) -> Iterator[httpx2.Client]:
    """Keeps cookies, and follows no redirect."""
    with httpx2.Client(base_url=keyed.service.url, trust_env=False) as client:
        yield client


def tried(client: httpx2.Client, key: str, onward: str = "/") -> httpx2.Response:
    page = client.get("/sign-in", params={"next": onward})
    return send(client, page, "/sign-in", key=key)


def signed_in(client: httpx2.Client, key: str, onward: str = "/") -> httpx2.Response:
    """A key that was made elsewhere is known within two seconds."""
    deadline = time.monotonic() + PATIENCE
    while (answer := tried(client, key, onward)).status_code != 303:
        assert time.monotonic() < deadline, answer.text
        time.sleep(0.3)
    return answer


def test_a_page_leads_to_the_sign_in_and_back_to_where_one_wanted_to_go(
    keyed: Keyed, browser: httpx2.Client
) -> None:
    asked = browser.get("/jobs?process=a%26b")
    assert asked.status_code == 303
    assert asked.headers["location"] == "/sign-in?next=%2Fjobs%3Fprocess%3Da%2526b"
    page = browser.get(asked.headers["location"])
    assert page.status_code == 200
    answer = send(browser, page, "/sign-in", key=f"  {keyed.verify} ")
    assert (answer.status_code, answer.headers["location"]) == (303, "/jobs?process=a%26b")
    kept = answer.headers["set-cookie"].lower()
    assert "httponly" in kept
    assert "samesite=lax" in kept
    assert "path=/" in kept
    assert "secure" not in kept
    shown = browser.get("/jobs")
    assert shown.status_code == 200
    assert "key to verify" in shown.text
    assert "Sign out" in shown.text


def test_over_https_the_cookie_is_sent_back_over_https_alone(
    keyed: Keyed, browser: httpx2.Client
) -> None:
    given = {"key": keyed.read, "next": "/"}
    behind = {"X-Forwarded-Proto": "https"}
    answer = browser.post("/sign-in", data=given, headers=behind)
    assert "secure" in answer.headers["set-cookie"].lower()
    host = {"Origin": f"https://{browser.base_url.netloc.decode()}"}
    answer = browser.post("/sign-in", data=given, headers=host)
    assert "secure" in answer.headers["set-cookie"].lower()


@pytest.mark.parametrize(
    "onward",
    ["//evil.example/", "https://evil.example/", "/\\evil.example", "\\\\evil.example",
     "javascript:alert(1)", "/\tevil", "/v1/jobs", "evil", ""],
)  # fmt: skip
def test_signing_in_leads_nowhere_but_to_pages_of_ours(
    keyed: Keyed, browser: httpx2.Client, onward: str
) -> None:
    assert signed_in(browser, keyed.read, onward).headers["location"] == "/"
    assert browser.get("/sign-in", params={"next": onward}).headers["location"] == "/"


def test_a_key_that_does_not_open_is_told_and_leaves_no_cookie(browser: httpx2.Client) -> None:
    for key, words in (("", "Enter a key"), ("nonsense", "not known"), ("vt_aaaaaaaa_x", "not")):
        answer = tried(browser, key)
        assert answer.status_code == 401
        assert words in answer.text
        assert "set-cookie" not in answer.headers
        assert key not in answer.text or not key


def test_the_cookie_reads_over_rest_and_changes_nothing_there(
    keyed: Keyed, browser: httpx2.Client
) -> None:
    signed_in(browser, keyed.admin)
    assert browser.get("/v1/jobs").status_code == 200
    refused = browser.post("/v1/jobs/j-0:cancel")
    assert refused.status_code == 403
    assert refused.headers["content-type"] == "application/problem+json"
    assert "send a key" in refused.json()["detail"]


def test_a_key_in_the_headers_counts_before_the_cookie(
    keyed: Keyed, browser: httpx2.Client
) -> None:
    signed_in(browser, keyed.admin)
    narrow = {"Authorization": f"Bearer {keyed.read}"}
    assert browser.get("/v1/jobs", headers=narrow).status_code == 403
    wrong = {"Authorization": "Bearer nonsense"}
    assert browser.get("/v1/jobs", headers=wrong).status_code == 401


def test_a_form_of_another_site_or_of_nobody_changes_nothing(
    keyed: Keyed, browser: httpx2.Client
) -> None:
    signed_in(browser, keyed.admin)
    page = browser.get(JOBS)
    for headers in (
        {"Origin": "https://evil.example"},
        {"Origin": "null"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
    ):
        answer = browser.post("/sign-out", data={"form_token": "x"}, headers=headers)
        assert answer.status_code == 403
        assert "A page from elsewhere" in answer.text
        assert "Sign in with a key" not in answer.text
    for token in ("", "x", "ä", "A" * 88):
        answer = browser.post("/sign-out", data={"form_token": token})
        assert answer.status_code == 403
        assert "nothing was changed" in answer.text
        assert "Load the page again" in answer.text
        assert "Sign in with a key" not in answer.text
    assert browser.get(JOBS).status_code == 200
    ours = {"Origin": str(browser.base_url).rstrip("/"), "Sec-Fetch-Site": "same-origin"}
    browser.headers.update(ours)
    assert send(browser, page, "/sign-out").status_code == 303


def test_nobody_is_signed_in_from_elsewhere(keyed: Keyed, browser: httpx2.Client) -> None:
    given = {"key": keyed.read}
    answer = browser.post("/sign-in", data=given, headers={"Origin": "https://evil.example"})
    assert answer.status_code == 403
    assert "set-cookie" not in answer.headers


def test_the_token_of_one_session_opens_no_form_of_another(
    keyed: Keyed, browser: httpx2.Client
) -> None:
    signed_in(browser, keyed.verify)
    page = browser.get(JOBS)
    with httpx2.Client(base_url=keyed.service.url, trust_env=False) as other:
        signed_in(other, keyed.verify)
        assert send(other, page, "/sign-out").status_code == 403


def test_a_session_ends_at_the_sign_out_and_its_cookie_never_opens_again(
    keyed: Keyed, browser: httpx2.Client
) -> None:
    signed_in(browser, keyed.verify)
    token = browser.cookies[COOKIE]
    answer = send(browser, browser.get(JOBS), "/sign-out")
    assert answer.headers["location"] == "/sign-in"
    assert COOKIE not in browser.cookies
    old = keyed.service.get(JOBS, headers={"Cookie": f"{COOKIE}={token}"}, follow_redirects=False)
    assert old.status_code == 303


def test_a_session_ends_with_its_key(keyed: Keyed, browser: httpx2.Client) -> None:
    veritrail = keyed.veritrail
    with httpx2.Client(base_url=keyed.service.url, trust_env=False) as other:
        signed_in(browser, made(veritrail, "revoked later", "verify"))
        signed_in(other, made(veritrail, "short", "verify", expires="4s"))
        assert [one.get(JOBS).status_code for one in (browser, other)] == [200, 200]
        veritrail("keys", "revoke", "revoked later")
        for one in (browser, other):
            until(lambda one=one: one.get(JOBS).status_code == 303, PATIENCE, pause=0.2)


REVIEW = "/processes/p/review"
WORDS = "Two piers, <b>not</b> three.\r\nI counted them."


def written(client: httpx2.Client, **headers: str) -> httpx2.Response:
    given = {"claim_id": "k 1", "verdict": "INCONCLUSIVE", "reason": WORDS, "once": "x"}
    return client.post(REVIEW, data=given, headers=headers)


def test_words_that_were_typed_outlive_the_session(keyed: Keyed, browser: httpx2.Client) -> None:
    here = f"{keyed.service.url}{REVIEW}?claim=k%201"
    ended = written(browser, Referer=here)
    assert ended.status_code == 401
    assert "Two piers, &lt;b&gt;not&lt;/b&gt; three.\r\nI counted them.</textarea>" in ended.text
    assert "INCONCLUSIVE" in ended.text
    assert 'href="/processes/p/claims/k%201"' in ended.text
    assert f"/sign-in?next={quote(f'{REVIEW}?claim=k%201', safe='')}" in ended.text
    signed_in(browser, keyed.admin)
    old = written(browser)
    assert old.status_code == 403
    assert "I counted them.</textarea>" in old.text
    assert "Load the page again" in old.text
    # What another site has sent is not repeated on a page of ours.
    for headers in ({"Origin": "https://evil.example"}, {"Sec-Fetch-Site": "cross-site"}):
        assert "I counted" not in written(browser, **headers).text


def test_a_refused_form_leads_back_to_the_page_that_it_was_on(
    keyed: Keyed, browser: httpx2.Client
) -> None:
    def leads(referer: str) -> str:
        answer = browser.post("/jobs/j-1/cancel", headers={"Referer": referer})
        assert answer.status_code == 303
        return str(answer.headers["location"])

    assert leads(f"{keyed.service.url}/jobs/j-1") == "/sign-in?next=%2Fjobs%2Fj-1"
    for elsewhere in ("https://evil.example/jobs", f"{keyed.service.url}/v1/jobs", "nonsense"):
        assert leads(elsewhere) == "/sign-in"


def test_a_session_outlives_a_restart_and_its_secret_is_kept_nowhere(
    keyed: Keyed, browser: httpx2.Client
) -> None:
    veritrail, service = keyed.veritrail, keyed.service
    signed_in(browser, keyed.verify)
    token = browser.cookies[COOKIE]
    page = browser.get(JOBS)
    service.stop()
    service.start()
    assert browser.get(JOBS).status_code == 200
    files = list(veritrail.home.glob("service.sqlite3*"))
    content = b"".join(one.read_bytes() for one in files)
    assert files
    for secret in (token, keyed.verify):
        assert secret.encode() not in content
        assert secret not in service.log
    # Also a form that was loaded before can still be sent.
    assert send(browser, page, "/sign-out").status_code == 303
    with sqlite3.connect(veritrail.home / "service.sqlite3") as database:
        deeds = [row[0] for row in database.execute("SELECT action FROM audit")]
    assert {"session.open", "session.end"} <= set(deeds)


def test_what_a_key_may_not_do_is_hidden_and_refused(keyed: Keyed, browser: httpx2.Client) -> None:
    signed_in(browser, keyed.read)
    page = browser.get("/nothing-here")
    assert page.status_code == 404
    assert 'href="/upload"' not in page.text
    assert 'href="/jobs"' not in page.text
    for path in ("/upload", JOBS):
        refused = browser.get(path)
        assert refused.status_code == 403
        assert "key to read" in refused.text
        assert "scope" in refused.text


def test_one_comes_back_to_a_node_whose_id_has_a_slash(browser: httpx2.Client) -> None:
    node = "/processes/p/nodes/docs%2F100%2525.md?piece=2"
    assert browser.get(node).headers["location"] == f"/sign-in?next={quote(node, safe='')}"


@pytest.mark.parametrize("header", ["Origin", "Referer"])
def test_a_header_that_is_no_address_is_no_fault(
    browser: httpx2.Client, keyed: Keyed, header: str
) -> None:
    answer = browser.post("/sign-in", data={"key": keyed.read}, headers={header: "http://[::1"})
    assert answer.status_code == (403 if header == "Origin" else 303)


def test_keys_that_do_not_open_are_counted_here_too() -> None:
    outside = {**NOWHERE, "VERITRAIL_API_KEY": "the-key-from-outside-2"}
    with a_home() as veritrail, serving(veritrail, env=outside, args=["--no-worker"]) as service:
        with httpx2.Client(base_url=service.url, trust_env=False) as client:
            signed_in(client, "the-key-from-outside-2")
            assert client.get(JOBS).status_code == 200
        with httpx2.Client(base_url=service.url, trust_env=False) as client:
            page = client.get("/sign-in")
            answers = [send(client, page, "/sign-in", key=f"guess {n}") for n in range(40)]
            assert answers[-1].status_code == 429
            assert int(answers[-1].headers["retry-after"]) >= 1
            assert "Try again in" in answers[-1].text
            assert send(client, page, "/sign-in", key="the-key-from-outside-2").status_code == 429


def test_a_session_of_the_key_from_outside_ends_when_another_one_is_set() -> None:
    first, second = ({**NOWHERE, "VERITRAIL_API_KEY": f"{one}-key-from-outside"} for one in "ab")
    with a_home() as veritrail:
        with (
            serving(veritrail, env=first, args=["--no-worker"]) as service,
            httpx2.Client(base_url=service.url, trust_env=False) as client,
        ):
            signed_in(client, "a-key-from-outside")
            assert client.get(JOBS).status_code == 200
            cookie = {"Cookie": f"{COOKIE}={client.cookies[COOKIE]}"}
        with (
            serving(veritrail, env=second, args=["--no-worker"]) as service,
            httpx2.Client(base_url=service.url, trust_env=False) as client,
        ):
            assert client.get(JOBS, headers=cookie).status_code == 303


def test_where_no_key_was_ever_made_nobody_signs_in() -> None:
    with a_home() as veritrail, serving(veritrail, env=NOWHERE, args=["--no-worker"]) as service:
        answer = service.get("/sign-in", params={"next": JOBS}, follow_redirects=False)
        assert answer.headers["location"] == JOBS
        assert "Sign out" not in service.get(JOBS).text
