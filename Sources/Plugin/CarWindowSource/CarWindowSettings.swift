import CarWindow
import GStreamerKit

struct CarWindowSettings: PropertySettings {
  var command = ""
  var environment = ""
  var workingDirectory: String?
  var display: String?
  var injectsInput = false
  var maximumWidth: UInt32 = 1920
  var maximumHeight: UInt32 = 1080
  var touchMode = CarWindowTouchMode.gestures
  var showsPointer = false
  var start = CarWindowStart.atOnce
  var restarts = false
  var haptics = CarWindowHaptics.auto

  var maximumSize: ScreenSize { ScreenSize(Int(maximumWidth), Int(maximumHeight)) }

  /// Words as a shell splits them, without variables and patterns; none for an empty text.
  static func words(_ text: String) throws(InvalidPropertyValue) -> [String] {
    guard !text.allSatisfy(\.isWhitespace) else { return [] }
    var count: gint = 0
    var list: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
    var error: UnsafeMutablePointer<GError>?
    guard g_shell_parse_argv(text, &count, &list, &error) != 0, let list else {
      defer { g_clear_error(&error) }
      throw InvalidPropertyValue("\(error.map { String(cString: $0.pointee.message) } ?? "it is no command"): \(text)")
    }
    defer { g_strfreev(list) }
    return (0..<Int(count)).compactMap { list[$0].map { String(cString: $0) } }
  }

  /// Environment variables from words such as `LANG=de_DE.UTF-8`.
  static func variables(_ text: String) throws(InvalidPropertyValue) -> [String: String] {
    var variables: [String: String] = [:]
    for word in try words(text) {
      let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      guard parts.count == 2, !parts[0].isEmpty else {
        throw InvalidPropertyValue("'\(word)' is not of the form NAME=VALUE")
      }
      variables[String(parts[0])] = String(parts[1])
    }
    return variables
  }
}

enum CarWindowStart: ObjectEnumeration {
  case atOnce
  case whenShown

  static let objectType = EnumerationType<CarWindowStart>("GstSdlCarWindowStart")

  var row: EnumerationRow {
    switch self {
    case .atOnce: .init(0, "at-once", "As soon as the size of the screen is known")
    case .whenShown: .init(1, "when-shown", "When sdlvideosink says that the driver sees the picture")
    }
  }
}

/// Whether the program's items become haptic rectangles.
enum CarWindowHaptics: ObjectEnumeration {
  case auto
  case none

  static let objectType = EnumerationType<CarWindowHaptics>("GstSdlCarWindowHaptics")

  var row: EnumerationRow {
    switch self {
    case .auto: .init(0, "auto", "Read focusable items from AT-SPI if the head unit wants them")
    case .none: .init(1, "none", "None")
    }
  }
}

/// The effect of several fingers on programs, which know only a pointer.
enum CarWindowTouchMode: ObjectEnumeration {
  case gestures
  case pointer

  static let objectType = EnumerationType<CarWindowTouchMode>("GstSdlCarWindowTouchMode")

  var row: EnumerationRow {
    switch self {
    case .gestures: .init(0, "gestures", "Two fingers turn the wheel, with Ctrl if they pinch")
    case .pointer: .init(1, "pointer", "The first finger is the pointer, others are ignored")
    }
  }
}
