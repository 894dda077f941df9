"""Looks at the dashboard with Chromium, on a narrow screen, while the plan's files are broken and corrected.

Usage: dashboard_plan.py URL

It prints `open` when the page shows the plan and no problem. Then it prints `refused` and the text of the banner when there is one, and
`corrected` and the plan's line when the banner is gone. The page is never loaded again.
"""

import sys

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect, sync_playwright

expect.set_options(timeout=60_000)

with sync_playwright() as playwright:
    browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=["--no-sandbox"])
    page = browser.new_page(viewport={"width": 360, "height": 740})
    page.goto(sys.argv[1])
    banner = page.get_by_role("alert")
    expect(page.locator("#versions")).to_contain_text("plan without a version, 1 event;")
    expect(banner).to_be_hidden()
    print("open", flush=True)
    expect(banner).to_be_visible()
    box = banner.bounding_box()
    assert box["x"] >= 0 and box["x"] + box["width"] <= 360, box
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    # What the files state is text.
    assert banner.locator("img").count() == 0
    violations = Axe().run(page).response["violations"]
    assert not violations, violations
    print(f"refused {banner.inner_text()}", flush=True)
    expect(banner).to_be_hidden()
    print(f"corrected {page.locator('#versions').inner_text()}", flush=True)
    browser.close()
