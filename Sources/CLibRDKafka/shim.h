#pragma once
#include <librdkafka/rdkafka.h>
#include <librdkafka/rdkafka_mock.h>

// Swift has no word for it.
static inline void csluice_prefetch(const void *address) { __builtin_prefetch(address, 1); }
