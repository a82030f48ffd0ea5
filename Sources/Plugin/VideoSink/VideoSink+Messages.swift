import GStreamerKit
import SDLApp
import SDLLink

/// What the element tells the application: element messages, PROGRESS, and the structures behind its properties.
extension VideoSink {
  private static let progressCode = "connect"

  /// Posts the end of a progress that is under way; at most one end for each START.
  func endProgress(_ type: GstProgressType, _ text: String) {
    let isOpen = state.withLock { state in
      defer { state.isInProgress = false }
      return state.isInProgress
    }
    if isOpen { postProgress(type, text) }
  }

  func postProgress(_ type: GstProgressType, _ text: String) {
    log(GST_LEVEL_INFO, text)
    post(gst_message_new_progress(gstElement.cast(), type, Self.progressCode, text))
  }

  private func post(_ structure: consuming Structure) {
    post(gst_message_new_element(gstElement.cast(), structure.take()))
  }

  func post(_ message: UnsafeMutablePointer<GstMessage>?) {
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
    message.set("protocol", grant.transport.rawValue)
    message.set("codec", grant.codec.rawValue)
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

  /// `sdl-resized`: the first frame of another size than before is on its way.
  func postResized(_ resize: VideoResize.Completed) {
    let message = Structure("sdl-resized")
    fill(message, from: resize.former, to: resize.present)
    message.set("duration", UInt64(clamping: resize.duration.nanoseconds))
    message.set("dropped-frames", resize.lostFrames)
    post(message)
  }

  /// `sdl-resize-ignored`: the head unit would like another size than the stream keeps.
  func postResizeIgnored(_ kept: VideoSize, _ offered: VideoSize) {
    let message = Structure("sdl-resize-ignored")
    fill(message, from: kept, to: offered)
    post(message)
  }

  private func fill(_ message: borrowing Structure, from former: VideoSize, to present: VideoSize) {
    message.set("old-width", Int32(clamping: former.width))
    message.set("old-height", Int32(clamping: former.height))
    message.set("width", Int32(clamping: present.width))
    message.set("height", Int32(clamping: present.height))
  }

  /// `sdl-disconnected`: the connection is gone, and made again after `retryAfter` unless that is nil.
  func postDisconnected(reason: String, retryAfter: Duration?) {
    let message = Structure("sdl-disconnected")
    message.set("reason", reason)
    message.set("will-reconnect", retryAfter != nil)
    if let retryAfter { message.set("retry-after-ms", UInt64(clamping: retryAfter.nanoseconds / 1_000_000)) }
    post(message)
  }

  /// `sdl-hmi-status`: how the app stands on the head unit.
  func postHMIStatus(_ status: HMIStatus) {
    let message = Structure("sdl-hmi-status")
    message.set(
      "level", enumeration: HMILevel.enumeration, (status.level ?? HMILevel.none).enumValue)
    message.set("video-streaming-state", Self.nick(status.videoStreamingState.rawValue))
    message.set("audio-streaming-state", Self.nick(status.audioStreamingState.rawValue))
    message.set("system-context", Self.nick(status.systemContext.rawValue))
    post(message)
  }

  /// As GStreamer writes the values of enumerations: "not-streamable" for NOT_STREAMABLE.
  private static func nick(_ name: String) -> String {
    String(name.lowercased().map { $0 == "_" ? "-" : $0 })
  }

  /// `sdl-driver-distraction`: whether the driver's attention is needed elsewhere.
  func postDriverDistraction(_ distraction: OnDriverDistraction) {
    let message = Structure("sdl-driver-distraction")
    message.set("limited", distraction.isDistractionLimited)
    message.set("dismissal-enabled", distraction.lockScreenDismissalEnabled)
    message.set("text", distraction.lockScreenDismissalWarning)
    post(message)
  }

  /// `sdl-lock-screen`: what the app's own screen has to show.
  func postLockScreen(_ lockScreen: LockScreen) {
    let message = Structure("sdl-lock-screen")
    message.set("status", lockScreen.status.rawValue)
    message.set("text", lockScreen.text)
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
}
