import SDLApp
import X264Encoder

/// What the user asked for.
struct VideoSinkSettings {
  static let defaultSpeedPreset = SpeedPreset.superfast

  var uri: String?
  var appName = "GStreamer"
  var appID = "gst-smartdevicelink"
  var appType = AppType.navigation
  var language = "EN-US"
  /// Milliseconds.
  var connectTimeout: UInt32 = 10_000
  /// Milliseconds; 0 is off.
  var heartbeatInterval: UInt32 = 0
  /// kbit/s.
  var bitrate: UInt32 = 600
  var speedPreset = Self.defaultSpeedPreset
  /// Frames; 0 is automatic.
  var keyIntMax: UInt32 = 0
  var threads: UInt32 = 0
  var optionString = ""

  /// Who the app is, for the head unit.
  var session: AppSession.Configuration {
    var session = AppSession.Configuration(
      appName: appName, appID: appID, appType: appType.hmiType, language: language)
    session.sessionTimeout = .milliseconds(Int64(connectTimeout))
    session.heartbeatInterval = heartbeatInterval == 0 ? nil : .milliseconds(Int64(heartbeatInterval))
    return session
  }

  /// The head unit to connect to.
  func headUnit() throws(HeadUnitURI.Malformed) -> HeadUnitURI {
    guard let uri else { return .builtIn(.standard) }
    return try HeadUnitURI(uri)
  }
}
