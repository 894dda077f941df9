"""Looks at the dashboard with Chromium, as a person does.

Usage: dashboard.py URL

It prints a line for each thing that the page shows, and after `ready` waits for a line before it looks at the tracker.
"""

import re
import sys

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect, sync_playwright

expect.set_options(timeout=60_000)


def check_access(browser, url):
    """Every size and scheme: nothing to scroll sideways, nothing that axe finds, and no errors."""
    for width, height, scheme in [(360, 740, "light"), (1280, 900, "dark"), (3840, 2160, "light"), (360, 740, "dark")]:
        page = browser.new_page(viewport={"width": width, "height": height}, color_scheme=scheme)
        problems = []
        page.on("console", lambda message: problems.append(message.text))
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.goto(url)
        expect(page.locator("#state")).to_have_text("Accepts events.")
        expect(page.locator("#rejections summary")).to_have_count(1)
        page.locator("#rejections summary").click()
        assert page.evaluate("document.documentElement.scrollWidth") <= width, width
        violations = Axe().run(page).response["violations"]
        problems += [f"{violation['id']}: {violation['nodes'][0]['html']}" for violation in violations]
        assert not problems, (width, scheme, problems)
        page.close()
    print("accessible", flush=True)


with sync_playwright() as playwright:
    browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=["--no-sandbox"])
    page = browser.new_page()
    page.goto(sys.argv[1])
    page.get_by_label("Event", exact=True).fill("Sold")
    page.get_by_label("Verdict").select_option("accepted")
    page.get_by_role("button", name="Watch").click()
    expect(page.locator("#tail-state")).to_have_text("Watching.")
    expect(page.locator("#changes li")).to_have_text(re.compile("delivery.maximumEvents is 500 until .*, set by .+"))
    print("watching", flush=True)
    expect(page.locator("#tail li").first).to_contain_text('"quantity":5')
    print("tail", flush=True)
    expect(page.locator('#catalogue tr[data-event="Sold"] td').nth(0)).to_have_text("3")
    expect(page.locator('#catalogue tr[data-event="Sold"] td').nth(1)).to_have_text("1")
    print("catalogue", flush=True)
    rejection = page.locator("#rejections details")
    rejection.locator("summary").click()
    expect(rejection).to_contain_text("Sold: out-of-range, 1 from (no key)")
    expect(rejection).to_contain_text(re.compile(r"\$\.payload\.quantity: expected .*; the plan says so in .*shop\.plist:\d+"))
    page.get_by_role("button", name="Try Sold again").click()
    expect(page.locator("#replay-state")).to_have_text("0 sent again, 1 still not valid.")
    print("rejected", flush=True)
    expect(page.locator("path.curve").first).to_have_attribute("d", re.compile("L"))
    print("chart", flush=True)
    check_access(browser, sys.argv[1])
    print("ready", flush=True)
    sys.stdin.readline()
    row = page.locator('#trackers tr[data-tracker="postgres"]')
    expect(row.locator("td").first).to_have_text(re.compile("retrying|blocked"))
    print(row.locator("td.text").inner_text(), flush=True)
    button = page.get_by_role("button", name="Pause postgres")
    button.focus()
    page.keyboard.press("Enter")
    expect(row.locator("td").first).to_have_text("paused")
    expect(page.get_by_role("button", name="Resume postgres")).to_be_focused()
    print("paused", flush=True)
    page.get_by_role("button", name="Pause", exact=True).click()
    expect(page.locator("#tail-state")).to_contain_text("Paused; 4 events")
    browser.close()
