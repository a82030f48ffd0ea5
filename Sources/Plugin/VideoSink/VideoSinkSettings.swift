import GStreamerKit
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
  var autoReconnect = true
  /// Milliseconds.
  var startTimeout: UInt32 = 5000
  /// Milliseconds.
  var maxRetryInterval: UInt32 = 30_000
  /// Milliseconds.
  var legacyStartDelay: UInt32 = 250
  var appState = AppState.foreground
  var restartOnForeground = false
  var suspendPolicy = SuspendPolicy.auto
  var resizePolicy = ResizePolicy.renegotiate
  /// Nil leaves it to the head unit.
  var videoFormats: VideoFormatList?
  /// Values that were refused before there was anybody to tell.
  var refusals: [VideoSinkProperty: ElementError] = [:]
  /// Milliseconds; 0 is off.
  var keepAliveInterval: UInt32 = 500
  var hasBackgroundNotice = true
  var repeatsBackgroundNotice = false
  /// Nil is the usual wording.
  var backgroundText: String?
  /// In pixels of the input; nil when never set.
  var hapticRectangles: [HapticRectangle]?
  var syncedPanning = true
  var emulatesMouse = false
  var recognizesGestures = false
  /// kbit/s; 0 is automatic.
  var bitrate: UInt32 = 0
  var bitratePolicy = BitratePolicy.defaultCapped
  /// Frames per second; nil is automatic.
  var maxFrameRate: Fraction?
  var speedPreset = Self.defaultSpeedPreset
  /// Frames; 0 is automatic.
  var keyIntMax: UInt32 = 0
  var threads: UInt32 = 0
  var optionString = ""

  /// What the user would like of the encoder.
  var encoderPreferences: EncoderPreferences {
    EncoderPreferences(bitrate: Int(bitrate), frameRate: maxFrameRate, automaticBitrate: bitratePolicy)
  }

  /// Who the app is, for the head unit.
  var session: AppSession.Configuration {
    var session = AppSession.Configuration(
      appName: appName, appID: appID, appType: appType.hmiType, language: language)
    session.sessionTimeout = .milliseconds(Int64(connectTimeout))
    session.videoStartTimeout = .milliseconds(Int64(startTimeout))
    session.longestVideoRetry = .milliseconds(Int64(maxRetryInterval))
    session.legacyStartDelay = .milliseconds(Int64(legacyStartDelay))
    session.restartsOnForeground = restartOnForeground
    session.heartbeatInterval = heartbeatInterval == 0 ? nil : .milliseconds(Int64(heartbeatInterval))
    return session
  }

  /// The head unit to connect to.
  func headUnit() throws(HeadUnitURI.Malformed) -> HeadUnitURI {
    guard let uri else { return .builtIn(.standard) }
    return try HeadUnitURI(uri)
  }
}

/// What happens to frames while driver or app do not want video. Values of the property `suspend-policy`.
enum SuspendPolicy: Int32, CaseIterable {
  /// ``drop`` for live sources, ``requestPause`` for others.
  case auto
  case drop
  case block
  case requestPause

  /// What `auto` stands for.
  func resolved(isLive: Bool) -> SuspendPolicy {
    self == .auto ? (isLive ? .drop : .requestPause) : self
  }
}
