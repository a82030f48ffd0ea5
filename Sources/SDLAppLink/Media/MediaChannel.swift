import SDLApp
import SDLLink

/// Counters of a ``MediaChannel``, over all attempts to connect: accepted payloads = sent + discarded + queued.
package struct MediaChannelStatistics: Equatable, Sendable {
  package var sentMessages: UInt64 = 0
  /// Payload bytes of those messages, without SDL headers.
  package var sentByteCount: UInt64 = 0
  /// Queued, but not sent: the grant or the connection ended.
  package var discardedMessages: UInt64 = 0
  /// From ``MediaChannel/submit(_:grantEpoch:blocking:)`` to the kernel, of the last message: grows when the network is
  /// too slow for the bitrate.
  package var lastDwellTime: Duration = .zero
  package var longestDwellTime: Duration = .zero
  package var queuedFrames = 0
  package var queuedByteCount = 0

  package init() {}
}

/// The path of video, or of sound, to the head unit, for any thread: a short queue that is written at once as long as
/// the kernel takes its bytes.
///
/// It lives as long as its ``AppConnection`` and serves one stream after the other. A grant is the permission to send,
/// and only payloads for the present one are accepted; when it ends, queued payloads are discarded and released.
package final class MediaChannel: Sendable {
  private let medium: ConnectionWriter.Medium
  private let writer: ConnectionWriter
  /// The thread on which the connection calls its observer: nothing waits there, because only this thread could end the
  /// wait.
  private let thread: WorkerThread

  init(_ medium: ConnectionWriter.Medium, writer: ConnectionWriter, thread: WorkerThread) {
    self.medium = medium
    self.writer = writer
    self.thread = thread
  }

  /// Offers a payload, and writes it at once if that needs no waiting; then payloads are released on this thread.
  ///
  /// With `blocking`, waits while the queue is full, or an end of the service may be called off; ``setFlushing(_:)``
  /// ends that, as does the loss of the grant. It does not wait in a callback of the connection's observer.
  ///
  /// - Parameters:
  ///   - payload: belongs to the connection after the result ``SubmitResult/queued``; with any other it stays the
  ///     caller's.
  ///   - grantEpoch: `VideoGrant.epoch` or `AudioGrant.epoch` of the grant that the payload was made for.
  ///   - blocking: Whether to wait for room.
  package func submit(_ payload: any MediaPayload, grantEpoch: UInt32, blocking: Bool) -> SubmitResult {
    submit(payload, grantEpoch: grantEpoch, blocking: blocking, samplesLink: false).result
  }

  /// The same; also returns the time when the payload was queued and, with `samplesLink`, a sample of the link after
  /// that.
  package func submit(
    _ payload: any MediaPayload, grantEpoch: UInt32, blocking: Bool, samplesLink: Bool
  ) -> Submission {
    let first = writer.submit(payload, to: medium, grantEpoch: grantEpoch, waits: false, samplesLink: samplesLink)
    guard first.result.mayPass, blocking, !thread.isCurrent else { return first }
    return writer.submit(payload, to: medium, grantEpoch: grantEpoch, waits: true, samplesLink: samplesLink)
  }

  /// Whether all queued payloads are with the kernel.
  package var isEmpty: Bool { writer.read(medium) { $0.isEmpty } }

  /// Whether a payload that is offered now would have to wait: a live source may save the work of making it.
  package var isFull: Bool { writer.read(medium) { $0.isFull } }

  /// Sets whether pictures or sound are held back or dropped until the peer has acknowledged what was sent before. One
  /// that acknowledges nothing for long counts as one that does not read then, although nothing is queued.
  ///
  /// Cheap enough for each picture and each piece of sound.
  package func setAwaitsAcknowledgement(_ isAwaiting: Bool) {
    writer.setAwaitsAcknowledgement(isAwaiting, medium)
  }

  /// While on, nothing waits and ``submit(_:grantEpoch:blocking:)`` takes nothing. Queued payloads stay queued.
  package func setFlushing(_ isFlushing: Bool) {
    writer.change(medium) { $0.isFlushing = isFlushing }
  }

  /// Waits until all queued bytes are with the kernel, though not in a callback of the connection's observer.
  ///
  /// - Returns: False after `timeout`, when payloads were discarded, and at once while flushing with a queue that is
  ///   not empty.
  package func waitUntilDrained(timeout: Duration) -> Bool {
    let deadline = MonotonicClock.now + (thread.isCurrent ? .zero : timeout)
    let discardedBefore = statistics.discardedMessages
    return writer.wait(for: medium, until: deadline) { state -> Bool? in
      if state.statistics.discardedMessages != discardedBefore { return false }
      if state.isEmpty { return true }
      return state.isFlushing ? false : nil
    } ?? false
  }

  /// A sample of the kernel's state of the service's transport, for ``RateController``; nil without a connection.
  ///
  /// Cheap enough to be asked for twice per frame. On any thread.
  package func linkSample() -> LinkSample? { writer.linkSample(of: medium) }

  /// The same, and ``isFull`` at that moment.
  package func linkSampleAndIsFull() -> (sample: LinkSample?, isFull: Bool) {
    writer.readWithLink(medium) { ($1, $0.isFull) }
  }

  /// The same, and the queued bytes at that moment.
  package func linkSampleAndQueuedByteCount() -> (sample: LinkSample?, queuedByteCount: Int) {
    writer.readWithLink(medium) { ($1, $0.statistics.queuedByteCount) }
  }

  package var statistics: MediaChannelStatistics { writer.read(medium) { $0.statistics } }
}

/// One message of a service that carries media on its way to the socket, in memory blocks that it keeps valid: an
/// access unit of video (as it is, or as its RTP packets), or a piece of sound.
///
/// A class, so that queueing allocates nothing; `Sendable`, because the connection thread may write what the streaming
/// thread has submitted. Blocks and sizes must not change until ``release(wasSent:)``. Their getters are called with
/// the connection's lock held, so they must neither block nor call the connection.
package protocol MediaPayload: AnyObject, Sendable {
  var segmentCount: Int { get }
  /// One memory block, valid until ``release(wasSent:)``.
  func segment(at index: Int) -> UnsafeRawBufferPointer
  var byteCount: Int { get }
  /// Called exactly once for each payload that was queued, on any thread and with no lock held: `wasSent` when the
  /// last byte is with the kernel, otherwise when the payload was discarded.
  func release(wasSent: Bool)
}

package struct Submission: Sendable {
  package var result: SubmitResult
  /// When it was queued, before any of it was written; the present time if it was not.
  package var time: Duration
  /// Nil unless it was asked for, the payload was queued, and there is a connection.
  package var link: LinkSample?
}

/// The result of ``MediaChannel/submit(_:grantEpoch:blocking:)``. With any but `queued` the payload still belongs to
/// the caller.
package enum SubmitResult: Equatable, Sendable {
  case queued
  /// The queue is full, and `blocking` is false.
  case full
  /// The service is about to end, which may be called off, and `blocking` is false.
  case ending
  /// ``MediaChannel/setFlushing(_:)`` is on.
  case flushing
  /// Nothing may be sent now: there is no grant, or the connection is over.
  case closed
  /// The payload was made for another grant than the present one.
  case stale

  /// Whether the same payload may be taken later.
  var mayPass: Bool { self == .full || self == .ending }
}
