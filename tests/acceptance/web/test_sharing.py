"""Links that show one process, read-only, until they end or are ended."""

from __future__ import annotations

import re
import sqlite3
import uuid

import httpx2
import pytest
from acceptance.command import Veritrail
from acceptance.homes import EXAMPLES
from fakes.page_forms import send
from fakes.service_process import serving
from fastapi.routing import APIRoute

from veritrail_graph.api.server.application import ROUTERS

pytestmark = pytest.mark.engine


def page_paths(process_id: str) -> set[str]:
    """Every page of a process by its address, of one node and one claim."""
    known = {"process_id": process_id, "node_id": "final", "claim_id": "k01", "suffix": "html"}
    paths = set()
    for router in ROUTERS:
        for route in router.routes:
            if isinstance(route, APIRoute) and "GET" in route.methods:
                path = re.sub(r"{(\w+)(:path)?}", lambda part: known.get(part[1], "x"), route.path)
                paths |= {path} if path.startswith(f"/processes/{process_id}") else set()
    return paths


def test_a_link_shows_one_process_and_nothing_else(beside: Veritrail) -> None:
    name, other = f"shown-{uuid.uuid4().hex[:8]}", f"hidden-{uuid.uuid4().hex[:8]}"
    for process_id in (name, other):
        beside("ingest", str(EXAMPLES / "harbour-summary.json"), "--process-id", process_id)
    key = beside("keys", "create", "--name", "Ada", "--scope", "write,read", "--json").json["key"]
    with serving(beside, args=["--no-worker"]) as service:
        service.until_ready()
        owner = httpx2.Client(base_url=service.url, timeout=60, trust_env=False)
        owner.headers["Authorization"] = f"Bearer {key}"
        place = f"/processes/{name}"
        page = owner.get(f"{place}/share")
        assert send(owner, page, f"{place}/share", days="0").status_code == 422
        assert send(owner, page, f"{place}/share", days="9999").status_code == 422
        made = send(owner, page, f"{place}/share", days="2", note="<b>Auditor</b>")
        assert made.status_code == 201
        link = made.text.partition(f'value="{service.url}')[2].partition('"')[0]
        assert link.startswith("/shared/")
        assert "&lt;b&gt;Auditor" in owner.get(f"{place}/share").text
        assert link not in owner.get(f"{place}/share").text  # shown once

        guest = httpx2.Client(base_url=service.url, timeout=60, trust_env=False)
        by_tls = [
            {"x-forwarded-proto": "https"},
            {"forwarded": 'for=192.0.2.1; proto="https"'},
            {"host": "veritrail.example", "sec-fetch-site": "cross-site"},
        ]
        plain = [{}, {"sec-fetch-site": "cross-site"}, {"host": "veritrail.example"}]
        for headers, is_secure in [
            *((one, True) for one in by_tls),
            *((one, False) for one in plain),
        ]:
            cookie = guest.get(link, headers=headers, follow_redirects=False).headers["set-cookie"]
            assert ("Secure" in cookie) is is_secure, headers
        guest.cookies.clear()
        assert guest.get("/shared/nothing").status_code == 404
        opened = guest.get(link, follow_redirects=False)
        assert opened.headers["location"] == place
        assert "HttpOnly" in opened.headers["set-cookie"]
        shown = guest.get(place)
        assert shown.status_code == 200
        assert "read-only" in shown.text
        told = "Ada shared it with you, to read and to download. The link works until "
        assert told in shown.text
        assert "None of its 24 claims has a verdict yet." in shown.text
        for path in (place, f"{place}/claims/k01", f"{place}/nodes/final/attribution"):
            opened = guest.get(path)
            assert opened.status_code == 200, path
            words = opened.text
            for told in ("Verify claims", f"{place}/edit", f"{place}/share", "/jobs", "/upload"):
                assert told not in words, (path, told)
            for told in (
                f'{place}/review"',
                f"{place}/review?",
                f"{place}/studies",
                "<code>veritrail",
                "Copy Cypher",
            ):
                assert told not in words, (path, told)
        for path in ("/claims/k01", "/graph", "/nodes/final", "/runs", "/report.csv"):
            assert guest.get(place + path).status_code == 200, path
        assert guest.get("/", follow_redirects=False).headers["location"] == place
        for path in (f"/processes/{other}", "/search?q=a", "/processes.csv", "/jobs", "/upload"):
            away = guest.get(path, follow_redirects=False)
            assert away.status_code == 303, path
            assert away.headers["location"].startswith("/sign-in")
        assert guest.get(f"{place}/share").status_code == 403
        for page in ("review", "agreement", "rounds", "studies", "studies/x", "dialogue/labels"):
            refused = guest.get(f"{place}/{page}")
            assert (refused.status_code, "<form" in refused.text) == (403, False), page
            assert owner.get(f"{place}/{page}").status_code != 403
        open_pages = 0
        for path in sorted(page_paths(name)):
            found = guest.get(path, follow_redirects=False)
            open_pages += found.status_code == 200
            assert 'method="post"' not in found.text, path
        assert open_pages > 10
        assert guest.get(f"/v1/processes/{name}").status_code == 401
        wiped = guest.post(f"{place}/edit/delete", data={"typed": name}, follow_redirects=False)
        assert wiped.headers["location"].startswith("/sign-in")
        assert guest.get(place).status_code == 200
        crafted = guest.get(f"/processes/{name}%2F..%2F{other}", follow_redirects=False)
        assert crafted.status_code in (303, 404)

        # Whoever changes a row of the database does not lead a link elsewhere, or prolong it.
        row = sqlite3.connect(beside.home / "service.sqlite3")
        row.execute("UPDATE share_links SET process_id = ?", (other,))
        row.commit()
        assert guest.get(link, follow_redirects=False).status_code == 404
        row.execute("UPDATE share_links SET process_id = ?", (name,))
        row.commit()
        assert guest.get(place).status_code == 200
        share_id = owner.get(f"/v1{place}/shares").json()["shares"][0]["share_id"]
        assert beside("share", name, "--list", "--json").json["shares"][0]["is_open"]
        page = owner.get(f"{place}/share")
        assert send(owner, page, f"{place}/share/end", share_id=share_id).status_code == 303
        assert guest.get(place, follow_redirects=False).status_code == 303
        assert guest.get(link, follow_redirects=False).status_code == 404

        # Whoever a comment names as its author, the key that it came with is beside it.
        said = {"text": "See page 3.", "author": "Bo"}
        made = owner.post(f"/v1{place}/claims/k01/comments", json=said).json()
        assert (made["author"], made["recorded_by"]) == ("Bo", "Ada")
        assert owner.get(f"/v1{place}/claims/k01/comments").json()["comments"] == [made]
        assert "sent with the key <bdi>Ada</bdi>" in owner.get(f"{place}/claims/k01").text

        # A link shows what its process becomes, and no other that is stored under the id later.
        page = owner.get(f"{place}/share")
        made = send(owner, page, f"{place}/share", days="2", note="")
        link = made.text.partition(f'value="{service.url}')[2].partition('"')[0]
        assert guest.get(link, follow_redirects=True).status_code == 200
        links = row.execute("SELECT * FROM share_links").fetchall()
        named = ("--process-id", name)
        beside("ingest", str(EXAMPLES / "harbour-attribution.json"), *named, "--replace")
        assert guest.get(place).status_code == 200
        beside("delete", name, "--yes")
        assert guest.get(link, follow_redirects=True).status_code == 404
        beside("ingest", str(EXAMPLES / "harbour-summary.json"), *named)
        marks = ", ".join("?" * len(links[0]))  # as if killed before they were forgotten
        row.executemany(f"INSERT INTO share_links VALUES ({marks})", links)
        row.commit()
        assert guest.get(link, follow_redirects=True).status_code == 404
        assert guest.get(f"{place}/report.csv").status_code == 404
        row.execute("DELETE FROM share_links")
        row.commit()

        # With the key its links end.
        page = owner.get(f"{place}/share")
        made = send(owner, page, f"{place}/share", days="2", note="")
        link = made.text.partition(f'value="{service.url}')[2].partition('"')[0]
        assert guest.get(link, follow_redirects=True).status_code == 200
        beside("keys", "revoke", "Ada")
        assert guest.get(link, follow_redirects=False).status_code == 404
        links = beside("share", name, "--list", "--json").json["shares"]
        assert [(one["is_open"], one["key_ended"]) for one in links] == [(False, True)]
        owner.close()
        guest.close()
        row.close()


def test_a_link_is_printed_whole_where_the_service_is_known(
    beside: Veritrail, harbour: str
) -> None:
    at = {"VERITRAIL_URL": "https://veritrail.example/"}
    whole = beside("share", harbour, **at)
    assert whole.out.startswith("https://veritrail.example/shared/")
    assert "VERITRAIL_URL" not in whole.err
    path = beside("share", harbour)
    assert path.out.startswith("/shared/")
    assert "with VERITRAIL_URL set to it" in path.err
