import GStreamerKit
import SDLMessages

/// HMI levels as a GObject enumeration, in properties and messages of app and head unit.
extension HMILevel {
  static let enumeration = EnumType.register(
    "GstSdlHMILevel",
    [
      (HMILevel.none.enumValue, "The app is not in use", "none"),
      (HMILevel.background.enumValue, "The app is in the background", "background"),
      (HMILevel.limited.enumValue, "Another screen is in front, video may run", "limited"),
      (HMILevel.full.enumValue, "The app is in front", "full"),
    ])

  /// The value in the enumeration.
  var enumValue: Int32 {
    switch self {
    case .none: 0
    case .background: 1
    case .limited: 2
    case .full: 3
    }
  }

  init?(enumValue: Int32) {
    guard let level = Self.allCases.first(where: { $0.enumValue == enumValue }) else { return nil }
    self = level
  }
}
