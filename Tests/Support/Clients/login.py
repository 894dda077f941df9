"""Logs in to the private port with Chromium, as a person does, and out again.

Usage: login.py URL TOKEN

It prints the path of the page after each step.
"""

import sys
import urllib.parse

from playwright.sync_api import sync_playwright

url, token = sys.argv[1:]
with sync_playwright() as playwright:
    browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=["--no-sandbox"])
    page = browser.new_page()

    def show():
        print(urllib.parse.urlsplit(page.url).path, flush=True)

    page.goto(url)
    show()
    page.get_by_label("Token").fill(token)
    page.get_by_role("button", name="Log in").click()
    show()
    page.get_by_role("button", name="Log out").click()
    show()
    browser.close()
