"""Sends events whose times are written in each way that an SDK offers, and prints the moments in microseconds since 1970.

Usage: times.py segment|rudderstack|posthog|posthog-v1 URL KEY
"""

import datetime
import sys

vendor, url, key = sys.argv[1:]
utc = datetime.timezone.utc
moment = datetime.datetime.now(utc) - datetime.timedelta(hours=1)
whole = moment.replace(microsecond=0)


def zone(hours):
    return datetime.timezone(datetime.timedelta(hours=hours))


# A datetime without a zone is one of UTC for the SDKs, unless it is the current time.
moments = [moment, whole, moment.replace(tzinfo=None), moment.astimezone(zone(5.5)), whole.astimezone(zone(-3))]
written = list(moments)

if vendor.startswith("posthog"):
    from posthog import Posthog

    analytics = Posthog(key, host=url, capture_mode="v1" if vendor == "posthog-v1" else "v0")
    # Its time may also be a text.
    texts = [moment.isoformat(), whole.strftime("%Y-%m-%dT%H:%M:%SZ"), moment.astimezone(zone(2)).strftime("%Y-%m-%dT%H:%M:%S.%f%z")]
    moments += [moment, whole, moment]
    written += texts

    def track(number, time):
        analytics.capture("Order Completed", distinct_id="u", properties={"number": number, "total": 1}, timestamp=time)

else:
    if vendor == "segment":
        import segment.analytics as analytics

        analytics.host = url
    else:
        import rudderstack.analytics as analytics

        analytics.dataPlaneUrl = url
        analytics.host = url
    analytics.write_key = key

    def track(number, time):
        analytics.track("u", "Order Completed", {"number": number, "total": 1}, timestamp=time)


for number, time in enumerate(written):
    track(number, time)
analytics.flush()
analytics.shutdown()
for time in moments:
    time = time if time.tzinfo else time.replace(tzinfo=utc)
    print((time - datetime.datetime(1970, 1, 1, tzinfo=utc)) // datetime.timedelta(microseconds=1))
