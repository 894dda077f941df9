/// Waits a moment before a test looks again at what another process has done, which cannot wake it.
///
/// A test that looked all the time would take the processor from the process that it waits for. What it waits for never depends on how
/// long the moment is.
///
/// - Throws: `CancellationError` once the test's time limit has passed.
package func waitBriefly() async throws {
    try await Task.sleep(for: .milliseconds(50))
}
