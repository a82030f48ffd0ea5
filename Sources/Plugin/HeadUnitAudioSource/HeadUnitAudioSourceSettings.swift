import GStreamerKit

/// What the user asked for.
struct HeadUnitAudioSourceSettings: HeadUnitElementSettings {
  var headUnit = HeadUnitSettings()
  var endsWithApp = false
  var silence = SilenceFilling.samples
  /// Milliseconds.
  var latency: UInt32 = 60
  /// Milliseconds.
  var playoutDelay: UInt32 = 0

  var headUnitVideo: HeadUnitVideoSettings? { nil }

  /// How late sound may come without a gap.
  var tolerance: Duration { .milliseconds(latency) }
}

/// What is pushed while no app sends sound: values of the property `silence`.
enum SilenceFilling: CaseIterable, Sendable {
  case samples
  case gapEvents
}

extension SilenceFilling: ObjectEnumeration {
  static let objectType = EnumerationType<SilenceFilling>("GstSdlHeadUnitAudioSrcSilence")

  var row: EnumerationRow {
    switch self {
    case .samples: .init(0, "samples", "Silent samples, as many as are missing")
    case .gapEvents: .init(1, "gap-events", "GAP events, and no samples")
    }
  }
}
