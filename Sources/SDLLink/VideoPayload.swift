/// One access unit (or RTP packet) of video on its way to the socket, in memory blocks that somebody else owns.
///
/// A class, so that queueing allocates nothing; `Sendable`, because the connection thread may write what the streaming
/// thread has brought. Blocks and sizes must not change until ``release(wasSent:)``; they are asked for with a lock held
/// that nobody else may have to wait for.
public protocol VideoPayload: AnyObject, Sendable {
  /// Number of memory blocks.
  var segmentCount: Int { get }
  /// One memory block, valid until ``release(wasSent:)``.
  func segment(at index: Int) -> UnsafeRawBufferPointer
  /// Bytes of all blocks together.
  var byteCount: Int { get }
  /// Whether a decoder can begin here.
  var isKeyFrame: Bool { get }
  /// Called exactly once for each payload that was queued, on any thread and with no lock held: `wasSent` when the
  /// last byte is with the kernel, otherwise when the payload was discarded.
  func release(wasSent: Bool)
}

/// What became of a payload that was offered. With anything but `queued` it still belongs to the caller.
public enum SubmitResult: Equatable, Sendable {
  case queued
  /// The queue is full, and waiting was not asked for.
  case full
  /// `setFlushing(true)` is in force.
  case flushing
  /// No video may be sent now: there is no grant, it is about to be given back, or the connection is over.
  case closed
  /// The payload was made for another grant than the present one.
  case stale
}
