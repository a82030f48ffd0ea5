import GStreamerKit
import SDLHeadUnit
import SDLMessages

/// Values of the property `preset` of `sdlheadunitsrc`.
enum HeadUnitSourcePreset: Int32, CaseIterable {
  case standard
  case core
  case genericHMI
  case legacy
  case hostile

  var configuration: HeadUnitConfiguration {
    switch self {
    case .standard: HeadUnitPreset.standard.configuration
    case .core: HeadUnitPreset.core.configuration
    case .genericHMI: HeadUnitPreset.genericHMI.configuration
    case .legacy: HeadUnitPreset.legacy.configuration
    case .hostile: HeadUnitPreset.hostile.configuration
    }
  }
}

/// The GObject enumerations of the element, registered on first use.
enum HeadUnitSourceEnums {
  static let preset = EnumType.register(
    "GstSdlHeadUnitSrcPreset",
    [
      (HeadUnitSourcePreset.standard.rawValue, "800×480, a plain H.264 byte stream", "default"),
      (HeadUnitSourcePreset.core.rawValue, "SDL Core as it is shipped: 800×380 and further sizes", "core"),
      (HeadUnitSourcePreset.genericHMI.rawValue, "SDL's generic web HMI: 960×600, three scales", "generic-hmi"),
      (HeadUnitSourcePreset.legacy.rawValue, "Protocol 4, without a video capability", "legacy"),
      (HeadUnitSourcePreset.hostile.rawValue, "Everything that was seen to go wrong, at once", "hostile"),
    ])
}
