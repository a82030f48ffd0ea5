import GStreamerKit
import SDLHeadUnit

/// Values of the property `preset`.
enum HeadUnitPresetChoice: CaseIterable {
  case standard
  case core
  case genericHMI
  case legacy
  case hostile
  case bluetoothAndWiFi
  case listedInCore

  var configuration: HeadUnitConfiguration {
    switch self {
    case .standard: HeadUnitPreset.standard.configuration
    case .core: HeadUnitPreset.core.configuration
    case .genericHMI: HeadUnitPreset.genericHMI.configuration
    case .legacy: HeadUnitPreset.legacy.configuration
    case .hostile: HeadUnitPreset.hostile.configuration
    case .bluetoothAndWiFi: HeadUnitPreset.bluetoothAndWiFi.configuration
    case .listedInCore: HeadUnitPreset.listedInCore.configuration
    }
  }
}

extension HeadUnitPresetChoice: ObjectEnumeration {
  static let objectType = EnumerationType<HeadUnitPresetChoice>("GstSdlHeadUnitSrcPreset")

  var row: EnumerationRow {
    switch self {
    case .standard: .init(0, "default", "800×480, a plain H.264 byte stream")
    case .core: .init(1, "core", "SDL Core as it is shipped, for an app that its policies do not name: no touches")
    case .genericHMI: .init(2, "generic-hmi", "SDL's generic web HMI: 960×600, three scales")
    case .legacy: .init(3, "legacy", "Protocol 4, without a video capability")
    case .hostile: .init(4, "hostile", "Everything that was seen to go wrong, at once")
    case .bluetoothAndWiFi:
      .init(5, "bluetooth-and-wifi", "As default, with a secondary transport that video has to use")
    case .listedInCore: .init(6, "core-listed", "As core, for an app that the maker has listed: with touches")
    }
  }
}
