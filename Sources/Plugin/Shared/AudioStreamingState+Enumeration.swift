import GStreamerKit
import SDLMessages

/// Whether an app is heard, as a GObject enumeration.
extension AudioStreamingState: ObjectEnumeration {
  public static let objectType = EnumerationType<AudioStreamingState>("GstSdlAudioStreamingState")

  public var row: EnumerationRow {
    switch self {
    case .audible: .init(0, "audible", "The app is heard")
    case .attenuated: .init(1, "attenuated", "The app is heard, more quietly")
    case .notAudible: .init(2, "not-audible", "The app is not heard, and may not send sound")
    }
  }
}
