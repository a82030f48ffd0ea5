import GStreamerKit
import SDLHeadUnit
import SDLMessages

extension HeadUnitSource {
  static let properties = PropertyList<HeadUnitSource>(
    Property.headUnit,
    // Capability of the screen.
    .text(
      "screen-size", \.effectiveScreen, "Screen size",
      "Size of the screen in pixels, WIDTHxHEIGHT with sides of 1 to 10000; a change tells the apps to resize; if set, the preset's additional sizes are not offered",
      .mutablePlaying, parse: parseSize, text: { $0?.text },
      changed: { element in
        element.changeVideo { $0.resize(to: $1.screen, scale: nil, now: $2) }
      }),
    .text(
      "additional-sizes", \.effectiveAdditionalSizes, "Additional sizes",
      "Further sizes that apps may choose, such as \"480x320, 800x480@1.5\": WIDTHxHEIGHT, optionally with @SCALE",
      .mutableReady, parse: parseSizes, text: { ($0 ?? []).map(\.description).joined(separator: ", ") }),
    .double(
      "scale", \.effectiveScale, 0...10, "Scale",
      "Factor by which the head unit enlarges the video, 1 to 10; 0 announces none", .mutableReady),
    .double(
      "diagonal", \.effectiveDiagonal, 0...1000, "Diagonal",
      "Diagonal of the screen in inches; 0 announces none", .mutableReady),
    .double(
      "pixel-density", \.effectivePixelDensity, 0...10_000, "Pixel density",
      "Pixels per inch; 0 announces none", .mutableReady),
    .text(
      "formats", \.effectiveFormats, "Formats",
      "Accepted formats, in order of preference, such as \"RTP/H264, RAW/H264\"; only video in H264 is output",
      .mutableReady, parse: parseFormats, text: { ($0 ?? []).map(\.text).joined(separator: ", ") }),
    .unsigned(
      "max-bitrate", \.effectiveMaxBitrate, 0...UInt32(Int32.max), "Maximum bitrate",
      "Bitrate that apps may not exceed, in kbit/s; 0 sets no limit; subscribed apps are notified of changes",
      .mutablePlaying,
      changed: { element in
        element.update { $0.maxBitrate = $1?.maxBitrate ?? 0 }
      }),
    .unsigned(
      "framerate", \.effectiveFrameRate, 0...1000, "Frame rate",
      "Frames per second that apps may not exceed; 0 sets no limit; subscribed apps are notified of changes",
      .mutablePlaying,
      changed: { element in
        element.update { $0.preferredFPS = $1?.preferredFPS ?? 0 }
      }),
    .boolean(
      "haptics", \.effectiveHaptics, "Haptics",
      "Whether the head unit requests touchable rectangles", .mutableReady),
    // Encryption.
    .enumeration(
      "encryption", \.video.encryption, "Encryption",
      "How encrypted and clear starts of video and sound are answered",
      .mutableReady),
    .boolean(
      "rpc-encryption", \.video.requiresRPCEncryption, "RPC encryption",
      "Whether apps must encrypt RPCs as well, unless encryption is refused", .mutableReady),
    .pem(
      "certificate", \.video.tls.certificate, "Certificate",
      "PEM file, or PEM text, with the head unit's certificate, for apps that ask for one"),
    .pem(
      "private-key", \.video.tls.privateKey, "Private key",
      "PEM file, or PEM text, with the key of the certificate; unset: it is read from certificate; text is never read back"
    ),
    .passphrase(\.video.tls.passphrase.text),
    .pem(
      "ca-certificates", \.video.tls.authorities, "CA certificates",
      "PEM file, or PEM text, with the authorities, one of which must have signed an app's certificate; unset: any certificate is accepted"
    ),
    .enumeration(
      "tls-role", \.video.tls.role, "TLS role",
      "Role of the head unit in the TLS handshake; a server needs a certificate, asks for one only if ca-certificates is set, and its apps need tls-role=client",
      .mutableReady),
    .enumeration(
      "tls-protocol", \.video.tls.variant, "TLS protocol",
      "Protocol of the head unit as TLS client", .mutableReady),
    // How it treats apps.
    .text(
      "grant", \.video.grants, "Grant",
      "Functional groups of SDL Core's policies that apps get beside those of the preset, such as \"Notifications, Emergency-1\"",
      .mutableReady, parse: parseGroups, text: { $0.map(\.rawValue).sorted().joined(separator: ", ") }),
    .boolean(
      "video-streamable", \.video.isStreamable, "Video streamable",
      "Whether the app on the screen may stream video in the levels full and limited", .mutablePlaying,
      changed: { source in
        source.run?.headUnit?.changeStatus { $0.video?.isStreamable = source.settings.current.video.isStreamable }
      }),
    .endsWithApp(
      "End the stream when the app whose video was output last has disconnected; before any video, when an app that streamed sound has"
    ),
    .structure(
      "sdl-stats", "SDL statistics",
      "Counters of this element (application/x-sdl-stats): frames-in = frames-out + every frames-dropped-* + frames-queued; …"
    ) { $0.statistics }
  )

  static func check(_ settings: HeadUnitElementSettings) throws(InvalidPropertyValue) {
    if let scale = settings.video.scale, scale > 0, scale < 1 { throw InvalidPropertyValue("\(scale) is below 1") }
  }

  private func changeVideo(
    _ input: @escaping @Sendable (inout HeadUnitSession, HeadUnitConfiguration, Duration) -> [HeadUnitSession.Action]
  ) {
    run?.headUnit?.changeVideo(settings.current.video, input)
  }

  /// Sends apps a change of a part of the configured capability.
  private func update(
    _ change: @escaping @Sendable (inout VideoStreamingCapability, VideoStreamingCapability?) -> Void
  ) {
    changeVideo { session, configuration, now in
      var update = VideoStreamingCapability()
      change(&update, configuration.videoCapability)
      return session.updateCapability(update, now: now)
    }
  }
}

/// Texts of properties; NULL leaves the value to the preset.
extension HeadUnitSource {
  private static func parseSize(_ text: String?) throws(InvalidPropertyValue) -> VideoSize? {
    guard let text else { return nil }
    guard let size = VideoSize(text: text) else {
      throw InvalidPropertyValue("'\(text)' is no size; write it as 800x480, with sides of 1 to 10000")
    }
    return size
  }

  private static func parseSizes(_ text: String?) throws(InvalidPropertyValue) -> [SizeWithScale]? {
    guard let text else { return nil }
    var sizes: [SizeWithScale] = []
    for entry in entries(text) {
      guard let size = SizeWithScale(text: entry) else {
        throw InvalidPropertyValue("'\(entry)' is no size; write 480x320, or 480x320@1.5 with a scale of 1 to 10")
      }
      sizes.append(size)
    }
    guard sizes.count <= VideoStreamingCapability.maximumAdditionalCapabilities else {
      throw InvalidPropertyValue(
        "there are more than \(VideoStreamingCapability.maximumAdditionalCapabilities) sizes")
    }
    return sizes
  }

  private static func parseFormats(_ text: String?) throws(InvalidPropertyValue) -> [VideoStreamingFormat]? {
    guard let text else { return nil }
    var formats: [VideoStreamingFormat] = []
    for entry in entries(text) {
      guard let format = VideoStreamingFormat(text: entry) else {
        throw InvalidPropertyValue("'\(entry)' is no format; write RAW/H264 or RTP/H264")
      }
      formats.append(format)
    }
    guard !formats.isEmpty else { throw InvalidPropertyValue("there must be a format, such as RAW/H264") }
    return formats
  }

  private static func parseGroups(_ text: String?) throws(InvalidPropertyValue) -> Set<PolicyGroup> {
    guard let text else { return [] }
    guard let groups = PolicyGroup.list(text) else {
      throw InvalidPropertyValue(
        "'\(text)' is no list of groups; there are \(PolicyGroup.names.joined(separator: ", "))")
    }
    return groups
  }

  private static func entries(_ text: String) -> [String] {
    text.split(separator: ",").map { $0.filter { !$0.isWhitespace } }.filter { !$0.isEmpty }
  }
}
