"""Verifies the signatures of the requests that `receiver.py` took, with the library of Standard Webhooks.

    webhook_signatures.py REQUESTS SECRET

It prints how many there are, and fails at the first that the secret did not sign.
"""
import json
import sys

from standardwebhooks import Webhook

count = 0
with open(sys.argv[1]) as requests:
    for line in requests:
        request = json.loads(line)
        Webhook(sys.argv[2]).verify(request["body"].encode(), request["headers"])
        count += 1
print(count)
