// The C face of RE2, as much of it as a tracking plan's `pattern` needs.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// A compiled regular expression. It does not change once it is made, so any thread may match with it at any time.
typedef struct CRE2Pattern CRE2Pattern;

/// Compiles UTF-8 `source`; NULL when it is no pattern or needs more than `memory_limit` bytes.
/// RE2's own message, cut to fit and ended with NUL, is then in `message`; nothing is written to standard error.
/// What it returns belongs to the caller, who gives it back to `cre2_free`.
CRE2Pattern *cre2_compile(const char *source, size_t length, int64_t memory_limit,
                          char *message, size_t message_capacity);

/// Whether `text` contains a match, in time linear in `length`; the memory stays within the pattern's limit.
bool cre2_matches(const CRE2Pattern *pattern, const char *text, size_t length);

/// Frees what `cre2_compile` made.
void cre2_free(CRE2Pattern *pattern);

#ifdef __cplusplus
}
#endif
