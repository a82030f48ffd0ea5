import GStreamerKit

/// The table of properties (``PropertyOwner``).
extension HeadUnitAudioSource {
  /// Applications set these before the element starts, which fails if one of them can't be used.
  static var keepsRefusalsUntilStart: Bool { true }

  static let properties: PropertyList<HeadUnitAudioSource> = [
    .address, .port, .currentPort, .preset, .make, .model, .sound,
    .enumeration(
      "silence", \.silence, "Silence", "What is pushed while no app sends sound", .mutableReady),
    .unsigned(
      "latency", \.latency, 0...10_000, "Latency",
      "How late sound may come without a gap, in milliseconds; it is played so much later", .mutableReady),
    .strict, .endsWithApp("End the stream when the app whose sound was pushed last has gone"), .hmiLevel,
    .audioStreaming, .script, .apps, .violations,
    .structure(
      "sdl-stats", "SDL statistics",
      "Counters of this element (application/x-sdl-stats): samples-in = samples-out + every samples-dropped-* + samples-queued; …"
    ) { $0.statistics.structure(queued: "samples-queued") },
    .secondaryPort, .currentSecondaryPort, .videoTransports, .audioTransports,
    .unsigned(
      "playout-delay", \.playoutDelay, 0...10_000, "Playout delay",
      "How long the car keeps sound before it plays it, in milliseconds: so much later than the picture it is heard, and so much later it may come without a gap",
      .mutableReady),
  ]
}
