#pragma once
#include <librdkafka/rdkafka.h>
#include <librdkafka/rdkafka_mock.h>

// Asks for a cache line ahead of time, for writing; Swift cannot.
static inline void csluice_prefetch(const void *address) { __builtin_prefetch(address, 1); }
