"""Looks at a tracker's row of the dashboard with Chromium while its destination fails.

Usage: dashboard_outage.py URL

It prints `delivering` when the row says so. After the end of standard input it waits until the row says that the tracker cannot
deliver, and prints how many answers of the server had said so when the row changed.
"""

import re
import sys

from playwright.sync_api import expect, sync_playwright

expect.set_options(timeout=60_000)

ROW = '#trackers tr[data-tracker="postgres"] td'

COUNT_ANSWERS = """
window.answers = 0
const fetchAnswer = window.fetch
window.fetch = async (...request) => {
  const answer = await fetchAnswer(...request)
  if (/"(retrying|blocked)"/.test(await answer.clone().text())) window.answers += 1
  return answer
}
"""

NOTE_CHANGE = """
() => {
  const failing = () => {
    const cell = document.querySelector('#trackers tr[data-tracker="postgres"] td')
    if (window.changedAfter === undefined && cell && /retrying|blocked/.test(cell.textContent)) {
      window.changedAfter = window.answers
    }
  }
  new MutationObserver(failing).observe(document.getElementById("trackers"), { subtree: true, childList: true, characterData: true })
}
"""

with sync_playwright() as playwright:
    browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=["--no-sandbox"])
    page = browser.new_page()
    page.add_init_script(COUNT_ANSWERS)
    page.goto(sys.argv[1])
    expect(page.locator(ROW).first).to_have_text("delivering")
    page.evaluate(NOTE_CHANGE)
    print("delivering", flush=True)
    sys.stdin.readline()
    # Not `wait_for_function`, whose `eval` the page's content security policy prohibits.
    expect(page.locator(ROW).first).to_have_text(re.compile("retrying|blocked"))
    # The first sentence of the page says so as well.
    expect(page.locator("#state")).to_have_text(re.compile(r"^Accepts events\. postgres is (retrying|blocked)\.$"))
    expect(page.locator("#state")).to_have_class("wait")
    print(f"changed after {page.evaluate('window.changedAfter')}", flush=True)
    browser.close()
