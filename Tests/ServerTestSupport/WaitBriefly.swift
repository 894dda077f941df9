/// Waits a moment before a test looks again at what another process has done, which cannot wake it.
///
/// A busy loop would take the processor from that process. Use it only for states that last until the test ends them: what the test finds
/// must not depend on how long the moment is.
///
/// - Throws: `CancellationError` once the test's time limit has passed.
package func waitBriefly() async throws {
    try await Task.sleep(for: .milliseconds(50))
}
