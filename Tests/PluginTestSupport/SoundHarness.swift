import CGStreamerApp
import GStreamerKit
import SDLHeadUnit
import SDLMessages
import Testing

/// Sound from the test, through the sink, to a head unit.
final class SoundHarness {
  let headUnit: TestHeadUnit
  let pipeline: Pipeline
  let source: SoundSource
  private let format: PCMFormat
  /// Samples that were pushed so far.
  private(set) var count = 0

  /// - Parameters:
  ///   - isLive: whether the source counts as live.
  ///   - isPlayer: see ``Pipeline/followBuffering()``; nil for what suits the source.
  ///   - properties: of the sink, as for gst-launch.
  ///   - between: elements between source and sink, each with an exclamation mark after it.
  init(
    _ configuration: HeadUnitConfiguration = .small(), isLive: Bool = false, isPlayer: Bool? = nil,
    format: PCMFormat = PCMFormat(), between: String = "", properties: String = "sync=false"
  ) throws {
    headUnit = try TestHeadUnit(configuration)
    self.format = format
    pipeline = try Pipeline(
      "appsrc name=src format=time max-bytes=0 is-live=\(isLive) ! \(between) sdlaudiosink name=sink uri=\(headUnit.uri) \(properties)"
    )
    if isPlayer ?? !isLive { try pipeline.followBuffering() }
    source = try SoundSource(pipeline, format)
    headUnit.otherEnd = { [weak pipeline] in "sink: \((try? pipeline?.sink.statistics.fields) ?? [:])" }
  }

  /// Nothing that a test does makes the sink keep what it was given.
  deinit {
    pipeline.stop()
    source.liveBuffers.expectNone()
  }

  /// Pushes sound in buffers of so many samples, with time stamps that follow each other.
  func push(_ bytes: [UInt8], bufferSize: Int = 320) {
    var rest = bytes[...]
    while !rest.isEmpty {
      let buffer = rest.prefix(bufferSize * format.sampleSize.byteCount)
      source.push(Array(buffer), at: format.duration(ofSampleCount: count))
      count += format.sampleCount(ofByteCount: buffer.count)
      rest = rest.dropFirst(buffer.count)
    }
  }

  /// Plays to the end, and returns what the head unit has heard.
  func finish() throws -> [UInt8] {
    source.end()
    try pipeline.waitForEnd()
    return headUnit.record.audio
  }

  var statistics: Statistics { get throws { try pipeline.sink.statistics } }

  /// The `sdl-stream-*` messages with their reasons, in order: `started first-start`.
  var streamMessages: [String] {
    pipeline.drain().compactMap { message in
      guard case .element(let name) = message.kind, name.hasPrefix("sdl-stream-") else { return nil }
      return "\(name.dropFirst("sdl-stream-".count)) \(message.fields["reason"] ?? "")"
    }
  }

  /// What the driver hears.
  func setAudible(_ state: AudioStreamingState) throws {
    let app = try headUnit.waitForApp()
    headUnit.server.control(.app(app)) { $0.setAudioStreaming(state, now: $1) }
  }
}

extension Statistics {
  /// Of sound: samples-in = samples-sent + every samples-dropped-* + samples-queued.
  var areSamplesConserved: Bool {
    let dropped = fields.keys.filter { $0.hasPrefix("samples-dropped-") }.map { self[$0] }.reduce(0, +)
    return self["samples-in"] >= 0
      && self["samples-in"] == self["samples-sent"] + dropped + self["samples-queued"]
  }
}
