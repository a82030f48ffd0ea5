import SDLWire

/// Width and height of a picture or of a display, in pixels (`ImageResolution`).
package struct VideoSize: Hashable, Sendable, CustomStringConvertible {
  package var width: Int
  package var height: Int

  package init(_ width: Int, _ height: Int) {
    self.width = width
    self.height = height
  }

  /// Nil unless both sides are there and within 1…10000, the specification's range.
  init?(json: JSONValue?) {
    guard let object = json?.object,
      let width = object["resolutionWidth"]?.integer, (1...10_000).contains(width),
      let height = object["resolutionHeight"]?.integer, (1...10_000).contains(height)
    else { return nil }
    self.init(width, height)
  }

  var json: JSONValue { .object(["resolutionWidth": .integer(width), "resolutionHeight": .integer(height)]) }

  /// "800×480".
  package var description: String { "\(width)×\(height)" }
}

/// A protocol and a codec for video (`VideoStreamingFormat`); as text, because head units also list formats that are
/// unknown here.
package struct VideoStreamingFormat: Hashable, Sendable, CustomStringConvertible {
  package var videoProtocol: String
  package var codec: String

  /// Creates a format from the names in `VideoStreamingProtocol` and `VideoStreamingCodec`.
  package init(videoProtocol: String, codec: String) {
    self.videoProtocol = videoProtocol
    self.codec = codec
  }

  /// H.264 byte stream, one access unit after the other.
  package static let rawH264 = VideoStreamingFormat(videoProtocol: "RAW", codec: "H264")
  /// H.264 in RTP packets (RFC 6184) framed by RFC 4571.
  package static let rtpH264 = VideoStreamingFormat(videoProtocol: "RTP", codec: "H264")

  /// "H264 over RAW".
  package var description: String { "\(codec) over \(videoProtocol)" }
}

/// The video that a head unit can show (`VideoStreamingCapability`). Every member may be absent; in an update, absent
/// means unchanged.
package struct VideoStreamingCapability: RPCParameters {
  /// Display area in head-unit pixels.
  package var preferredResolution: VideoSize?
  /// Kilobits per second.
  package var maxBitrate: Int?
  /// In the head unit's order of preference.
  package var supportedFormats: [VideoStreamingFormat]?
  package var hapticSpatialDataSupported: Bool?
  /// Inches.
  package var diagonalScreenSize: Double?
  package var pixelPerInch: Double?
  /// The factor by which the head unit enlarges the video. The specification allows 1…10; other numbers are kept as
  /// they are.
  package var scale: Double?
  /// Frames per second.
  package var preferredFPS: Int?
  /// Further sizes that the head unit can show.
  package var additionalCapabilities: [VideoStreamingCapability]?
  /// The last list of additional capabilities that an update has replaced without sending another
  /// (``updated(by:)``). Not part of the JSON.
  package var formerCapabilities: [VideoStreamingCapability] = []
  /// How many additional capabilities were received beyond ``maximumAdditionalCapabilities``, and not read.
  package internal(set) var unreadCapabilityCount = 0

  /// The most additional capabilities that are read; the specification allows 100.
  package static let maximumAdditionalCapabilities = 100
  /// The most formats that are read; five protocols times five codecs are specified.
  private static let maximumFormats = 100

  package init() {}

  package init(json: JSONObject) {
    self.init(json: json, allowsAdditional: true)
  }

  private init(json: JSONObject, allowsAdditional: Bool) {
    preferredResolution = VideoSize(json: json["preferredResolution"])
    maxBitrate = json.integer("maxBitrate", in: 0...Int(Int32.max))
    supportedFormats = json["supportedFormats"]?.array?.prefix(Self.maximumFormats).compactMap { format in
      guard let videoProtocol = format.object?["protocol"]?.string, let codec = format.object?["codec"]?.string else {
        return nil
      }
      return VideoStreamingFormat(videoProtocol: videoProtocol.printable(limit: 50), codec: codec.printable(limit: 50))
    }
    hapticSpatialDataSupported = json["hapticSpatialDataSupported"]?.bool
    diagonalScreenSize = json.number("diagonalScreenSize", in: 0...)
    pixelPerInch = json.number("pixelPerInch", in: 0...)
    scale = json["scale"]?.number
    preferredFPS = json.integer("preferredFPS", in: 0...Int(Int32.max))
    guard allowsAdditional else { return }
    // Nested lists are forbidden by SDL-0332; reading one level bounds the recursion as well.
    guard let additional = json["additionalVideoStreamingCapabilities"]?.array else { return }
    additionalCapabilities = additional.prefix(Self.maximumAdditionalCapabilities)
      .compactMap { $0.object.map { Self(json: $0, allowsAdditional: false) } }
    unreadCapabilityCount = max(additional.count - Self.maximumAdditionalCapabilities, 0)
  }

  package var json: JSONObject {
    JSONObject(present: [
      "preferredResolution": preferredResolution?.json,
      "maxBitrate": maxBitrate.map(JSONValue.integer),
      "supportedFormats": supportedFormats.map { formats in
        .array(formats.map { .object(["protocol": .string($0.videoProtocol), "codec": .string($0.codec)]) })
      },
      "hapticSpatialDataSupported": hapticSpatialDataSupported.map(JSONValue.bool),
      "diagonalScreenSize": diagonalScreenSize.map(JSONValue.number),
      "pixelPerInch": pixelPerInch.map(JSONValue.number),
      "scale": scale.map(JSONValue.number),
      "preferredFPS": preferredFPS.map(JSONValue.integer),
      "additionalVideoStreamingCapabilities": additionalCapabilities.map { .array($0.map { .object($0.json) }) },
    ])
  }
}

/// Partial updates, in which a missing member is unchanged (RPC specification, OnSystemCapabilityUpdated).
extension VideoStreamingCapability {
  /// This capability with the members that `update` has.
  ///
  /// A new size without a list ends the list of before, because its sizes belong to another layout of the screen. That
  /// list becomes ``formerCapabilities``, until the head unit sends another one.
  package func updated(by update: VideoStreamingCapability) -> VideoStreamingCapability {
    var merged = replacingOwnMembers(by: update)
    if let additional = update.additionalCapabilities {
      merged.additionalCapabilities = additional
      merged.formerCapabilities = []
      merged.unreadCapabilityCount = update.unreadCapabilityCount
    } else if merged.preferredResolution != preferredResolution {
      merged.additionalCapabilities = nil
      // An update that combines several may itself have replaced a list, which then is the newer one.
      merged.formerCapabilities =
        update.formerCapabilities.isEmpty ? additionalCapabilities ?? formerCapabilities : update.formerCapabilities
      merged.unreadCapabilityCount = 0
    }
    return merged
  }

  /// Without the lists.
  private func replacingOwnMembers(by update: VideoStreamingCapability) -> VideoStreamingCapability {
    var merged = self
    merged.preferredResolution = update.preferredResolution ?? preferredResolution
    merged.maxBitrate = update.maxBitrate ?? maxBitrate
    merged.supportedFormats = update.supportedFormats ?? supportedFormats
    merged.hapticSpatialDataSupported = update.hapticSpatialDataSupported ?? hapticSpatialDataSupported
    merged.diagonalScreenSize = update.diagonalScreenSize ?? diagonalScreenSize
    merged.pixelPerInch = update.pixelPerInch ?? pixelPerInch
    merged.scale = update.scale ?? scale
    merged.preferredFPS = update.preferredFPS ?? preferredFPS
    return merged
  }
}
