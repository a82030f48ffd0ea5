import GStreamerKit
import SDLApp
import SDLLink

/// What the element tells the application: element messages, PROGRESS, and the structures behind its properties.
extension VideoSink {
  private static let progressCode = "connect"

  func postProgress(_ type: GstProgressType, _ text: String) {
    log(GST_LEVEL_INFO, text)
    post(gst_message_new_progress(gstElement.cast(), type, Self.progressCode, text))
  }

  private func post(_ structure: consuming Structure) {
    post(gst_message_new_element(gstElement.cast(), structure.take()))
  }

  private func post(_ message: UnsafeMutablePointer<GstMessage>?) {
    gst_element_post_message(gstElement, message)
  }

  /// `sdl-connected`: the app is registered with the head unit.
  func postConnected(_ headUnit: HeadUnitInfo, peer: String) {
    let message = Structure("sdl-connected")
    message.set("uri", settings.withLock { $0.uri } ?? "sdl+builtin:default")
    message.set("peer", peer)
    fill(message, headUnit)
    post(message)
  }

  /// `sdl-stream-started`: frames are sent from now on.
  func postStreamStarted(_ grant: VideoGrant, reason: String) {
    let message = Structure("sdl-stream-started")
    message.set("reason", reason)
    message.set("width", Int32(clamping: grant.size.width))
    message.set("height", Int32(clamping: grant.size.height))
    message.set("protocol", VideoTransport.raw.rawValue)
    message.set("codec", "H264")
    message.set("max-frame-payload", UInt64(clamping: grant.maximumPayload))
    post(message)
  }

  /// `sdl-stream-suspended`: the service stays open, no frames are sent.
  func postStreamSuspended(reason: String) {
    let message = Structure("sdl-stream-suspended")
    message.set("reason", reason)
    post(message)
  }

  /// `sdl-stream-stopped`: the service has ended.
  func postStreamStopped(_ reason: VideoStopReason) {
    let message = Structure("sdl-stream-stopped")
    message.set("reason", reason.rawValue)
    message.set("frames-sent", counters.withLock { $0.framesSent })
    post(message)
  }

  /// `sdl-disconnected`: the connection is gone.
  func postDisconnected(reason: String) {
    let message = Structure("sdl-disconnected")
    message.set("reason", reason)
    post(message)
  }

  /// The property `head-unit`; nil before the head unit is known.
  func headUnitStructure() -> Structure? {
    guard let headUnit = state.withLock({ $0.headUnit }) else { return nil }
    let structure = Structure("application/x-sdl-head-unit")
    fill(structure, headUnit)
    if let capability = headUnit.videoCapability {
      structure.set("video-capability", Self.structure(capability))
    }
    return structure
  }

  private func fill(_ structure: borrowing Structure, _ headUnit: HeadUnitInfo) {
    structure.set("make", headUnit.make)
    structure.set("model", headUnit.model)
    structure.set("model-year", headUnit.modelYear)
    structure.set("trim", headUnit.trim)
    structure.set("software-version", headUnit.softwareVersion)
    structure.set("hardware-version", headUnit.hardwareVersion)
    structure.set("protocol-version", "\(headUnit.protocolVersion)")
    structure.set("rpc-version", headUnit.rpcVersion.map { "\($0)" })
  }

  private static func structure(_ capability: VideoStreamingCapability) -> Structure {
    let structure = Structure("application/x-sdl-video-capability")
    if let size = capability.preferredResolution {
      structure.set("width", Int32(clamping: size.width))
      structure.set("height", Int32(clamping: size.height))
    }
    if let bitrate = capability.maxBitrate { structure.set("max-bitrate", Int32(clamping: bitrate)) }
    if let frameRate = capability.preferredFPS { structure.set("preferred-fps", Int32(clamping: frameRate)) }
    structure.set("scale", capability.scale)
    structure.set("diagonal", capability.diagonalScreenSize)
    structure.set("pixels-per-inch", capability.pixelPerInch)
    structure.set("haptics", capability.hapticSpatialDataSupported)
    if let formats = capability.supportedFormats {
      structure.set("formats", formats.map { "\($0.videoProtocol)/\($0.codec)" }.joined(separator: ", "))
    }
    let additional = capability.additionalCapabilities ?? []
    structure.set("additional-capabilities", UInt64(additional.count))
    return structure
  }

  /// The property `sdl-stats`; valid in every state.
  func statistics() -> Structure {
    let link = state.withLock { $0.connection }?.statistics
    let counters = self.counters.withLock { $0 }
    let structure = Structure("application/x-sdl-stats")
    structure.set("frames-in", counters.framesIn)
    structure.set("frames-sent", counters.framesSent)
    structure.set("frames-queued", counters.framesQueued)
    for reason in VideoSinkCounters.Drop.allCases {
      structure.set(reason.field, counters.dropped(reason))
    }
    structure.set("frames-encoded", counters.framesEncoded)
    structure.set("key-frames-sent", counters.keyFramesSent)
    structure.set("key-frames-forced", counters.keyFramesForced)
    structure.set(
      "encode-time-average-ns",
      counters.framesEncoded == 0 ? 0 : counters.encodeTimeTotal / counters.framesEncoded)
    structure.set("encode-time-maximum-ns", counters.encodeTimeMaximum)
    structure.set("bitrate-target-kbps", counters.bitrateTarget)
    structure.set("bytes-sent", counters.formerBytesSent + (link?.sentByteCount ?? 0))
    structure.set("connections", counters.connections)
    structure.set("stream-starts", counters.streamStarts)
    structure.set("stream-start-failures", counters.startFailures)
    return structure
  }
}
