"""Sends COUNT orders with an SDK, and prints the ids of those that it reported as failed.

Usage: orders.py segment|rudderstack|posthog|posthog-v1 URL KEY COUNT [gzip]
"""

import json
import sys

vendor, url, key, count, options = sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4]), sys.argv[5:]
failed = []


def report(error, messages):
    print(f"{type(error).__name__}: {error}", file=sys.stderr)
    if getattr(error, "drops", None):
        failed.extend(uuid for uuid, _ in error.drops)
    else:
        failed.extend(message.get("messageId") or message.get("uuid") for message in messages)


# Small batches, so that every fault of the proxy comes up.
batch = 20

if vendor.startswith("posthog"):
    from posthog import Posthog

    analytics = Posthog(
        key,
        host=url,
        flush_at=batch,
        gzip="gzip" in options,
        on_error=report,
        capture_mode="v1" if vendor == "posthog-v1" else "v0",
    )

    def track(user, event, properties):
        analytics.capture(event, distinct_id=user, properties=properties)

else:
    if vendor == "segment":
        import segment.analytics as analytics

        analytics.host = url
    else:
        import rudderstack.analytics as analytics

        analytics.dataPlaneUrl = url
        analytics.host = url
    analytics.write_key = key
    analytics.gzip = "gzip" in options
    analytics.on_error = report
    analytics.upload_size = batch
    track = analytics.track

for number in range(count):
    properties = {"number": number, "total": number / 4, "coupon": None}
    # The SDKs of Segment and RudderStack write NaN, which is not JSON; PostHog's writes null.
    if number % 50 == 7:
        properties["total"] = float("nan")
    if number % 50 == 8:
        properties["number"] = "eight"
    track(f"user-{number % 5}", "Order Completed", properties)

# Not only `shutdown`, with which Segment's SDK discards what waits for a Retry-After.
analytics.flush()
analytics.shutdown()
print(json.dumps(failed))
