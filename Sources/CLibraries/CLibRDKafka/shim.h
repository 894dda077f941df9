#pragma once
#include <librdkafka/rdkafka.h>
#include <librdkafka/rdkafka_mock.h>

// Prefetches a cache line for writing, which Swift cannot do.
static inline void csluice_prefetch(const void *address) { __builtin_prefetch(address, 1); }
