import GStreamerKit
import SDLMessages

/// HMI levels as a GObject enumeration, in properties and messages of app and head unit.
extension HMILevel: ObjectEnumeration {
  public static let objectType = EnumerationType<HMILevel>("GstSdlHMILevel")

  public var row: EnumerationRow {
    switch self {
    case .none: .init(0, "none", "The app is not in use")
    case .background: .init(1, "background", "The app is in the background")
    case .limited: .init(2, "limited", "Another screen is in front, video may run")
    case .full: .init(3, "full", "The app is in front")
    }
  }
}

