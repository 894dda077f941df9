"""Looks at the dashboard with Chromium while its process is restarted.

Usage: dashboard_restart.py URL

It prints `open`, then `gone` when the page says that the process does not answer, and `back` when the page shows a process again. Then
it reads how many events the new process has accepted from standard input, and prints `figures` when the page shows that number.
The page is never loaded again.
"""

import re
import sys

from playwright.sync_api import expect, sync_playwright

expect.set_options(timeout=60_000)

with sync_playwright() as playwright:
    browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=["--no-sandbox"])
    page = browser.new_page()
    page.goto(sys.argv[1])
    page.evaluate("window.isFirst = true")
    state = page.locator("#state")
    expect(state).to_have_text("Accepts events.")
    expect(page.locator("path.curve").first).to_have_attribute("d", re.compile("L"))
    print("open", flush=True)
    expect(state).to_have_text("The process does not answer.")
    print("gone", flush=True)
    expect(state).to_have_text("Accepts events.")
    print("back", flush=True)
    count = sys.stdin.readline().strip()
    expect(page.locator("#versions")).to_contain_text(f" {int(count):,} events accepted.")
    expect(page.locator('#catalogue tr[data-event="Sold"] td').first).to_have_text(f"{int(count):,}")
    # The chart begins again with the samples of the new process.
    expect(page.locator("path.curve").first).to_have_attribute("d", re.compile("L"))
    assert page.evaluate("window.isFirst")
    print("figures", flush=True)
    browser.close()
