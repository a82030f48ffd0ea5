import GStreamerKit
import SDLApp

/// Makes payloads of samples: references to their buffer, shaped copies, or several short buffers together.
///
/// Only the thread that has the ``SamplePath`` may use it.
struct SamplePacker {
  /// Shorter buffers are sent together.
  private static let shortestPiece = Duration.milliseconds(10)

  private let sink: AudioSink
  private var shaper = SampleShaper(format: PCMFormat())
  /// Short buffers that are not sent yet.
  private var pending: SamplePayload?
  private var spare: [SamplePayload] = []

  init(sink: AudioSink) {
    self.sink = sink
  }

  private var format: PCMFormat { shaper.format }

  /// Takes over payloads that came back from the connection, and the volume.
  mutating func update(_ shared: inout SampleState) {
    if spare.isEmpty { swap(&spare, &shared.payloads) }
    if shaper.volume != shared.gain { shaper.setVolume(shared.gain) }
  }

  /// Nothing may be pending.
  mutating func setFormat(_ format: PCMFormat) {
    shaper = SampleShaper(format: format, volume: shaper.volume)
  }

  /// Samples are missing between the last one and the next.
  mutating func bridge() {
    shaper.bridge()
  }

  /// The head unit begins to play.
  mutating func begin() {
    shaper.begin()
  }

  mutating func flush() {
    pending.take()?.giveUp(.discarded)
    shaper.bridge()
  }

  var hasPending: Bool { pending != nil }

  /// Short buffers that wait for more.
  mutating func takePending() -> SamplePayload? { pending.take() }

  /// A payload of part of a buffer. Nil if the samples wait for more, or are given up because the buffer can't be
  /// mapped.
  mutating func payload(
    of buffer: UnsafeMutablePointer<GstBuffer>, _ bytes: UnsafeRawBufferPointer, _ range: Range<Int>, isSilence: Bool
  ) -> SamplePayload? {
    let byteRange =
      format.byteCount(ofSampleCount: range.lowerBound)..<format.byteCount(ofSampleCount: range.upperBound)
    let piece = UnsafeRawBufferPointer(rebasing: bytes[byteRange])
    let shortest = format.sampleCount(in: Self.shortestPiece)
    if range.count >= shortest, pending == nil, shaper.isNeutral, !isSilence {
      let payload = takePayload()
      guard payload.refer(to: buffer, byteRange, sampleCount: range.count) else {
        payload.giveUp(.discarded)
        sink.count { $0.samplesDropped(range.count, .discarded) }
        return nil
      }
      shaper.noteSent(piece)
      return payload
    }
    let payload = pending.take() ?? takePayload()
    payload.append(byteCount: piece.count, sampleCount: range.count) { output in
      if isSilence { shaper.writeSilence(range.count, to: output) } else { shaper.shape(piece, to: output) }
    }
    guard format.sampleCount(ofByteCount: payload.byteCount) < shortest else { return payload }
    pending = payload
    return nil
  }

  /// A payload of silence, with the waiting samples in front of it.
  mutating func silence(_ count: Int) -> SamplePayload {
    let payload = pending.take() ?? takePayload()
    payload.append(byteCount: format.byteCount(ofSampleCount: count), silenceCount: count) {
      shaper.writeSilence(count, to: $0)
    }
    return payload
  }

  private mutating func takePayload() -> SamplePayload {
    let payload = spare.popLast() ?? SamplePayload()
    payload.begin(for: sink)
    return payload
  }
}
