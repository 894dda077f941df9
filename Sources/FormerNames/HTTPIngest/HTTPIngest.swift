@_exported public import SluiceHTTP

/// The former name of `IngestServer`.
@available(*, deprecated, renamed: "IngestServer")
public typealias HTTPIngestServer = IngestServer
/// The former name of `IngestConfiguration`.
@available(*, deprecated, renamed: "IngestConfiguration")
public typealias HTTPIngestConfiguration = IngestConfiguration
/// The former name of `IngestError`.
@available(*, deprecated, renamed: "IngestError")
public typealias HTTPIngestError = IngestError
