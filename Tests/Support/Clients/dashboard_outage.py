"""Looks at a tracker's row of the dashboard with Chromium while its destination fails.

Usage: dashboard_outage.py URL

It prints `delivering` when the row says so. After a line on standard input it waits until the row says that the tracker cannot
deliver, and prints the time at which the row changed, in milliseconds since 1970, by the page's own clock.
"""

import sys

from playwright.sync_api import expect, sync_playwright

expect.set_options(timeout=60_000)

NOTE_CHANGE = """
() => {
  const failing = () => {
    const cell = document.querySelector('#trackers tr[data-tracker="postgres"] td')
    if (window.changedAt === undefined && cell && /retrying|blocked/.test(cell.textContent)) window.changedAt = Date.now()
  }
  new MutationObserver(failing).observe(document.getElementById("trackers"), { subtree: true, childList: true, characterData: true })
}
"""

with sync_playwright() as playwright:
    browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=["--no-sandbox"])
    page = browser.new_page()
    page.goto(sys.argv[1])
    expect(page.locator('#trackers tr[data-tracker="postgres"] td').first).to_have_text("delivering")
    page.evaluate(NOTE_CHANGE)
    print("delivering", flush=True)
    sys.stdin.readline()
    page.wait_for_function("window.changedAt !== undefined", timeout=60_000)
    print(f"changed {page.evaluate('window.changedAt')}", flush=True)
    browser.close()
