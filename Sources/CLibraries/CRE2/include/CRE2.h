// A C interface to RE2, limited to what a tracking plan's `pattern` needs.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// A compiled regular expression. It is immutable, so several threads may match with it concurrently.
typedef struct CRE2Pattern CRE2Pattern;

/// Compiles UTF-8 `source`; returns NULL if it is not a valid pattern or needs more than `memory_limit` bytes.
/// Then `message` contains RE2's message, truncated to fit and NUL-terminated; nothing is written to standard error.
/// The caller owns the result and frees it with `cre2_free`.
CRE2Pattern *cre2_compile(const char *source, size_t length, int64_t memory_limit,
                          char *message, size_t message_capacity);

/// Returns whether `text` contains a match, in time linear in `length` and within the pattern's memory limit.
bool cre2_matches(const CRE2Pattern *pattern, const char *text, size_t length);

/// Frees an expression that `cre2_compile` returned.
void cre2_free(CRE2Pattern *pattern);

#ifdef __cplusplus
}
#endif
