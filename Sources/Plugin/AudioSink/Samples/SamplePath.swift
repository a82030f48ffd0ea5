import GStreamerKit
import SDLApp
import SDLLink

/// What is kept between buffers, and the way of samples once they may be sent: shape them or refer to them.
///
/// Only the thread that has it through ``ExclusiveAccess`` may use it.
final class SamplePath {
  /// What of a buffer goes in one payload at most, for the sake of the pace and of those who wait.
  private static let longestPiece = Duration.milliseconds(100)
  /// Shorter buffers are sent together.
  private static let shortestPiece = Duration.milliseconds(10)

  private let sink: AudioSink
  /// Nil before the first caps.
  private(set) var format: PCMFormat?
  var timeline = SampleTimeline(format: PCMFormat())
  private(set) var shaper = SampleShaper(format: PCMFormat())
  var playout = SamplePlayout(lead: .zero)
  var linkDelay = LinkDelay()
  var delay = RenderDelay()
  private var liveness = UpstreamLiveness()
  /// Upstream sends another format than the head unit plays.
  var mismatch: AudioFormatMismatch?
  /// Short buffers that are not sent yet.
  private var pending: SamplePayload?
  /// Buffers with a part of a sample have been reported.
  var hasWarnedOfParts = false
  /// The grant for which samples were sent last.
  private var epoch: UInt32 = 0

  init(sink: AudioSink) {
    self.sink = sink
  }

  var isUpstreamLive: Bool { liveness.isLive(at: sink.pad) }

  /// In samples.
  var longestPiece: Int { max(timeline.format.sampleCount(in: Self.longestPiece), 1) }

  func setFormat(_ format: PCMFormat, volume: Double) {
    guard self.format != format else { return }
    self.format = format
    mismatch = nil
    timeline = SampleTimeline(format: format)
    shaper = SampleShaper(format: format, volume: volume)
  }

  /// The properties that may change at any time.
  func apply(_ settings: (lead: Duration, gain: Double)) {
    playout.lead = settings.lead
    if shaper.volume != settings.gain { shaper.setVolume(settings.gain) }
  }

  /// A grant is about to be used. With another one than before, the head unit begins to play anew.
  func use(_ grant: AudioGrant) {
    guard epoch != grant.epoch else { return }
    epoch = grant.epoch
    playout.reset()
    shaper.begin()
  }

  /// Samples are missing in front of the next.
  func bridge() {
    shaper.bridge()
  }

  /// A payload of part of a buffer. Nil if the samples wait for more, which ``takePending()`` has then; or if the buffer can't be
  /// mapped, with all samples given up.
  func payload(
    of buffer: UnsafeMutablePointer<GstBuffer>, _ bytes: UnsafeRawBufferPointer, _ range: Range<Int>, isSilence: Bool
  ) -> SamplePayload? {
    let format = timeline.format
    let byteRange =
      format.byteCount(ofSampleCount: range.lowerBound)..<format.byteCount(ofSampleCount: range.upperBound)
    let piece = UnsafeRawBufferPointer(rebasing: bytes[byteRange])
    let isShort = range.count < format.sampleCount(in: Self.shortestPiece)
    if !isShort, pending == nil, shaper.isNeutral, !isSilence {
      let payload = sink.payloads.take(for: sink)
      guard payload.refer(to: buffer, byteRange, sampleCount: range.count) else {
        sink.payloads.giveBack(payload)
        sink.counters.withLock { $0.samplesDropped(range.count, .discarded) }
        return nil
      }
      shaper.noteSent(piece)
      return payload
    }
    let payload = pending.take() ?? sink.payloads.take(for: sink)
    payload.append(byteCount: piece.count, sampleCount: range.count) { output in
      if isSilence { shaper.writeSilence(range.count, to: output) } else { shaper.shape(piece, to: output) }
    }
    guard format.sampleCount(ofByteCount: payload.byteCount) < format.sampleCount(in: Self.shortestPiece) else {
      return payload
    }
    pending = payload
    return nil
  }

  /// A payload of silence, with what waits in front of it.
  func silence(_ count: Int) -> SamplePayload {
    let payload = pending.take() ?? sink.payloads.take(for: sink)
    payload.append(byteCount: timeline.format.byteCount(ofSampleCount: count), silenceCount: count) {
      shaper.writeSilence(count, to: $0)
    }
    return payload
  }

  /// Short buffers that have waited for more.
  func takePending() -> SamplePayload? { pending.take() }

  /// - Parameter resetsTime: running time begins anew.
  func flush(resetsTime: Bool) {
    pending.take()?.giveUp(.discarded)
    mismatch = nil
    timeline.reset()
    bridge()
    if resetsTime { delay.reset(sink.baseSink) }
  }

  func end() {
    flush(resetsTime: true)
  }
}
