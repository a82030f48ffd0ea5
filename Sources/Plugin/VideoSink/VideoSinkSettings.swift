import GStreamerKit
import SDLApp
import X264Encoder

/// What the user asked for. The initial values are the properties' defaults.
struct VideoSinkSettings: AppSinkSettings {
  var app = AppSettings()
  var appState = AppState.foreground
  var suspendPolicy = SuspendPolicy.auto
  var resizePolicy = ResizePolicy.renegotiate
  /// Nil leaves it to the head unit.
  var videoFormats: VideoFormatList?
  /// Milliseconds; 0 is off.
  var keepAliveInterval: UInt32 = 500
  var notice = NoticeSettings()
  /// In pixels of the input; nil when never set.
  var hapticRectangles: [HapticRectangle]?
  var touch = TouchSettings()
  /// kbit/s; 0 is automatic.
  var bitrate: UInt32 = 0
  var bitratePolicy = BitratePolicy.defaultCapped
  /// Frames per second; nil is automatic.
  var maxFrameRate: Fraction?
  var link = LinkSettings()
  var encoder = RawEncoderSettings()
  /// Whether raw pictures that equal the one before are left out.
  var skipsUnchanged = true

  /// What the negotiation has to know.
  var negotiation: VideoNegotiation.Settings {
    var settings = VideoNegotiation.Settings()
    settings.suspendPolicy = suspendPolicy
    settings.resizePolicy = resizePolicy
    settings.transports = videoFormats?.transports
    settings.encoder = EncoderPreferences(
      bitrate: Int(bitrate), frameRate: maxFrameRate, automaticBitrate: bitratePolicy)
    return settings
  }

  /// The property `haptic-rectangles` as it is read.
  static func rows(_ rectangles: [HapticRectangle]?) -> [[Int32]] {
    (rectangles ?? []).map { rectangle in
      [rectangle.x, rectangle.y, rectangle.width, rectangle.height].map { Int32(exactly: $0) ?? 0 }
    }
  }

  /// The property `haptic-rectangles` as it is written.
  static func hapticRectangles(_ rows: [[Int32]]?) throws(InvalidPropertyValue) -> [HapticRectangle]? {
    guard let rows, rows.allSatisfy({ $0.count == 4 && $0[2] >= 0 && $0[3] >= 0 }) else {
      throw InvalidPropertyValue("each entry must be <x,y,width,height>, as in <<10,10,100,50>,<10,80,100,50>>")
    }
    // Where ids are equal, ``HapticRectangleList`` numbers the rectangles itself.
    return rows.map { row in
      HapticRectangle(id: 0, x: Double(row[0]), y: Double(row[1]), width: Double(row[2]), height: Double(row[3]))
    }
  }
}
