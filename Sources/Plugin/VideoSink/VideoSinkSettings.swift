import GStreamerKit
import SDLApp
import X264Encoder

/// The user's settings. The initial values are the properties' defaults.
struct VideoSinkSettings: AppElementSettings {
  var app = AppSettings()
  var rpcNotifications: [FunctionID] = []
  var appState = AppState.foreground
  var suspendPolicy = SuspendPolicy.auto
  var resizePolicy = ResizePolicy.renegotiate
  /// With ``maxHeight`` the largest picture, in pixels.
  var maxWidth: UInt32 = 4096
  var maxHeight: UInt32 = 2304
  /// Nil leaves it to the head unit.
  var videoFormats: VideoFormatList?
  /// Milliseconds; 0 is off.
  var keepAliveInterval: UInt32 = 500
  var notice = NoticeSettings()
  /// In pixels of the input; nil when never set.
  var hapticRectangles: [HapticRectangle]?
  var touch = TouchSettings()
  var keys = KeySettings()
  /// kbit/s; 0 is automatic.
  var bitrate: UInt32 = 0
  var bitratePolicy = BitratePolicy.headUnitMaximum
  /// Frames per second; nil is automatic.
  var maxFrameRate: Fraction?
  var link = LinkSettings()
  var encoder = RawEncoderSettings()
  /// Whether raw pictures that equal the one before are left out.
  var skipsUnchanged = true
  /// Whether a byte stream has the delimiter of the next picture at the end of each.
  var movesDelimiters = false
  var direction = VideoDirection.auto
  /// What the input's tag `image-orientation` says.
  var taggedTurn = PictureTurn.none

  /// The settings that the next frame needs.
  var frames: FrameSettings {
    FrameSettings(
      skipsUnchanged: skipsUnchanged, movesDelimiters: movesDelimiters, link: link, turn: direction.turn ?? taggedTurn)
  }

  var negotiation: VideoNegotiation.Settings {
    var settings = VideoNegotiation.Settings()
    settings.suspendPolicy = suspendPolicy
    settings.resizePolicy = resizePolicy
    settings.largestPicture = VideoSize(Int(maxWidth), Int(maxHeight))
    settings.streamingProtocols = videoFormats?.protocols
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

struct FrameSettings: Sendable {
  var skipsUnchanged: Bool
  var movesDelimiters: Bool
  var link: LinkSettings
  /// Of raw pictures.
  var turn: PictureTurn
}

/// The property `video-formats`: which streaming protocols may be used, in order of preference.
struct VideoFormatList: Equatable {
  /// As it was written.
  let text: String
  /// Not empty.
  let protocols: [VideoStreamingProtocol]

  /// Names with commas between them, in upper or lower case; nil for anything else.
  init?(_ text: String) {
    var protocols: [VideoStreamingProtocol] = []
    for name in text.split(separator: ",", omittingEmptySubsequences: false) {
      let name = name.trimmingSpaces.uppercased()
      guard let streamingProtocol = VideoStreamingProtocol(rawValue: name) else { return nil }
      if !protocols.contains(streamingProtocol) { protocols.append(streamingProtocol) }
    }
    self.text = text
    self.protocols = protocols
  }

  /// Parses the property's value; nil leaves the choice to the head unit.
  static func parse(_ text: String?) throws(InvalidPropertyValue) -> VideoFormatList? {
    guard let text else { return nil }
    guard let list = VideoFormatList(text) else {
      throw InvalidPropertyValue("\"\(text)\" is not raw, rtp, or both with a comma between them")
    }
    return list
  }
}

extension Substring {
  fileprivate var trimmingSpaces: Substring {
    let start = drop { $0 == " " }
    return start.dropLast(start.reversed().prefix { $0 == " " }.count)
  }
}

// MARK: Enumerations

extension ResizePolicy: ObjectEnumeration {
  package static let objectType = EnumerationType<ResizePolicy>("GstSdlVideoSinkResizePolicy")

  package var row: EnumerationRow {
    switch self {
    case .renegotiate: .init(0, "renegotiate", "Renegotiate to the new size")
    case .keep: .init(1, "keep", "Keep the current size until the service ends")
    case .error: .init(2, "error", "End with an error")
    }
  }
}

extension BitratePolicy: ObjectEnumeration {
  package static let objectType = EnumerationType<BitratePolicy>("GstSdlVideoSinkBitratePolicy")

  package var row: EnumerationRow {
    switch self {
    case .defaultCapped:
      .init(0, "default-capped", "From 600 kbit/s to 0.1 bit per pixel, up to the head unit's maximum")
    case .headUnitMaximum:
      .init(
        1, "head-unit-maximum", "The head unit's maximum, from 0.1 to 0.2 bit per pixel; 600 kbit/s if it states none")
    }
  }
}

extension SpeedPreset: ObjectEnumeration {
  package static let objectType = EnumerationType<SpeedPreset>("GstSdlVideoSinkSpeedPreset")

  package var row: EnumerationRow {
    switch self {
    case .none: .init(0, "none", "none")
    case .ultrafast: .init(1, "ultrafast", "ultrafast")
    case .superfast: .init(2, "superfast", "superfast")
    case .veryfast: .init(3, "veryfast", "veryfast")
    case .faster: .init(4, "faster", "faster")
    case .fast: .init(5, "fast", "fast")
    case .medium: .init(6, "medium", "medium")
    case .slow: .init(7, "slow", "slow")
    case .slower: .init(8, "slower", "slower")
    case .veryslow: .init(9, "veryslow", "veryslow")
    case .placebo: .init(10, "placebo", "placebo")
    }
  }
}

extension Fraction: FractionConvertible {
  package var terms: Structure.FractionTerms { (Int32(clamping: numerator), Int32(clamping: denominator)) }

  /// Nil for 0, which leaves the rate open.
  package init?(terms: Structure.FractionTerms) {
    self.init(Int(terms.numerator), Int(terms.denominator))
  }
}
