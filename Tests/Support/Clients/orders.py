"""Sends COUNT orders with the SDK of Segment or RudderStack, and prints the ids of those that it reported as failed.

Usage: orders.py segment|rudderstack URL COUNT [gzip]
"""

import json
import sys

vendor, url, count, options = sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4:]

if vendor == "segment":
    import segment.analytics as analytics

    analytics.host = url
else:
    import rudderstack.analytics as analytics

    analytics.dataPlaneUrl = url
    analytics.host = url

failed = []


def report(error, messages):
    print(f"{type(error).__name__}: {error}", file=sys.stderr)
    failed.extend(message["messageId"] for message in messages)


analytics.write_key = "shop"
analytics.gzip = "gzip" in options
analytics.on_error = report
# Small batches, so that every answer of the proxy comes up.
analytics.upload_size = 20

for number in range(count):
    properties = {"number": number, "total": number / 4, "coupon": None}
    if number % 50 == 7:
        properties["total"] = float("nan")
    if number % 50 == 8:
        properties["number"] = "eight"
    analytics.track(f"user-{number % 5}", "Order Completed", properties)

# Not only `shutdown`, which discards what waits for a Retry-After.
analytics.flush()
analytics.shutdown()
print(json.dumps(failed))
