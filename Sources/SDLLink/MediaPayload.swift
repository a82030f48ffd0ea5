/// One message of a service that carries media on its way to the socket, in memory blocks that it keeps valid: an access unit
/// (or RTP packet) of video, or a piece of sound.
///
/// A class, so that queueing allocates nothing; `Sendable`, because the connection thread may write what the streaming
/// thread has submitted. Blocks and sizes must not change until ``release(wasSent:)``. Their getters are called with the
/// connection's lock held, so they must neither block nor call the connection.
public protocol MediaPayload: AnyObject, Sendable {
  /// Number of memory blocks.
  var segmentCount: Int { get }
  /// One memory block, valid until ``release(wasSent:)``.
  func segment(at index: Int) -> UnsafeRawBufferPointer
  /// Bytes of all blocks together.
  var byteCount: Int { get }
  /// Called exactly once for each payload that was queued, on any thread and with no lock held: `wasSent` when the
  /// last byte is with the kernel, otherwise when the payload was discarded.
  func release(wasSent: Bool)
}

/// The result of ``MediaChannel/submit(_:grantEpoch:blocking:)``. With any but `queued` the payload still belongs to the
/// caller.
public enum SubmitResult: Equatable, Sendable {
  case queued
  /// The queue is full, and waiting was not asked for.
  case full
  /// ``MediaChannel/setFlushing(_:)`` is on.
  case flushing
  /// Nothing may be sent now: there is no grant, the service is about to end, or the connection is over.
  case closed
  /// The payload was made for another grant than the present one.
  case stale
}
