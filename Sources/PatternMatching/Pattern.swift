internal import CRE2

/// A compiled regular expression of the plan, in RE2's syntax.
///
/// The plan and the text may both come from outside, so no pattern may be slow: RE2 matches in time linear in the text, and in
/// return has no backreferences and no lookaround. A pattern matches Unicode code points anywhere in the text; `^` and `$`
/// anchor it, as in JSON Schema.
package final class Pattern: Sendable {
    /// The memory limit of a compiled pattern, including the automaton that it builds while matching.
    package static let memoryLimitInBytes = 4 << 20

    /// The pattern as it is written in the plan.
    package let source: String

    // Safe to share: it is set once, RE2 guarantees that any number of threads may match at once, and it is freed only in
    // `deinit`, when no thread can be matching any more.
    nonisolated(unsafe) private let compiled: OpaquePointer

    /// Compiles a pattern.
    ///
    /// - Throws: `PatternError` if RE2 cannot parse it, or it needs more than the memory limit.
    package init(_ source: String) throws(PatternError) {
        var utf8 = source
        var message = [CChar](repeating: 0, count: 256)
        let compiled = utf8.withUTF8 { bytes in
            bytes.withMemoryRebound(to: CChar.self) {
                cre2_compile($0.baseAddress, $0.count, Int64(Self.memoryLimitInBytes), &message, message.count)
            }
        }
        guard let compiled else {
            let reason = message.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
            throw PatternError(reason: String(decoding: reason, as: UTF8.self))
        }
        self.source = source
        self.compiled = compiled
    }

    deinit {
        cre2_free(compiled)
    }

    /// Whether the UTF-8 text contains a match.
    package func matches(_ text: UnsafeRawBufferPointer) -> Bool {
        cre2_matches(compiled, text.baseAddress?.assumingMemoryBound(to: CChar.self), text.count)
    }

    /// Whether the text contains a match.
    package func matches(_ text: String) -> Bool {
        var text = text
        return text.withUTF8 { matches(UnsafeRawBufferPointer($0)) }
    }
}

/// Why a pattern does not compile.
package struct PatternError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The code of the diagnostic for a plan with this pattern.
    package var code: String { "bad-pattern" }

    /// RE2's message, such as `missing ): (abc`.
    package let reason: String

    /// Always false: the same pattern fails again.
    package var isRetryable: Bool { false }

    /// RE2's message.
    package var description: String { reason }
}
